#pragma once

#include "engine/byte_range.hpp"
#include "engine/scan_file.hpp"

#include "duckdb/common/multi_file/multi_file_list.hpp"

#include <algorithm>
#include <functional>
#include <memory>

namespace duckdb {
class Deserializer;
class Serializer;
} // namespace duckdb

namespace skein {

//! A file that a slice reads, all of it or a part.
struct SliceFile : ScanFile {
	//! Position of the file in the list of the whole scan; what `file_index` reports.
	duckdb::idx_t file_index = 0;
	//! Of a file of lines, those that belong to this range of it (OpenLineRange).
	ByteRange range;

	//! How many bytes are read, about.
	duckdb::idx_t Bytes() const {
		return std::min(range.end, version.size) - range.begin;
	}
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
	//! `file` returns a file by its position, as long as the list lives.
	SliceFileList(duckdb::idx_t count, std::function<const SliceFile &(duckdb::idx_t)> file)
		: count_(count), file_(std::move(file)) {
	}

	//! Position among the files of the slice of a file that this list handed out.
	static duckdb::idx_t PositionOf(const duckdb::OpenFileInfo &listed);
	//! Its position in the list of the whole scan.
	static duckdb::idx_t IndexOf(const duckdb::OpenFileInfo &listed);

	duckdb::vector<duckdb::OpenFileInfo> GetAllFiles() const override;
	duckdb::FileExpandResult GetExpandResult() const override;
	duckdb::idx_t GetTotalFileCount() const override {
		return count_;
	}
	duckdb::unique_ptr<duckdb::MultiFileList> Copy() const override {
		return duckdb::make_uniq<SliceFileList>(count_, file_);
	}

protected:
	duckdb::OpenFileInfo GetFile(duckdb::idx_t position) const override;

private:
	const duckdb::idx_t count_;
	const std::function<const SliceFile &(duckdb::idx_t)> file_;
};

//! The files of a slice, which its bind data, the copies of these and its list share. Immutable.
template <class FILE>
class SharedFiles {
public:
	SharedFiles() : SharedFiles(duckdb::vector<FILE>()) {
	}
	SharedFiles(duckdb::vector<FILE> files) : files_(std::make_shared<const duckdb::vector<FILE>>(std::move(files))) {
	}

	//! Those from `begin` to before `end`.
	SharedFiles Part(duckdb::idx_t begin, duckdb::idx_t end) const {
		if (begin == 0 && end == size()) {
			return *this;
		}
		auto first = files_->begin();
		return duckdb::vector<FILE>(first + static_cast<std::ptrdiff_t>(begin),
									first + static_cast<std::ptrdiff_t>(end));
	}
	const FILE &operator[](duckdb::idx_t position) const {
		return (*files_)[position];
	}
	duckdb::idx_t size() const {
		return files_->size();
	}
	auto begin() const {
		return files_->begin();
	}
	auto end() const {
		return files_->end();
	}

private:
	std::shared_ptr<const duckdb::vector<FILE>> files_;
};

template <class FILE>
duckdb::shared_ptr<duckdb::MultiFileList> ListSliceFiles(const SharedFiles<FILE> &files) {
	return duckdb::make_shared_ptr<SliceFileList>(files.size(),
												  [files](duckdb::idx_t i) -> const SliceFile & { return files[i]; });
}

} // namespace skein
