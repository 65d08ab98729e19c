#include "log_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <future>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace skein::cli {
namespace {

using std::chrono::seconds;

//! Enough for what must end at all.
constexpr seconds LIMIT{60};
//! Lines of this length fill the writer's room many times.
constexpr size_t LONG_LINE = 1000;
constexpr uint64_t MANY_LINES = 20000;

struct Pipe {
	Pipe() {
		std::array<int, 2> ends{};
		EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
		reader = ends[0];
		writer = ends[1];
	}
	~Pipe() {
		CloseReader();
		CloseWriter();
	}
	void CloseReader() {
		close(std::exchange(reader, -1));
	}
	void CloseWriter() {
		close(std::exchange(writer, -1));
	}
	//! All lines until the writer's end is closed.
	std::vector<std::string> ReadLines() const {
		std::string text;
		std::array<char, 65536> buffer{};
		for (ssize_t count = 0; (count = read(reader, buffer.data(), buffer.size())) > 0;) {
			text.append(buffer.data(), static_cast<size_t>(count));
		}
		std::vector<std::string> result;
		std::istringstream lines(text);
		for (std::string line; std::getline(lines, line);) {
			result.push_back(line);
		}
		return result;
	}
	int reader = -1;
	int writer = -1;
};

//! What the writers of these tests were told; shared, as their threads may be left behind.
struct Heard {
	std::atomic<int> failures{0};
	std::atomic<int> last_error{0};
};

LogWriter::Options Listening(const std::shared_ptr<Heard> &heard) {
	return {[](uint64_t lines) { return "missing " + std::to_string(lines); },
			[heard](int error) {
				heard->failures++;
				heard->last_error = error;
			}};
}

TEST(LogWriterTest, WritesLinesInTheirOrder) {
	Pipe pipe;
	LogWriter writer(pipe.writer, Listening(std::make_shared<Heard>()));
	for (auto line : {"one", "two", "three"}) {
		writer.Write(line);
	}
	EXPECT_EQ(writer.Stop(LIMIT), 0U);
	EXPECT_EQ(writer.Stop(LIMIT), 0U);
	pipe.CloseWriter();
	EXPECT_EQ(pipe.ReadLines(), (std::vector<std::string>{"one", "two", "three"}));
}

TEST(LogWriterTest, NobodyWaitsForAPipeThatIsFullAndWhatIsMissingIsSaid) {
	Pipe pipe;
	LogWriter writer(pipe.writer, Listening(std::make_shared<Heard>()));
	for (uint64_t i = 0; i < MANY_LINES; i++) {
		writer.Write(std::string(LONG_LINE, 'x'));
	}
	// Only now somebody reads.
	auto reader = std::async(std::launch::async, [&]() { return pipe.ReadLines(); });
	EXPECT_EQ(writer.Stop(LIMIT), 0U);
	pipe.CloseWriter();
	uint64_t written = 0;
	uint64_t missing = 0;
	for (auto &line : reader.get()) {
		if (line.starts_with("missing ")) {
			missing += std::stoull(line.substr(8));
		} else {
			EXPECT_EQ(line, std::string(LONG_LINE, 'x'));
			written++;
		}
	}
	EXPECT_GT(missing, 0U);
	EXPECT_GT(written, 1000U);
	EXPECT_LT(written, 2 * LogWriter::MAX_WAITING_BYTES / LONG_LINE);
	EXPECT_EQ(written + missing, MANY_LINES);
}

TEST(LogWriterTest, StoppingDoesNotWaitForAPipeThatIsFull) {
	Pipe pipe;
	// The thread that is left behind has an end of its own.
	auto descriptor = dup(pipe.writer);
	LogWriter writer(descriptor, Listening(std::make_shared<Heard>()));
	for (uint64_t i = 0; i < MANY_LINES; i++) {
		writer.Write(std::string(LONG_LINE, 'x'));
	}
	auto began = std::chrono::steady_clock::now();
	auto left = writer.Stop(std::chrono::milliseconds(100));
	EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(10));
	// A pipe holds 64 KB.
	EXPECT_GT(left, MANY_LINES - 100);
	EXPECT_LT(left, MANY_LINES);
	EXPECT_EQ(writer.Stop(LIMIT), left);
	writer.Write("too late");
}

TEST(LogWriterTest, AFileThatTakesNothingIsToldOnce) {
	auto full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	ASSERT_GE(full, 0);
	auto heard = std::make_shared<Heard>();
	LogWriter writer(full, Listening(heard));
	for (auto line : {"one", "two", "three"}) {
		writer.Write(line);
	}
	EXPECT_EQ(writer.Stop(LIMIT), 3U);
	EXPECT_EQ(heard->failures, 1);
	EXPECT_EQ(heard->last_error, ENOSPC);
	close(full);
}

TEST(LogWriterTest, AReaderThatHasGoneIsAnErrorLikeOthers) {
	Pipe pipe;
	pipe.CloseReader();
	auto heard = std::make_shared<Heard>();
	LogWriter writer(pipe.writer, Listening(heard));
	writer.Write("one");
	writer.Write("two");
	EXPECT_EQ(writer.Stop(LIMIT), 2U);
	EXPECT_EQ(heard->failures, 1);
	EXPECT_EQ(heard->last_error, EPIPE);
}

} // namespace
} // namespace skein::cli
