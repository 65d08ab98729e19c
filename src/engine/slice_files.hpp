#pragma once

#include "engine/scan_file.hpp"

#include "duckdb/common/multi_file/multi_file_list.hpp"

#include <functional>

namespace duckdb {
class Deserializer;
class Serializer;
} // namespace duckdb

namespace skein {

//! A file that a slice reads, all of it or a part.
struct SliceFile : ScanFile {
	//! Position of the file in the list of the whole scan; what `file_index` reports.
	duckdb::idx_t file_index = 0;
};

//! Writes `count` files, column by column: of a path what differs from the path before, of consecutive indices the
//! first.
void WriteSliceFiles(duckdb::Serializer &object, duckdb::idx_t count,
					 const std::function<const SliceFile &(duckdb::idx_t)> &file);
duckdb::vector<SliceFile> ReadSliceFiles(duckdb::Deserializer &object);

//! The files of a slice as DuckDB's multi-file reader lists them. What a listed file carries is made when it is asked
//! for: a plan has one list for each task, and only the task's own is ever read.
class SliceFileList final : public duckdb::MultiFileList {
public:
	SliceFileList(duckdb::vector<std::string> paths, duckdb::vector<duckdb::idx_t> file_indices)
		: paths_(std::move(paths)), file_indices_(std::move(file_indices)) {
	}

	//! Position among the files of the slice of a file that this list handed out.
	static duckdb::idx_t PositionOf(const duckdb::OpenFileInfo &listed);
	//! Its position in the list of the whole scan.
	static duckdb::idx_t IndexOf(const duckdb::OpenFileInfo &listed);

	duckdb::vector<duckdb::OpenFileInfo> GetAllFiles() const override;
	duckdb::FileExpandResult GetExpandResult() const override;
	duckdb::idx_t GetTotalFileCount() const override {
		return paths_.size();
	}
	duckdb::unique_ptr<duckdb::MultiFileList> Copy() const override {
		return duckdb::make_uniq<SliceFileList>(paths_, file_indices_);
	}

protected:
	duckdb::OpenFileInfo GetFile(duckdb::idx_t position) const override;

private:
	const duckdb::vector<std::string> paths_;
	const duckdb::vector<duckdb::idx_t> file_indices_;
};

template <class FILES>
duckdb::shared_ptr<duckdb::MultiFileList> ListSliceFiles(const FILES &files) {
	duckdb::vector<std::string> paths;
	duckdb::vector<duckdb::idx_t> file_indices;
	paths.reserve(files.size());
	file_indices.reserve(files.size());
	for (auto &file : files) {
		paths.push_back(file.path);
		file_indices.push_back(file.file_index);
	}
	return duckdb::make_shared_ptr<SliceFileList>(std::move(paths), std::move(file_indices));
}

} // namespace skein
