#include "engine/counted_files.hpp"

#include "duckdb/common/compressed_file_system.hpp"
#include "duckdb/common/opener_file_system.hpp"
#include "duckdb/main/client_data.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! A file, and what its handle asks a file system for: some questions name no handle, so that each file has a system of
//! its own.
class CountedFile final : public FileHandle {
public:
	CountedFile(unique_ptr<FileHandle> file, duckdb::shared_ptr<ReadBytes> count)
		: FileHandle(forwarding_, file->GetPath(), file->GetFlags()), forwarding_(*file, *count),
		  file_(std::move(file)), count_(std::move(count)) {
	}
	void Close() override {
		file_->Close();
	}
	idx_t GetProgress() override {
		return file_->GetProgress();
	}
	FileCompressionType GetFileCompressionType() override {
		return file_->GetFileCompressionType();
	}

private:
	class Forwarding final : public FileSystem {
	public:
		Forwarding(FileHandle &file, ReadBytes &count) : file_(file), count_(count) {
		}
		void Read(FileHandle &, void *buffer, int64_t bytes, idx_t location) override {
			file_.Read(buffer, static_cast<idx_t>(bytes), location);
			count_.Add(static_cast<uint64_t>(bytes));
		}
		int64_t Read(FileHandle &, void *buffer, int64_t bytes) override {
			auto got = file_.Read(buffer, static_cast<idx_t>(bytes));
			count_.Add(static_cast<uint64_t>(MaxValue<int64_t>(got, 0)));
			return got;
		}
		void Write(FileHandle &, void *buffer, int64_t bytes, idx_t location) override {
			file_.Write(QueryContext(), buffer, static_cast<idx_t>(bytes), location);
		}
		int64_t Write(FileHandle &, void *buffer, int64_t bytes) override {
			return file_.Write(buffer, static_cast<idx_t>(bytes));
		}
		bool Trim(FileHandle &, idx_t offset, idx_t length) override {
			return file_.Trim(offset, length);
		}
		int64_t GetFileSize(FileHandle &) override {
			return file_.file_system.GetFileSize(file_);
		}
		timestamp_t GetLastModifiedTime(FileHandle &) override {
			return file_.file_system.GetLastModifiedTime(file_);
		}
		string GetVersionTag(FileHandle &) override {
			return file_.file_system.GetVersionTag(file_);
		}
		FileType GetFileType(FileHandle &) override {
			return file_.GetType();
		}
		FileMetadata Stats(FileHandle &) override {
			return file_.Stats();
		}
		void Truncate(FileHandle &, int64_t size) override {
			file_.Truncate(size);
		}
		void FileSync(FileHandle &) override {
			file_.Sync();
		}
		void Seek(FileHandle &, idx_t location) override {
			file_.Seek(location);
		}
		void Reset(FileHandle &) override {
			file_.Reset();
		}
		idx_t SeekPosition(FileHandle &) override {
			return file_.SeekPosition();
		}
		bool CanSeek() override {
			return file_.CanSeek();
		}
		bool OnDiskFile(FileHandle &) override {
			return file_.OnDiskFile();
		}
		bool IsPipe(const string &, optional_ptr<FileOpener>) override {
			return file_.IsPipe();
		}
		bool IsManuallySet() override {
			return file_.file_system.IsManuallySet();
		}
		bool IsLocalFileSystem() const override {
			return file_.file_system.IsLocalFileSystem();
		}
		std::string GetName() const override {
			return file_.file_system.GetName();
		}

	private:
		FileHandle &file_;
		ReadBytes &count_;
	};

	Forwarding forwarding_;
	const unique_ptr<FileHandle> file_;
	const duckdb::shared_ptr<ReadBytes> count_;
};

//! The file system of a connection, with files that count.
class CountedFileSystem final : public OpenerFileSystem {
public:
	CountedFileSystem(unique_ptr<FileSystem> system, duckdb::shared_ptr<ReadBytes> count)
		: system_(std::move(system)), of_connection_(dynamic_cast<OpenerFileSystem &>(*system_)),
		  count_(std::move(count)) {
	}
	FileSystem &GetFileSystem() const override {
		return of_connection_.GetFileSystem();
	}
	optional_ptr<FileOpener> GetOpener() const override {
		return of_connection_.GetOpener();
	}

protected:
	unique_ptr<FileHandle> OpenFileExtended(const OpenFileInfo &info, FileOpenFlags flags,
											optional_ptr<FileOpener> opener) override {
		auto file = OpenerFileSystem::OpenFileExtended(info, flags, opener);
		if (!file) {
			return nullptr;
		}
		// A compressed file stays one for whoever asks what it is; what it reads is the file that it unpacks.
		if (auto *compressed = dynamic_cast<CompressedFile *>(file.get())) {
			compressed->child_handle = Counted(std::move(compressed->child_handle));
			return file;
		}
		return Counted(std::move(file));
	}

private:
	unique_ptr<FileHandle> Counted(unique_ptr<FileHandle> file) const {
		return make_uniq<CountedFile>(std::move(file), count_);
	}

	const unique_ptr<FileSystem> system_;
	OpenerFileSystem &of_connection_;
	const duckdb::shared_ptr<ReadBytes> count_;
};

} // namespace

duckdb::shared_ptr<ReadBytes> CountReadBytes(ClientContext &context) {
	auto count = make_shared_ptr<ReadBytes>();
	auto &system = ClientData::Get(context).client_file_system;
	system = make_uniq<CountedFileSystem>(std::move(system), count);
	return count;
}

} // namespace skein
