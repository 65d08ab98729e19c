#include "test_folder.hpp"

namespace skein::test {

namespace fs = std::filesystem;

TestFolder::TestFolder(fs::path parent) : parent_(std::move(parent)) {
	fs::create_directories(parent_);
}

void TestFolder::Select(const std::string &lane) {
	if (lane == selected_) {
		return;
	}
	fs::create_directories(parent_ / lane);
	auto link = parent_ / "next";
	fs::create_directory_symlink(parent_ / lane, link);
	fs::rename(link, parent_ / "dir");
	selected_ = lane;
}

void TestFolder::Fill(const std::string &lane, const fs::path &from) {
	fs::copy(from, parent_ / lane, fs::copy_options::recursive);
}

} // namespace skein::test
