#pragma once

#include <filesystem>
#include <string>

namespace skein::test {

//! The folder that `__TEST_DIR__` stands for: one path for all lanes of a run, behind which each lane has files of its
//! own, so that texts, messages and answers are the same and no lane sees another's files.
//!
//! The path is a link to the folder of the lane that runs. Not thread-safe.
class TestFolder {
public:
	//! `parent` is an empty folder.
	explicit TestFolder(std::filesystem::path parent);

	//! What `__TEST_DIR__` stands for.
	std::string Path() const {
		return (parent_ / "dir").string();
	}
	//! From here on the path leads to the files of `lane`.
	void Select(const std::string &lane);
	//! Gives a lane copies of the files of a folder.
	void Fill(const std::string &lane, const std::filesystem::path &from);
	//! Where the files of a lane are.
	std::filesystem::path FolderOf(const std::string &lane) const {
		return parent_ / lane;
	}

private:
	const std::filesystem::path parent_;
	std::string selected_;
};

} // namespace skein::test
