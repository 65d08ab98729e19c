#include "case_runner.hpp"

#include "plan_shape.hpp"

#include "duckdb/common/enum_util.hpp"
#include "duckdb/optimizer/optimizer.hpp"
#include "duckdb/planner/planner.hpp"
#include "extension/session.hpp"

#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>

namespace skein::test {
namespace {

void ReplaceAll(std::string &text, const std::string &from, const std::string &to) {
	for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
		text.replace(at, from.size(), to);
	}
}

//! What the case is about: the section's words, or the word for the operator after which the case is called.
std::vector<std::string> FocusOf(const CoverageSection &section, const CoverageCase &one) {
	if (one.title.rfind("LOGICAL_", 0) != 0) {
		return section.focus;
	}
	auto type = duckdb::EnumUtil::FromString<duckdb::LogicalOperatorType>(one.title.c_str());
	return {duckdb::LogicalOperatorToString(type)};
}

} // namespace

CaseRunner::CaseRunner(std::string folder, bool trace)
	: folder_(std::move(folder)), trace_(trace), oracle_(*database_.connection) {
}

void CaseRunner::MakeTables(const std::string &file) {
	Set("skein_mode", "off");
	Set("threads", "2");
	Set("skein_workers", "3");
	std::ifstream stream(file);
	std::string statement;
	for (std::string line; std::getline(stream, line);) {
		statement += line + "\n";
		if (line.empty() || line.back() != ';') {
			continue;
		}
		auto repeated = statement.find("$file") != std::string::npos;
		for (auto number = 0; number < (repeated ? 3 : 1); number++) {
			auto one = statement;
			ReplaceAll(one, "$file", std::to_string(number));
			Execute(one);
		}
		statement.clear();
	}
}

std::vector<CoverageCell> CaseRunner::Run(const CoverageSection &section, const CoverageCase &one) {
	seen_last_ = {};
	std::vector<CoverageCell> cells;
	for (auto &column : section.columns) {
		try {
			cells.push_back(RunColumn(section, column, one));
		} catch (const std::exception &error) {
			Fail(one, one.sql, duckdb::ErrorData(error).Message());
			cells.emplace_back();
		}
	}
	seen_.Add(seen_last_);
	return cells;
}

CoverageCell CaseRunner::RunColumn(const CoverageSection &section, const CoverageColumn &column,
								   const CoverageCase &one) {
	auto sql = column.sql;
	ReplaceAll(sql, "$case", one.sql);
	ReplaceAll(sql, "$folder", folder_);
	if (trace_) {
		std::cerr << one.place << " " << one.title << ": " << sql << std::endl;
	}
	auto alone = RunAlone(one, sql);
	if (!alone.answer) {
		Fail(one, sql, "plain DuckDB fails: " + alone.ErrorLine());
		return {};
	}
	auto cell = RunDistributed(section, one, sql, alone, column.settings);
	for (auto &setting : section.again) {
		RunDistributed(section, one, sql, alone, {setting});
	}
	return cell;
}

Outcome CaseRunner::RunAlone(const CoverageCase &one, const std::string &sql) {
	Set("skein_mode", "off");
	for (auto &statement : one.before) {
		Execute(statement);
	}
	AddPlan(sql);
	auto outcome = RunSql(Connection(), sql);
	return one.after.empty() || !outcome.answer ? std::move(outcome) : RunSql(Connection(), After(one));
}

CoverageCell CaseRunner::RunDistributed(const CoverageSection &section, const CoverageCase &one, const std::string &sql,
										const Outcome &alone, const Settings &settings) {
	for (auto &statement : one.before) {
		Execute(statement);
	}
	Set("skein_mode", "force");
	for (auto &[name, value] : settings) {
		Set(name, value);
	}
	auto started_at = std::chrono::steady_clock::now();
	auto outcome = RunWatched(sql, one.place + " " + sql);
	auto cell = Look(section, FocusOf(section, one), started_at);
	for (auto &setting : settings) {
		Execute("RESET " + setting.first);
	}
	Set("skein_mode", "off");
	if (outcome.answer && !one.after.empty()) {
		outcome = RunSql(Connection(), After(one));
	}
	if (!outcome.answer) {
		Fail(one, sql, "fails: " + outcome.ErrorLine());
	} else if (auto difference =
				   oracle_.FindDifference(one.after.empty() ? sql : After(one), *alone.answer, *outcome.answer)) {
		Fail(one, sql, *difference);
	}
	Set("skein_mode", "off");
	return cell;
}

CoverageCell CaseRunner::Look(const CoverageSection &section, const std::vector<std::string> &focus,
							  std::chrono::steady_clock::time_point since) {
	auto last = Session::Get(*Connection().context)->Last();
	CoverageCell cell;
	cell.reason = last.started_at < since ? "it is no query" : Mask(last.reason);
	if (!last.distributed || last.started_at < since) {
		return cell;
	}
	PlanShape shape(last.plan->text);
	if (trace_) {
		std::cerr << last.plan->text;
	}
	cell.how = Mask(shape.Describe());
	auto in_view = section.focus_is_required || shape.Contains(focus);
	auto spread = in_view ? shape.IsSpread(focus) : shape.IsSpread();
	cell.place = spread ? CoverageCell::Place::DISTRIBUTED : CoverageCell::Place::ONE_TASK;
	return cell;
}

void CaseRunner::AddPlan(const std::string &sql) {
	auto &context = *Connection().context;
	auto statement = std::move(Connection().ExtractStatements(sql).back());
	context.RunFunctionInTransaction([&] {
		duckdb::Planner planner(context);
		planner.CreatePlan(std::move(statement));
		seen_last_.operators.insert(duckdb::EnumUtil::ToChars(planner.plan->type));
		if (planner.plan->type == duckdb::LogicalOperatorType::LOGICAL_EXPLAIN || !planner.plan->RequireOptimizer()) {
			return; // which another optimizer hook would replace
		}
		duckdb::Optimizer optimizer(*planner.binder, context);
		auto plan = optimizer.Optimize(std::move(planner.plan));
		seen_last_.AddPlan(*plan);
	});
}

std::string CaseRunner::After(const CoverageCase &one) const {
	auto sql = one.after;
	ReplaceAll(sql, "$folder", folder_);
	return sql;
}

Outcome CaseRunner::RunWatched(const std::string &sql, const std::string &what) {
	Outcome outcome;
	Watchdog::Watch watch(watchdog_, Connection(), what);
	outcome = RunSql(Connection(), sql);
	if (watch.TimedOut()) {
		outcome.answer.reset();
		outcome.error = duckdb::ErrorData("it hangs");
	}
	return outcome;
}

void CaseRunner::Execute(const std::string &sql) {
	auto statement = sql;
	ReplaceAll(statement, "$folder", folder_);
	auto outcome = RunSql(Connection(), statement);
	if (!outcome.answer) {
		throw std::runtime_error(statement + ": " + outcome.ErrorLine());
	}
}

void CaseRunner::Set(const std::string &name, const std::string &value) {
	Execute("SET " + name + " = " + duckdb::Value(value).ToSQLString());
}

std::string CaseRunner::Mask(std::string text) const {
	ReplaceAll(text, folder_, "FOLDER");
	return std::regex_replace(text, std::regex("#\\[[0-9]+\\.[0-9]+\\]"), "#");
}

void CaseRunner::Fail(const CoverageCase &one, const std::string &sql, const std::string &what) {
	failures_++;
	std::cerr << one.place << ": " << one.title << ": " << what << "\n  " << sql << std::endl;
}

} // namespace skein::test
