#include "json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace skein::cli {
namespace {

using Texts = std::vector<std::string>;
using duckdb::idx_t;
using duckdb::LogicalTypeId;

std::string NumberText(const std::string &text) {
	// nan, inf, -inf
	auto is_finite = std::isdigit(static_cast<unsigned char>(text.back())) && text.find("inf") == std::string::npos;
	return is_finite ? text : JsonString(text);
}

std::string OneLine(std::string json) {
	// Line ends in JSON are blanks: inside its strings they are escaped.
	std::replace_if(
		json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
	return json;
}

std::string ScalarText(const duckdb::LogicalType &type, const std::string &text) {
	if (type.id() == LogicalTypeId::BOOLEAN) {
		return text;
	}
	if (type.IsNumeric() || type.id() == LogicalTypeId::BIGNUM) {
		return NumberText(text);
	}
	return type.IsJSONType() ? OneLine(text) : JsonString(text);
}

Texts ScalarTexts(duckdb::ClientContext &context, duckdb::Vector &vector, idx_t count) {
	duckdb::Vector text(duckdb::LogicalType::VARCHAR, count);
	duckdb::VectorOperations::Cast(context, vector, text, count);
	duckdb::UnifiedVectorFormat format;
	text.ToUnifiedFormat(count, format);
	auto data = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(format);
	Texts result(count, "null");
	for (idx_t row = 0; row < count; row++) {
		auto index = format.sel->get_index(row);
		if (format.validity.RowIsValid(index)) {
			result[row] = ScalarText(vector.GetType(), data[index].GetString());
		}
	}
	return result;
}

std::string Join(const Texts &items, idx_t begin, idx_t end) {
	std::string result;
	for (idx_t i = begin; i < end; i++) {
		result += (i == begin ? "" : ",") + items[i];
	}
	return result;
}

//! The entries of a map are structs of a key and a value; a key that is no string becomes one.
Texts MapEntryTexts(duckdb::ClientContext &context, duckdb::Vector &entries, idx_t count) {
	auto &fields = duckdb::StructVector::GetEntries(entries);
	auto keys = ToJsonTexts(context, *fields[0], count);
	auto values = ToJsonTexts(context, *fields[1], count);
	for (idx_t i = 0; i < count; i++) {
		keys[i] = (keys[i].front() == '"' ? keys[i] : JsonString(keys[i])) + ":" + values[i];
	}
	return keys;
}

Texts ListTexts(duckdb::ClientContext &context, duckdb::Vector &vector, idx_t count) {
	auto is_map = vector.GetType().id() == LogicalTypeId::MAP;
	vector.Flatten(count);
	auto &child = duckdb::ListVector::GetEntry(vector);
	auto child_count = duckdb::ListVector::GetListSize(vector);
	auto items = is_map ? MapEntryTexts(context, child, child_count) : ToJsonTexts(context, child, child_count);
	auto entries = duckdb::FlatVector::GetData<duckdb::list_entry_t>(vector);
	Texts result(count, "null");
	for (idx_t row = 0; row < count; row++) {
		if (!duckdb::FlatVector::IsNull(vector, row)) {
			auto content = Join(items, entries[row].offset, entries[row].offset + entries[row].length);
			result[row] = is_map ? "{" + content + "}" : "[" + content + "]";
		}
	}
	return result;
}

Texts ArrayTexts(duckdb::ClientContext &context, duckdb::Vector &vector, idx_t count) {
	vector.Flatten(count);
	auto size = duckdb::ArrayType::GetSize(vector.GetType());
	auto items = ToJsonTexts(context, duckdb::ArrayVector::GetEntry(vector), count * size);
	Texts result(count, "null");
	for (idx_t row = 0; row < count; row++) {
		if (!duckdb::FlatVector::IsNull(vector, row)) {
			result[row] = "[" + Join(items, row * size, (row + 1) * size) + "]";
		}
	}
	return result;
}

Texts StructTexts(duckdb::ClientContext &context, duckdb::Vector &vector, idx_t count) {
	vector.Flatten(count);
	auto &fields = duckdb::StructVector::GetEntries(vector);
	auto &types = duckdb::StructType::GetChildTypes(vector.GetType());
	auto is_unnamed = duckdb::StructType::IsUnnamed(vector.GetType());
	Texts result(count, is_unnamed ? "[" : "{");
	for (idx_t field = 0; field < fields.size(); field++) {
		auto values = ToJsonTexts(context, *fields[field], count);
		auto name = (field == 0 ? "" : ",") + (is_unnamed ? "" : JsonString(types[field].first) + ":");
		for (idx_t row = 0; row < count; row++) {
			result[row] += name + values[row];
		}
	}
	for (idx_t row = 0; row < count; row++) {
		result[row] = duckdb::FlatVector::IsNull(vector, row) ? "null" : result[row] + (is_unnamed ? "]" : "}");
	}
	return result;
}

Texts UnionTexts(duckdb::ClientContext &context, duckdb::Vector &vector, idx_t count) {
	vector.Flatten(count);
	std::vector<Texts> members;
	for (idx_t member = 0; member < duckdb::UnionType::GetMemberCount(vector.GetType()); member++) {
		members.push_back(ToJsonTexts(context, duckdb::UnionVector::GetMember(vector, member), count));
	}
	Texts result(count, "null");
	for (idx_t row = 0; row < count; row++) {
		duckdb::union_tag_t tag;
		if (duckdb::UnionVector::TryGetTag(vector, row, tag)) {
			result[row] = members[tag][row];
		}
	}
	return result;
}

} // namespace

std::string JsonString(const std::string &text) {
	return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> ToJsonTexts(duckdb::ClientContext &context, duckdb::Vector &vector, idx_t count) {
	switch (vector.GetType().id()) {
	case LogicalTypeId::LIST:
	case LogicalTypeId::MAP:
		return ListTexts(context, vector, count);
	case LogicalTypeId::ARRAY:
		return ArrayTexts(context, vector, count);
	case LogicalTypeId::STRUCT:
		return StructTexts(context, vector, count);
	case LogicalTypeId::UNION:
		return UnionTexts(context, vector, count);
	default:
		return ScalarTexts(context, vector, count);
	}
}

} // namespace skein::cli
