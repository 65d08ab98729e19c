#include "worker/temp_folder.hpp"

#include "duckdb/common/types/uuid.hpp"

#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skein {

namespace fs = std::filesystem;

namespace {

const std::string PREFIX = "skein-";
const std::string LOCK_SUFFIX = ".lock";

//! Opens a lock file and locks it without waiting; -1 if that is not possible, as when its process lives.
int Lock(const std::string &file, int flags) {
	auto fd = open(file.c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

//! Removes the folders of processes that have ended without doing so.
void RemoveAbandoned(const fs::path &parent) {
	std::error_code ignored;
	for (auto entry = fs::directory_iterator(parent, ignored); entry != fs::directory_iterator();
		 entry.increment(ignored)) {
		auto file = entry->path();
		if (file.filename().string().rfind(PREFIX, 0) != 0 || file.extension() != LOCK_SUFFIX) {
			continue;
		}
		auto fd = Lock(file.string(), 0);
		if (fd < 0) {
			continue;
		}
		fs::remove_all(file.parent_path() / file.stem(), ignored);
		fs::remove(file, ignored);
		close(fd);
	}
}

} // namespace

TempFolder::TempFolder(const std::string &parent) {
	std::error_code failure;
	auto place = parent.empty() ? fs::temp_directory_path(failure) : fs::path(parent);
	fs::create_directories(place, failure);
	RemoveAbandoned(place);
	do {
		auto name = PREFIX + duckdb::UUID::ToString(duckdb::UUID::GenerateRandomUUID());
		path_ = (place / name).string();
	} while (!TryLock());
}

bool TempFolder::TryLock() {
	auto file = path_ + LOCK_SUFFIX;
	lock_fd_ = Lock(file, O_CREAT | O_EXCL);
	struct stat opened, named;
	if (lock_fd_ < 0 || fstat(lock_fd_, &opened) != 0) {
		// Locked by another that is about to remove it, or not to be made at all.
		return access(file.c_str(), F_OK) != 0;
	}
	if (stat(file.c_str(), &named) == 0 && named.st_ino == opened.st_ino) {
		return true;
	}
	close(lock_fd_);
	lock_fd_ = -1;
	return false;
}

TempFolder::~TempFolder() {
	if (lock_fd_ < 0) {
		return;
	}
	std::error_code ignored;
	fs::remove_all(path_, ignored);
	fs::remove(path_ + LOCK_SUFFIX, ignored);
	close(lock_fd_);
}

} // namespace skein
