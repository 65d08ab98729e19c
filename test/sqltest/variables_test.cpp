#include "variables.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include <stdlib.h>

namespace skein::test {
namespace {

TEST(Variables, KnowFolders) {
	Variables variables("test/sql/a.test", "/tmp/own");
	auto here = std::filesystem::current_path().string();
	EXPECT_EQ(variables.Replace("__TEST_DIR__/a {TEST_DIR}/b"), "/tmp/own/a /tmp/own/b");
	EXPECT_EQ(variables.Replace("__WORKING_DIRECTORY__ ${WORKING_DIR} {DATA_DIR}/x"),
			  here + " " + here + " " + here + "/data/x");
	EXPECT_EQ(variables.Replace("{TEST_NAME} {BASE_TEST_NAME}"), "test/sql/a.test test_sql_a.test");
}

TEST(Variables, ReplaceTheVariablesOfAllRunningLoops) {
	Variables variables("a.test", "/tmp/own");
	variables.PushLoop("i", "7");
	variables.PushLoop("a,b", "x,__TEST_DIR__");
	EXPECT_EQ(variables.Replace("${i} {i} ${a}{b} {c}"), "7 7 x/tmp/own {c}");
	EXPECT_EQ(*variables.FindLoop("i"), "7");
	variables.PopLoop();
	EXPECT_EQ(variables.Replace("${i} ${a}"), "7 ${a}");
	EXPECT_EQ(variables.FindLoop("a"), nullptr);
}

TEST(Variables, AreDefinedOrComeFromTheEnvironment) {
	Variables variables("a.test", "/tmp/own");
	setenv("SKEIN_VARIABLES_TEST", "from outside", 1);
	EXPECT_EQ(*variables.Find("SKEIN_VARIABLES_TEST"), "from outside");
	EXPECT_EQ(variables.Find("SKEIN_VARIABLES_TEST_NOT"), nullptr);
	variables.Define("OWN", "1");
	EXPECT_EQ(variables.Replace("{OWN} ${SKEIN_VARIABLES_TEST}"), "1 from outside");
}

} // namespace
} // namespace skein::test
