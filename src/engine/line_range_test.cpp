#include "engine/line_range.hpp"

#include "duckdb/common/local_file_system.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace skein {
namespace {

using namespace duckdb;
namespace fs = std::filesystem;

constexpr idx_t NO_LIMIT = NumericLimits<idx_t>::Maximum();

class LineRangeTest : public testing::Test {
protected:
	LineRangeTest() : path_(fs::temp_directory_path() / ("skein_lines_" + std::to_string(getpid()))) {
	}
	~LineRangeTest() override {
		fs::remove(path_);
	}
	void Write(const std::string &text) {
		std::ofstream(path_, std::ios::binary) << text;
	}
	unique_ptr<FileHandle> Open(ByteRange range, BeforeLines before, idx_t longest_line = NO_LIMIT) {
		auto file = files_.OpenFile(path_, FileFlags::FILE_FLAGS_READ);
		return OpenLineRange(std::move(file), range, longest_line, before);
	}
	std::string Text(ByteRange range, BeforeLines before = BeforeLines::NOTHING, idx_t longest_line = NO_LIMIT) {
		auto file = Open(range, before, longest_line);
		std::string text(file->GetFileSize(), 'x');
		file->Read(QueryContext(), text.data(), text.size(), 0);
		return text;
	}

	const std::string path_;
	LocalFileSystem files_;
};

TEST_F(LineRangeTest, RangesCutAnywhereHaveEveryLineOnce) {
	for (std::string text : {"", "a", "\n", "ab\nc\n\n\ndefg\nh", "ab\nc\n\n\ndefg\nh\n", "a\n\n\n",
							 "\r\n\r\na\r\n\xEF\xBB\xBF\nb\r\n", "no newline at all"}) {
		Write(text);
		for (idx_t first = 1; first <= text.size() + 1; first++) {
			for (idx_t second = first; second <= text.size() + 1; second++) {
				ASSERT_EQ(Text({0, first}) + Text({first, second}) + Text({second, NO_LIMIT}), text)
					<< first << ", " << second;
			}
		}
	}
}

TEST_F(LineRangeTest, LongLinesAreFoundInSteps) {
	std::mt19937 random(7);
	std::string text;
	while (text.size() < (4 << 20)) {
		text += std::string(random() % 8 == 0 ? random() % (1 << 20) : random() % 40, 'l') + "\n";
	}
	Write(text);
	for (idx_t step : {100000, 999983, 3000000}) {
		std::string found;
		for (idx_t begin = 0; begin < text.size(); begin += step) {
			auto part = Text({begin, begin + step});
			EXPECT_TRUE(part.empty() || part.back() == '\n');
			found += part;
		}
		EXPECT_TRUE(found == text) << step;
	}
}

TEST_F(LineRangeTest, SpacesKeepTheDistance) {
	Write("abc\nde\nf\n");
	EXPECT_EQ(Text({1, 5}, BeforeLines::SPACES), "   de\n");
	EXPECT_EQ(Text({0, 5}, BeforeLines::SPACES), "abc\nde\n");
	EXPECT_EQ(Text({4, 6}, BeforeLines::SPACES), "");
	auto file = Open({1, 5}, BeforeLines::SPACES);
	char two[2];
	EXPECT_EQ(file->Read(two, 2), 2);
	EXPECT_EQ(file->Read(two, 2), 2);
	EXPECT_EQ(std::string(two, 2), " d");
	EXPECT_EQ(file->SeekPosition(), 4u);
	EXPECT_EQ(file->Read(two, 2), 2);
	EXPECT_EQ(file->Read(two, 2), 0);
	file->Reset();
	EXPECT_EQ(file->Read(two, 2), 2);
	EXPECT_EQ(std::string(two, 2), "  ");
	EXPECT_THROW(file->Read(QueryContext(), two, 2, 5), InternalException);
}

TEST_F(LineRangeTest, NoRangeBeginsWithAnEmptyLineOrAMark) {
	std::string text = "a\n\n\r\n\xEF\xBB\xBF"
					   "b\nc\n\n";
	Write(text);
	for (idx_t begin = 1; begin <= text.size(); begin++) {
		auto part = Text({begin, NO_LIMIT});
		EXPECT_EQ(part, begin < 10 ? "c\n\n" : "") << begin;
	}
}

TEST_F(LineRangeTest, ALineThatIsTooLongIsCutOff) {
	Write("a\n" + std::string(100000, 'b') + "\nc\n");
	EXPECT_EQ(Text({0, 2}, BeforeLines::NOTHING, 30000), "a\n" + std::string(30000, 'b'));
	EXPECT_EQ(Text({2, 60000}, BeforeLines::NOTHING, 30000), "");
}

} // namespace
} // namespace skein
