#include "engine/slice_files.hpp"

#include "duckdb/common/serializer/binary_deserializer.hpp"
#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

SliceFile File(const std::string &path, const std::string &open_path, idx_t size, int64_t modified, idx_t index,
			   const std::string &tag = "") {
	SliceFile file;
	file.path = path;
	file.absolute_path = open_path == path ? "" : open_path;
	file.version.size = size;
	file.version.last_modified = timestamp_t(modified);
	file.version.tag = tag;
	file.file_index = index;
	return file;
}

//! Writes and reads `files`; returns how many bytes they took.
idx_t ExpectRoundTrip(const vector<SliceFile> &files) {
	MemoryStream stream;
	BinarySerializer serializer(stream);
	serializer.Begin();
	WriteSliceFiles(serializer, files.size(), [&](idx_t i) -> const SliceFile & { return files[i]; });
	serializer.End();
	auto bytes = stream.GetPosition();
	stream.Rewind();
	BinaryDeserializer deserializer(stream);
	deserializer.Begin();
	auto read = ReadSliceFiles(deserializer);
	deserializer.End();
	EXPECT_EQ(read.size(), files.size());
	for (idx_t i = 0; i < std::min(read.size(), files.size()); i++) {
		EXPECT_EQ(read[i].path, files[i].path);
		EXPECT_EQ(read[i].OpenPath(), files[i].OpenPath());
		EXPECT_EQ(read[i].absolute_path, files[i].absolute_path);
		EXPECT_EQ(read[i].version.size, files[i].version.size);
		EXPECT_EQ(read[i].version.last_modified, files[i].version.last_modified);
		EXPECT_EQ(read[i].version.tag, files[i].version.tag);
		EXPECT_EQ(read[i].file_index, files[i].file_index);
		EXPECT_EQ(read[i].range.begin, files[i].range.begin);
		EXPECT_EQ(read[i].range.end, files[i].range.end);
	}
	return bytes;
}

TEST(SliceFiles, ComeBackAsTheyWere) {
	ExpectRoundTrip({});
	ExpectRoundTrip({File("/d/a.csv", "/d/a.csv", 7, 1700000000000000, 0)});
	ExpectRoundTrip({File("d/a.csv", "/base/d/a.csv", 7, 5, 3), File("d/b.csv", "/base/d/b.csv", 0, 4, 4)});
	ExpectRoundTrip({File("./a.csv", "/base/a.csv", 7, 5, 3), File("~/b.csv", "/user/b.csv", 9, -4, 9)});
	ExpectRoundTrip({File("", "", 0, 0, 0), File("b", "b", ~idx_t(0) >> 1, 4, 2), File("", "x", 1, 0, 1)});
	ExpectRoundTrip({File("s3://b/1", "s3://b/1", 7, 5, 0, "\"tag\""), File("s3://b/1", "s3://b/1", 7, 5, 0)});
}

TEST(SliceFiles, KeepTheirRanges) {
	auto first = File("d/a.csv", "/d/a.csv", 100, 5, 0), second = first;
	first.range.end = 40;
	second.range.begin = 40;
	ExpectRoundTrip({first, second, File("d/b.csv", "/d/b.csv", 7, 5, 1)});
	EXPECT_EQ(first.Bytes(), 40u);
	EXPECT_EQ(second.Bytes(), 60u);
}

TEST(SliceFiles, OfOneFolderTakeFewBytes) {
	vector<SliceFile> files;
	for (idx_t i = 0; i < 1000; i++) {
		auto path = StringUtil::Format("/lake/table/year=2024/month=05/part-%06llu.parquet", i);
		files.push_back(File(path, path, 100000000 + i, 1700000000000000, i));
	}
	EXPECT_LT(ExpectRoundTrip(files), 25 * files.size());
}

TEST(SliceFiles, AreListedWithTheirPlaces) {
	vector<SliceFile> files{File("a", "/a", 1, 1, 5), File("b", "/b", 1, 1, 9)};
	auto list = ListSliceFiles(SharedFiles<SliceFile>(files));
	auto listed = list->GetAllFiles();
	ASSERT_EQ(listed.size(), 2u);
	EXPECT_EQ(listed[1].path, "b");
	EXPECT_EQ(SliceFileList::PositionOf(listed[1]), 1u);
	EXPECT_EQ(SliceFileList::IndexOf(listed[1]), 9u);
	EXPECT_EQ(list->GetExpandResult(), FileExpandResult::MULTIPLE_FILES);
	EXPECT_TRUE(ListSliceFiles(SharedFiles<SliceFile>())->IsEmpty());
}

} // namespace
} // namespace skein
