#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>

namespace skein::test {

//! An empty folder that is removed, with all that was put into it, when this object goes.
class TemporaryFolder {
public:
	TemporaryFolder() {
		auto path = (std::filesystem::temp_directory_path() / "skein-test-XXXXXX").string();
		if (!mkdtemp(path.data())) {
			throw std::runtime_error("cannot make the folder " + path);
		}
		path_ = path;
	}
	~TemporaryFolder() {
		std::error_code ignored;
		std::filesystem::remove_all(path_, ignored);
	}
	TemporaryFolder(const TemporaryFolder &) = delete;
	TemporaryFolder &operator=(const TemporaryFolder &) = delete;

	const std::string &Path() const {
		return path_;
	}

private:
	std::string path_;
};

} // namespace skein::test
