#pragma once

#include <string>

namespace skein {

//! UTF-8 `text` without characters that move a terminal's cursor or end a line: they become `\n`, `\x1B` and the
//! like, those of U+0080 to U+009F by their two bytes.
std::string VisibleText(const std::string &text);

} // namespace skein
