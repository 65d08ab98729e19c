#include "explain/visible_text.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

TEST(VisibleTextTest, ShowsWhatATerminalWouldObey) {
	EXPECT_EQ(VisibleText("a\x1B[31mb\a\x7F"), "a\\x1B[31mb\\x07\\x7F");
	EXPECT_EQ(VisibleText("one\ntwo\r\tthree"), "one\\ntwo\\r\\tthree");
	EXPECT_EQ(VisibleText(std::string("nul\0nul", 7)), "nul\\x00nul");
	// The control sequence introducer in one character.
	EXPECT_EQ(VisibleText("\xC2\x9B"
						  "31m"),
			  "\\xC2\\x9B31m");
}

TEST(VisibleTextTest, LeavesEverythingElse) {
	for (auto text :
		 {"", "plain ~ text", "back\\slash", "\xC3\xA4\xC2\xA0\xE2\x94\x80\xF0\x9F\xA6\x86", "\xC2", "\xC3\x9B"}) {
		EXPECT_EQ(VisibleText(text), text);
	}
}

} // namespace
} // namespace skein
