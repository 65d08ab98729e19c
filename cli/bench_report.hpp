#pragma once

#include "last_query.hpp"
#include "suite.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace skein::cli {

//! What came of an answer when it was compared with plain DuckDB's.
enum class Verdict {
	UNCHECKED,
	EQUAL,
	//! Other rows where the query's limit leaves a choice among ties; as right as DuckDB's own.
	EQUAL_BUT_TIES,
	DIFFERENT
};

//! What running one query of a suite gave.
struct QueryReport {
	std::string query;
	//! Milliseconds of every run.
	std::vector<double> alone_ms;
	std::vector<double> distributed_ms;
	//! CPU seconds, medians over the runs, of all processes that took part; nothing when that is not known.
	std::optional<double> alone_cpu_s;
	std::optional<double> distributed_cpu_s;
	Verdict verdict = Verdict::UNCHECKED;
	//! Whether every run was distributed.
	bool distributed = false;
	//! Of the first run that was not distributed, or else of the last run.
	LastQuery last_query;
	//! Why a run failed, or how answers differ.
	std::optional<std::string> error;

	bool Failed() const {
		return error.has_value() && verdict != Verdict::DIFFERENT;
	}
	bool Equal() const {
		return verdict == Verdict::EQUAL || verdict == Verdict::EQUAL_BUT_TIES;
	}
};

//! The median; 0 of nothing.
double Median(std::vector<double> values);

//! Everything about a run of a suite.
struct BenchReport {
	Suite suite;
	//! Rows of all tables.
	int64_t rows = 0;
	nlohmann::ordered_json config;
	std::vector<QueryReport> queries;
	//! Whether plain DuckDB was timed, too.
	bool alone = false;

	double TotalAloneMs() const;
	double TotalDistributedMs() const;
	nlohmann::ordered_json ToJson() const;
};

//! Prints a report as a table, line by line as the queries end.
class BenchTable {
public:
	BenchTable(const Suite &suite, std::ostream &out);
	void PrintQuery(const QueryReport &query);
	//! The totals, and how many answers were right.
	void PrintTotals(const BenchReport &report);

private:
	void PrintLine(const std::vector<std::string> &cells);

	std::ostream &out_;
	size_t name_width_;
};

} // namespace skein::cli
