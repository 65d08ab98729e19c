#include "bench_report.hpp"

#include "machine.hpp"

#include "skein/skein.hpp"

#include <algorithm>
#include <numeric>

namespace skein::cli {
namespace {

using duckdb::StringUtil;
using nlohmann::ordered_json;

constexpr size_t CELL_WIDTH = 12;

std::string Number(double value, const char *format) {
	return StringUtil::Format(format, value);
}

std::string Milliseconds(const std::vector<double> &times) {
	return times.empty() ? "-" : Number(Median(times), "%.1f");
}

std::string Ratio(double distributed_ms, double alone_ms) {
	return alone_ms > 0 && distributed_ms > 0 ? Number(distributed_ms / alone_ms, "%.2f") : "-";
}

std::string VerdictText(const QueryReport &query) {
	if (query.Failed()) {
		return "failed";
	}
	if (query.verdict == Verdict::DIFFERENT) {
		return "DIFFERENT";
	}
	if (!query.distributed) {
		return "not distributed";
	}
	switch (query.verdict) {
	case Verdict::EQUAL:
		return "equal";
	case Verdict::EQUAL_BUT_TIES:
		return "equal (ties)";
	default:
		return "not checked";
	}
}

template <class T>
ordered_json OptionalJson(const std::optional<T> &value) {
	return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json QueryJson(const QueryReport &query) {
	ordered_json json;
	json["query"] = query.query;
	json["alone_ms"] = query.alone_ms;
	json["distributed_ms"] = query.distributed_ms;
	json["alone_cpu_s"] = OptionalJson(query.alone_cpu_s);
	json["distributed_cpu_s"] = OptionalJson(query.distributed_cpu_s);
	auto is_unknown = query.verdict == Verdict::UNCHECKED && !query.error;
	json["equal"] = is_unknown ? ordered_json(nullptr) : ordered_json(query.Equal());
	json["distributed"] = query.distributed;
	json["reason"] = OptionalJson(query.last_query.reason);
	json["stages"] = query.last_query.stages;
	json["tasks"] = query.last_query.tasks;
	json["bytes_exchanged"] = query.last_query.bytes_exchanged;
	json["error"] = OptionalJson(query.error);
	return json;
}

} // namespace

double Median(std::vector<double> values) {
	if (values.empty()) {
		return 0;
	}
	std::sort(values.begin(), values.end());
	auto middle = values.size() / 2;
	return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double BenchReport::TotalAloneMs() const {
	return std::accumulate(queries.begin(), queries.end(), 0.0,
						   [](double total, auto &query) { return total + Median(query.alone_ms); });
}

double BenchReport::TotalDistributedMs() const {
	return std::accumulate(queries.begin(), queries.end(), 0.0,
						   [](double total, auto &query) { return total + Median(query.distributed_ms); });
}

ordered_json BenchReport::ToJson() const {
	ordered_json json;
	json["suite"] = suite.name;
	json["scale"] = OptionalJson(suite.scale);
	json["rows"] = rows;
	json["machine"] = DescribeMachine();
	json["versions"]["skein"] = Version();
	json["versions"]["duckdb"] = duckdb::DuckDB::LibraryVersion();
	json["versions"]["duckdb_source_id"] = duckdb::DuckDB::SourceID();
	json["config"] = config;
	json["queries"] = ordered_json::array();
	for (auto &query : queries) {
		json["queries"].push_back(QueryJson(query));
	}
	json["total_alone_ms"] = alone ? ordered_json(TotalAloneMs()) : ordered_json(nullptr);
	json["total_distributed_ms"] = TotalDistributedMs();
	return json;
}

BenchTable::BenchTable(const Suite &suite, std::ostream &out) : out_(out), name_width_(5) {
	for (auto &query : suite.queries) {
		name_width_ = std::max(name_width_, query.name.size());
	}
	PrintLine({"query", "alone ms", "skein ms", "ratio", "stages", "tasks", "exchanged", "verdict"});
}

void BenchTable::PrintQuery(const QueryReport &query) {
	auto &last = query.last_query;
	PrintLine({query.query, Milliseconds(query.alone_ms), Milliseconds(query.distributed_ms),
			   Ratio(Median(query.distributed_ms), Median(query.alone_ms)), std::to_string(last.stages),
			   std::to_string(last.tasks),
			   StringUtil::BytesToHumanReadableString(static_cast<duckdb::idx_t>(last.bytes_exchanged)),
			   VerdictText(query)});
}

void BenchTable::PrintTotals(const BenchReport &report) {
	auto alone_ms = report.TotalAloneMs();
	auto distributed_ms = report.TotalDistributedMs();
	PrintLine({"total", report.alone ? Number(alone_ms, "%.1f") : "-", Number(distributed_ms, "%.1f"),
			   Ratio(distributed_ms, alone_ms), "", "", "", ""});
	auto count = [&](auto &&condition) {
		return std::count_if(report.queries.begin(), report.queries.end(), condition);
	};
	out_ << report.queries.size() << " queries: " << count([](auto &query) { return query.distributed; })
		 << " distributed, " << count([](auto &query) { return query.Equal(); }) << " equal to plain DuckDB, "
		 << count([](auto &query) { return query.verdict == Verdict::DIFFERENT; }) << " different, "
		 << count([](auto &query) { return query.Failed(); }) << " failed\n"
		 << std::flush;
}

//! The first cell to the left, the last as it is, the others to the right.
void BenchTable::PrintLine(const std::vector<std::string> &cells) {
	std::string line = cells[0];
	line.resize(std::max(name_width_, line.size()), ' ');
	for (size_t i = 1; i + 1 < cells.size(); i++) {
		auto padding = CELL_WIDTH - std::min(CELL_WIDTH - 1, cells[i].size());
		line += std::string(padding, ' ') + cells[i];
	}
	line += "  " + cells.back();
	line.resize(line.find_last_not_of(' ') + 1);
	out_ << line << '\n' << std::flush;
}

} // namespace skein::cli
