#include "fuzz/shrinker.hpp"

#include "fuzz/edit_walk.hpp"

#include "duckdb/parser/statement/select_statement.hpp"

namespace skein::fuzz {
namespace {

//! nullptr when the text is no single query.
duckdb::unique_ptr<duckdb::SQLStatement> Parse(duckdb::Connection &parser, const std::string &sql) {
	try {
		auto statements = parser.ExtractStatements(sql);
		if (statements.size() == 1 && statements[0]->type == duckdb::StatementType::SELECT_STATEMENT) {
			return std::move(statements[0]);
		}
	} catch (const std::exception &) {
		// Not every text that DuckDB writes can be parsed.
	}
	return nullptr;
}

} // namespace

std::string Shrinker::Shrink(const std::string &sql, const std::function<bool(const std::string &)> &still_holds) {
	auto deadline = std::chrono::steady_clock::now() + limit_;
	auto current = Parse(parser_, sql);
	if (!current || !still_holds(current->ToString())) {
		return sql;
	}
	auto text = current->ToString();
	auto shrunk = true;
	while (shrunk) {
		shrunk = false;
		for (size_t number = 0; std::chrono::steady_clock::now() < deadline;) {
			auto copy = current->Copy();
			EditWalk walk(number);
			if (!walk.Apply(copy->Cast<duckdb::SelectStatement>().node)) {
				break;
			}
			auto candidate = copy->ToString();
			auto shorter = candidate.size() < text.size() || (walk.IsSwap() && candidate != text);
			// Parsed again: the next edits are of what is written.
			auto parsed = shorter ? Parse(parser_, candidate) : nullptr;
			if (parsed && still_holds(candidate)) {
				current = std::move(parsed);
				text = candidate;
				shrunk = true;
			} else {
				number++;
			}
		}
	}
	return text;
}

} // namespace skein::fuzz
