#pragma once

#include "lane.hpp"

#include <string>
#include <vector>

namespace skein::test {

//! Whether what `require` names is there: a property of this build and this machine, or an extension, which is then
//! loaded in both lanes.
bool IsFulfilled(const std::vector<std::string> &words, Lane &plain, Lane &skein);

} // namespace skein::test
