#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skein::test {

//! What the names in a test file's texts stand for.
//!
//! `${x}` and `{x}` for loops and environment variables, DATA_DIR, WORKING_DIR, TEST_NAME and others;
//! `__TEST_DIR__`, `{TEST_DIR}` for the folder of the file's own, `__WORKING_DIRECTORY__`; `{UUID}` for a new one.
class Variables {
public:
	//! `path` names the file, `test_dir` is its own folder.
	Variables(const std::string &path, std::string test_dir);

	void Define(const std::string &name, const std::string &value);
	//! What was defined, or an environment variable of the process; nullptr if neither.
	const std::string *Find(const std::string &name);

	//! A loop's round: `variable` may be several names with commas between, `value` as many values.
	void PushLoop(const std::string &variable, const std::string &value);
	void PopLoop();
	//! The value of a running loop's variable, nullptr if there is none.
	const std::string *FindLoop(const std::string &variable) const;

	//! Puts values in the place of names.
	std::string Replace(const std::string &text) const;

private:
	std::string ReplaceKeywords(std::string text) const;

	const std::string test_dir_;
	std::map<std::string, std::string> values_;
	std::vector<std::pair<std::string, std::string>> loops_;
};

} // namespace skein::test
