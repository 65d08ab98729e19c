#include "explain/visible_text.hpp"

#include "duckdb/common/string_util.hpp"

namespace skein {

using namespace duckdb;

namespace {

string Escape(uint8_t byte) {
	switch (byte) {
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	default:
		return StringUtil::Format("\\x%02X", static_cast<uint32_t>(byte));
	}
}

} // namespace

std::string VisibleText(const std::string &text) {
	std::string result;
	for (size_t i = 0; i < text.size(); i++) {
		auto byte = static_cast<uint8_t>(text[i]);
		auto next = i + 1 < text.size() ? static_cast<uint8_t>(text[i + 1]) : 0;
		if (byte < 0x20 || byte == 0x7F) {
			result += Escape(byte);
		} else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
			result += Escape(byte) + Escape(next);
			i++;
		} else {
			result += text[i];
		}
	}
	return result;
}

} // namespace skein
