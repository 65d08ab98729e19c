#include "loop_values.hpp"

#include "duckdb/common/string_util.hpp"

#include <algorithm>
#include <map>

namespace skein::test {
namespace {

using Values = std::vector<std::string>;

const Values SIGNED{"tinyint", "smallint", "integer", "bigint", "hugeint"};
const Values UNSIGNED{"utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"};
const Values FLOATING{"float", "double"};
const Values OTHER_TYPES{"bool", "interval", "varchar"};
const Values COMPRESSIONS{"none", "uncompressed", "rle", "bitpacking", "dictionary",
						  "fsst", "dict_fsst",	  "alp", "alprd"};
// The columns of test_all_types().
const Values ALL_TYPES_COLUMNS{"bool",
							   "tinyint",
							   "smallint",
							   "int",
							   "bigint",
							   "hugeint",
							   "uhugeint",
							   "utinyint",
							   "usmallint",
							   "uint",
							   "ubigint",
							   "date",
							   "time",
							   "timestamp",
							   "timestamp_s",
							   "timestamp_ms",
							   "timestamp_ns",
							   "time_tz",
							   "timestamp_tz",
							   "float",
							   "double",
							   "dec_4_1",
							   "dec_9_4",
							   "dec_18_6",
							   "dec38_10",
							   "uuid",
							   "interval",
							   "varchar",
							   "blob",
							   "bit",
							   "small_enum",
							   "medium_enum",
							   "large_enum",
							   "int_array",
							   "double_array",
							   "date_array",
							   "timestamp_array",
							   "timestamptz_array",
							   "varchar_array",
							   "nested_int_array",
							   "struct",
							   "struct_of_arrays",
							   "array_of_structs",
							   "map",
							   "union",
							   "fixed_int_array",
							   "fixed_varchar_array",
							   "fixed_nested_int_array",
							   "fixed_nested_varchar_array",
							   "fixed_struct_array",
							   "struct_of_fixed_array",
							   "fixed_array_of_int_list",
							   "list_of_fixed_int_array"};

//! Each name's lists, in order.
const std::map<std::string, std::vector<const Values *>> &Collections() {
	static const std::map<std::string, std::vector<const Values *>> COLLECTIONS{
		{"<signed>", {&SIGNED}},
		{"<unsigned>", {&UNSIGNED}},
		{"<integral>", {&SIGNED, &UNSIGNED}},
		{"<numeric>", {&SIGNED, &UNSIGNED, &FLOATING}},
		{"<alltypes>", {&SIGNED, &UNSIGNED, &FLOATING, &OTHER_TYPES}},
		{"<compression>", {&COMPRESSIONS}},
		{"<all_types_columns>", {&ALL_TYPES_COLUMNS}},
	};
	return COLLECTIONS;
}

} // namespace

std::vector<std::string> LoopValues(const std::vector<std::string> &words) {
	Values result;
	for (auto &word : words) {
		auto collection = Collections().find(duckdb::StringUtil::Lower(word));
		auto removed = word[0] == '!' ? std::find(result.begin(), result.end(), word.substr(1)) : result.end();
		if (collection != Collections().end()) {
			for (auto list : collection->second) {
				result.insert(result.end(), list->begin(), list->end());
			}
		} else if (removed != result.end()) {
			result.erase(removed);
		} else {
			result.push_back(word);
		}
	}
	return result;
}

} // namespace skein::test
