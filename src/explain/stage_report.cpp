#include "explain/stage_report.hpp"

#include "duckdb/common/string_util.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

string Milliseconds(uint64_t micros) {
	return StringUtil::Format("%.1f ms", static_cast<double>(micros) / 1000);
}

string Output(uint64_t rows, uint64_t bytes) {
	return StringUtil::Format("%llu rows, %s", rows, StringUtil::BytesToHumanReadableString(bytes));
}

} // namespace

string StageReport(const DistributedPlan &plan, const std::vector<TaskReport> &tasks) {
	string result;
	for (auto &line : StringUtil::Split(plan.text, "\n")) {
		result += line;
		for (auto &stage : plan.stages) {
			if (!StringUtil::EndsWith(line, StringUtil::Format("Stage %u ── tasks=%u", stage.id, stage.tasks))) {
				continue;
			}
			std::vector<TaskReport> reports;
			std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(reports),
						 [&](const TaskReport &report) { return report.stage == stage.id; });
			std::sort(reports.begin(), reports.end(),
					  [](const TaskReport &left, const TaskReport &right) { return left.task < right.task; });
			uint64_t rows = 0, bytes = 0, slowest = 0;
			string lines;
			auto indent = line.substr(0, line.find("┌"));
			for (auto &report : reports) {
				rows += report.output_rows;
				bytes += report.output_bytes;
				slowest = std::max(slowest, report.wall_micros);
				lines += StringUtil::Format("\n%s│ t%u on %s: %s, %s", indent, report.task, report.worker,
											Output(report.output_rows, report.output_bytes),
											Milliseconds(report.wall_micros));
			}
			result += StringUtil::Format(" ── sent %s, slowest task %s", Output(rows, bytes), Milliseconds(slowest));
			result += lines;
		}
		result += "\n";
	}
	return result;
}

} // namespace skein
