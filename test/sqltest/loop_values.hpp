#pragma once

#include <string>
#include <vector>

namespace skein::test {

//! The values that the words after `foreach x` stand for: themselves, or those of a collection like `<numeric>`; `!x`
//! takes a value away again that was there before.
std::vector<std::string> LoopValues(const std::vector<std::string> &words);

} // namespace skein::test
