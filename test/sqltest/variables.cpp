#include "variables.hpp"

#include "duckdb/common/string_util.hpp"
#include "duckdb/common/types/uuid.hpp"

#include <cstdlib>
#include <filesystem>

namespace skein::test {
namespace {

using duckdb::StringUtil;

std::string ReplaceVariable(std::string text, const std::string &name, const std::string &value) {
	text = StringUtil::Replace(text, "${" + name + "}", value);
	return StringUtil::Replace(text, "{" + name + "}", value);
}

} // namespace

Variables::Variables(const std::string &path, std::string test_dir) : test_dir_(std::move(test_dir)) {
	auto working_dir = std::filesystem::current_path().string();
	Define("WORKING_DIR", working_dir);
	Define("DATA_DIR", working_dir + "/data");
	Define("TEMP_DIR", test_dir_);
	Define("TEST_DIR", test_dir_);
	Define("TEST_NAME", path);
	Define("TEST_NAME__NO_SLASH", StringUtil::Replace(path, "/", "_"));
	Define("BASE_TEST_NAME", StringUtil::Replace(path, "/", "_"));
}

void Variables::Define(const std::string &name, const std::string &value) {
	values_[name] = value;
}

const std::string *Variables::Find(const std::string &name) {
	auto found = values_.find(name);
	if (found != values_.end()) {
		return &found->second;
	}
	auto value = std::getenv(name.c_str());
	return value ? &(values_[name] = value) : nullptr;
}

void Variables::PushLoop(const std::string &variable, const std::string &value) {
	loops_.emplace_back(variable, ReplaceKeywords(value));
}

void Variables::PopLoop() {
	loops_.pop_back();
}

const std::string *Variables::FindLoop(const std::string &variable) const {
	for (auto &[name, value] : loops_) {
		if (StringUtil::CIEquals(name, variable)) {
			return &value;
		}
	}
	return nullptr;
}

std::string Variables::Replace(const std::string &text) const {
	auto result = ReplaceKeywords(text);
	for (auto &[variable, value] : loops_) {
		if (variable.find(',') == std::string::npos) {
			result = ReplaceVariable(result, variable, value);
			continue;
		}
		auto names = StringUtil::Split(variable, ",");
		auto values = StringUtil::Split(value, ",");
		for (size_t i = 0; i < names.size() && i < values.size(); i++) {
			result = ReplaceVariable(result, names[i], values[i]);
		}
	}
	return result;
}

std::string Variables::ReplaceKeywords(std::string text) const {
	if (text.find_first_of("{_") == std::string::npos) {
		return text;
	}
	for (auto &[name, value] : values_) {
		text = ReplaceVariable(text, name, value);
	}
	if (text.find("{UUID}") != std::string::npos) {
		text = StringUtil::Replace(text, "{UUID}", duckdb::UUID::ToString(duckdb::UUID::GenerateRandomUUID()));
	}
	text = StringUtil::Replace(text, "__TEST_DIR__", test_dir_);
	return StringUtil::Replace(text, "__WORKING_DIRECTORY__", values_.at("WORKING_DIR"));
}

} // namespace skein::test
