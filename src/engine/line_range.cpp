#include "engine/line_range.hpp"

#include "duckdb/common/file_system.hpp"
#include "duckdb/common/optional_idx.hpp"

#include <cstring>

namespace skein {

using namespace duckdb;

namespace {

//! Bytes of a file after so many spaces, as a file. Questions that name no handle need a file system of their own.
class PartOfFile final : public FileHandle {
public:
	PartOfFile(unique_ptr<FileHandle> file, idx_t spaces, ByteRange bytes)
		: FileHandle(system_, file->GetPath(), file->GetFlags()), system_(*file, spaces, bytes),
		  file_(std::move(file)) {
	}
	void Close() override {
		file_->Close();
	}

private:
	class System final : public FileSystem {
	public:
		System(FileHandle &file, idx_t spaces, ByteRange bytes)
			: file_(file), spaces_(spaces), bytes_(bytes), size_(spaces + bytes.end - bytes.begin) {
		}
		void Read(FileHandle &, void *buffer, int64_t count, idx_t location) override {
			auto bytes = static_cast<idx_t>(count);
			if (location > size_ || bytes > size_ - location) {
				throw InternalException("%llu bytes at %llu of a part of %llu bytes", bytes, location, size_);
			}
			auto target = static_cast<char *>(buffer);
			auto spaces = location < spaces_ ? MinValue(bytes, spaces_ - location) : 0;
			memset(target, ' ', spaces);
			if (bytes > spaces) {
				file_.Read(target + spaces, bytes - spaces, bytes_.begin + location + spaces - spaces_);
			}
		}
		int64_t Read(FileHandle &handle, void *buffer, int64_t count) override {
			auto bytes = MinValue(static_cast<idx_t>(count), size_ - position_);
			Read(handle, buffer, static_cast<int64_t>(bytes), position_);
			position_ += bytes;
			return static_cast<int64_t>(bytes);
		}
		int64_t GetFileSize(FileHandle &) override {
			return static_cast<int64_t>(size_);
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
		void Seek(FileHandle &, idx_t location) override {
			position_ = MinValue(location, size_);
		}
		void Reset(FileHandle &) override {
			position_ = 0;
		}
		idx_t SeekPosition(FileHandle &) override {
			return position_;
		}
		bool CanSeek() override {
			return true;
		}
		//! Of a file elsewhere a reader would open the path again, for each thread, and read all of it.
		bool OnDiskFile(FileHandle &) override {
			return true;
		}
		bool IsPipe(const string &, optional_ptr<FileOpener>) override {
			return false;
		}
		bool IsLocalFileSystem() const override {
			return file_.file_system.IsLocalFileSystem();
		}
		std::string GetName() const override {
			return file_.file_system.GetName();
		}

	private:
		FileHandle &file_;
		const idx_t spaces_;
		const ByteRange bytes_;
		const idx_t size_;
		//! Of whoever reads one piece after the other.
		idx_t position_ = 0;
	};

	System system_;
	const unique_ptr<FileHandle> file_;
};

//! Whether a line may be the first one of a range. What a file begins with may have another meaning there: a mark of
//! the byte order, and for some readers an empty line.
bool MayBeFirst(FileHandle &file, idx_t line, idx_t size) {
	static constexpr char BYTE_ORDER_MARK = '\xEF';
	if (line >= size) {
		return true;
	}
	char first;
	file.Read(QueryContext(), &first, 1, line);
	return first != '\n' && first != '\r' && first != BYTE_ORDER_MARK;
}

//! The position behind the first newline at or behind `from`; nothing if there is none before `limit`.
optional_idx BehindNewline(FileHandle &file, idx_t from, idx_t limit) {
	static constexpr idx_t MOST = 1 << 20;
	auto step = LINE_READ_AHEAD;
	vector<char> buffer;
	while (from < limit) {
		auto bytes = MinValue(step, limit - from);
		buffer.resize(bytes);
		file.Read(buffer.data(), bytes, from);
		if (auto found = static_cast<const char *>(memchr(buffer.data(), '\n', bytes))) {
			return from + static_cast<idx_t>(found - buffer.data()) + 1;
		}
		from += bytes;
		step = MinValue(step * 2, MOST);
	}
	return optional_idx();
}

//! Where the first range begins that begins behind a newline at or behind `from`; nothing if that is not before
//! `limit`.
optional_idx FirstLine(FileHandle &file, idx_t from, idx_t limit, idx_t size) {
	auto line = BehindNewline(file, from, limit);
	while (line.IsValid() && !MayBeFirst(file, line.GetIndex(), size)) {
		line = BehindNewline(file, line.GetIndex(), limit);
	}
	return line;
}

} // namespace

unique_ptr<FileHandle> OpenLineRange(unique_ptr<FileHandle> file, ByteRange range, idx_t longest_line,
									 BeforeLines before) {
	if (!file->CanSeek()) {
		throw IOException("file \"%s\" cannot be read from the middle", file->GetPath());
	}
	const idx_t size = file->GetFileSize();
	ByteRange lines{0, size};
	if (range.begin > 0) {
		auto first = FirstLine(*file, range.begin, MinValue(range.end, size), size);
		lines.begin = first.IsValid() ? first.GetIndex() : size;
	}
	if (range.end < size && lines.begin < size) {
		auto limit = longest_line < size - range.end ? range.end + longest_line : size;
		auto end = FirstLine(*file, range.end, limit, size);
		lines.end = end.IsValid() ? end.GetIndex() : limit;
	}
	auto spaces = before == BeforeLines::SPACES && lines.begin < lines.end ? lines.begin - range.begin : 0;
	return make_uniq<PartOfFile>(std::move(file), spaces, lines);
}

} // namespace skein
