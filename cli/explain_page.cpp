#include "explain_page.hpp"

#include "explain_page_parts.hpp"
#include "json_text.hpp"

namespace skein::cli {
namespace {

//! JSON that can stand in a script element: no end tag, and nothing that begins a comment, occurs in it.
std::string Embedded(std::string json) {
	for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
		json.replace(at, 1, "\\u003c");
	}
	return json;
}

std::string DataElement(const std::string &id, const std::string &json) {
	return "<script type=\"application/json\" id=\"" + id + "\">" + Embedded(json) + "</script>\n";
}

} // namespace

std::string ExplainPage(const std::string &sql, const std::string &json) {
	return std::string("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
					   "<title>Skein plan</title>\n<style>") +
		   EXPLAIN_PAGE_STYLE +
		   "</style>\n</head>\n<body>\n<h1>Plan</h1>\n<pre id=\"sql\"></pre>\n<div id=\"page\"></div>\n" +
		   DataElement("data", json) + DataElement("query", JsonString(sql)) + "<script>" + EXPLAIN_PAGE_SCRIPT +
		   "</script>\n</body>\n</html>\n";
}

} // namespace skein::cli
