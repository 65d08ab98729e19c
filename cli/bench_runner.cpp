#include "bench_runner.hpp"

#include "answer_check.hpp"
#include "machine.hpp"

#include <chrono>

namespace skein::cli {
namespace {

//! CPU times of several runs, of which any may be unknown.
class CpuTimes {
public:
	void Add(std::optional<double> seconds) {
		complete_ = complete_ && seconds.has_value();
		seconds_.push_back(seconds.value_or(0));
	}
	std::optional<double> MedianOfAll() const {
		return complete_ && !seconds_.empty() ? std::optional<double>(Median(seconds_)) : std::nullopt;
	}

private:
	bool complete_ = true;
	std::vector<double> seconds_;
};

std::string OneLine(const std::string &message) {
	return message.substr(0, message.find('\n'));
}

} // namespace

BenchRunner::BenchRunner(Session &session, duckdb::Connection &alone, const BenchRunOptions &options)
	: session_(session), alone_(alone), options_(options) {
}

QueryReport BenchRunner::Run(const SuiteQuery &query) {
	QueryReport report;
	report.query = query.name;
	try {
		RunAll(query, report);
	} catch (const duckdb::Exception &error) {
		duckdb::ErrorData data(error);
		if (data.Type() == duckdb::ExceptionType::INTERRUPT || IsClusterUnreachable(data)) {
			throw;
		}
		report.error = OneLine(data.Message());
	}
	return report;
}

void BenchRunner::RunAll(const SuiteQuery &query, QueryReport &report) {
	CpuTimes alone_cpu;
	CpuTimes distributed_cpu;
	std::optional<AnswerCheck> check;
	for (size_t run = 0; run < options_.runs; run++) {
		auto needs_expected = options_.verify && !check;
		if (options_.alone || needs_expected) {
			auto alone = MeasureAlone(query.sql);
			if (options_.alone) {
				report.alone_ms.push_back(alone.milliseconds);
				alone_cpu.Add(alone.cpu_seconds);
			}
			if (needs_expected) {
				check.emplace(alone_, query.sql, Answer::From(*alone.result));
			}
		}
		auto distributed = MeasureDistributed(query.sql);
		report.distributed_ms.push_back(distributed.milliseconds);
		distributed_cpu.Add(distributed.cpu_seconds);
		if (run == 0 || report.distributed) {
			report.last_query = LastQuery::Read(session_.Connection());
			report.distributed = report.last_query.distributed;
		}
		if (check && report.verdict != Verdict::DIFFERENT) {
			report.error = check->FindDifferenceTo(Answer::From(*distributed.result));
			auto equal = check->SawTies() ? Verdict::EQUAL_BUT_TIES : Verdict::EQUAL;
			report.verdict = report.error ? Verdict::DIFFERENT : equal;
		}
	}
	report.alone_cpu_s = alone_cpu.MedianOfAll();
	report.distributed_cpu_s = distributed_cpu.MedianOfAll();
}

BenchRunner::Measurement BenchRunner::MeasureAlone(const std::string &sql) {
	return Measure(alone_, sql, OwnCpuSeconds);
}

BenchRunner::Measurement BenchRunner::MeasureDistributed(const std::string &sql) {
	return Measure(session_.Connection(), sql, [this] { return session_.Workers().TotalCpuSeconds(); });
}

BenchRunner::Measurement BenchRunner::Measure(duckdb::Connection &connection, const std::string &sql,
											  const CpuClock &cpu_clock) {
	session_.Interrupts().Watch(connection);
	session_.Interrupts().Check();
	Measurement measurement;
	auto cpu_before = cpu_clock();
	auto start = std::chrono::steady_clock::now();
	measurement.result = Query(connection, sql);
	std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
	auto cpu_after = cpu_clock();
	measurement.milliseconds = time.count();
	if (cpu_before && cpu_after) {
		measurement.cpu_seconds = *cpu_after - *cpu_before;
	}
	return measurement;
}

} // namespace skein::cli
