#include "worker/temp_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include <sys/wait.h>
#include <unistd.h>

namespace skein {
namespace {

namespace fs = std::filesystem;

//! A place for temp folders, empty at first.
class TempFolderTest : public testing::Test {
protected:
	TempFolderTest() : place_(testing::TempDir() + "/temp_folder_test_" + std::to_string(getpid())) {
		fs::create_directories(place_);
	}
	~TempFolderTest() override {
		fs::remove_all(place_);
	}
	size_t Entries() const {
		return static_cast<size_t>(std::distance(fs::directory_iterator(place_), fs::directory_iterator()));
	}
	static void Spill(const TempFolder &folder) {
		fs::create_directories(folder.Path());
		std::ofstream(folder.Path() + "/block") << "rows";
	}

	const std::string place_;
};

TEST_F(TempFolderTest, GoesWithItsOwner) {
	{
		TempFolder folder(place_);
		EXPECT_EQ(fs::path(folder.Path()).parent_path(), place_);
		Spill(folder);
		EXPECT_EQ(Entries(), 2);
	}
	EXPECT_EQ(Entries(), 0);
}

TEST_F(TempFolderTest, TheNextRemovesWhatAKilledProcessLeft) {
	auto child = fork();
	if (child == 0) {
		TempFolder folder(place_);
		Spill(folder);
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	EXPECT_EQ(Entries(), 2);
	TempFolder next(place_);
	// Its own lock file alone.
	EXPECT_EQ(Entries(), 1);
}

TEST_F(TempFolderTest, ThoseOfLivingProcessesStay) {
	TempFolder folder(place_);
	Spill(folder);
	auto child = fork();
	if (child == 0) {
		TempFolder other(place_);
		_exit(other.Path() != folder.Path() ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
	EXPECT_TRUE(fs::exists(folder.Path() + "/block"));
}

TEST_F(TempFolderTest, OtherFilesStay) {
	std::ofstream(place_ + "/notes.lock") << "of somebody";
	std::ofstream(place_ + "/skein-notes") << "of somebody";
	TempFolder folder(place_);
	EXPECT_TRUE(fs::exists(place_ + "/notes.lock"));
	EXPECT_TRUE(fs::exists(place_ + "/skein-notes"));
}

TEST_F(TempFolderTest, APlaceThatCannotBeMadeIsNoError) {
	std::ofstream(place_ + "/file") << "no folder";
	TempFolder folder(place_ + "/file/below");
	EXPECT_FALSE(folder.Path().empty());
}

} // namespace
} // namespace skein
