#pragma once

#include <filesystem>

namespace skein::cli {

//! The folder of this very executable.
inline std::filesystem::path ExecutableFolder() {
	return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

} // namespace skein::cli
