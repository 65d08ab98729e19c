#pragma once

#include <string>

namespace skein {

//! A folder of this process alone for what does not fit into memory, below a folder that others may use, too.
//!
//! It goes with the object. What a process that was killed has left is removed by the next one that makes a folder in
//! the same place: beside each lies a lock file, locked for as long as its process lives.
//! Where nothing can be written it is only a name: DuckDB complains when it has to spill.
class TempFolder {
public:
	//! Below `parent`, which is made if it is missing; empty: the system's temporary folder.
	explicit TempFolder(const std::string &parent);
	~TempFolder();
	TempFolder(const TempFolder &) = delete;
	TempFolder &operator=(const TempFolder &) = delete;

	//! DuckDB makes it when it first spills.
	const std::string &Path() const {
		return path_;
	}

private:
	//! Locks a file of that name; false if another has removed it meanwhile.
	bool TryLock();

	std::string path_;
	//! -1 if it could not be made.
	int lock_fd_ = -1;
};

} // namespace skein
