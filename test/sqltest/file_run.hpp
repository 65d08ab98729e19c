#pragma once

#include "expectation.hpp"
#include "judge.hpp"
#include "lane.hpp"
#include "report.hpp"
#include "sql_file.hpp"
#include "variables.hpp"

#include "test/support/configuration.hpp"
#include "test/support/watchdog.hpp"

#include <set>
#include <string>
#include <vector>

namespace skein::test {

//! Runs the records of a file once, in plain DuckDB and in DuckDB with Skein, statement by statement, and reports on
//! each query.
class FileRun {
public:
	struct Options {
		std::string extension_dir;
		//! The workers of configurations that want processes.
		std::string cluster;
		//! Findings after which the rest of a file is left out.
		size_t max_findings = 1000;
		//! Whether to name each statement on stderr before it runs, for one that ends the process.
		bool trace = false;
	};
	//! `folder` is empty or has the fixture's files for both lanes, PLAIN and SKEIN; what is a reference outlives the
	//! run.
	FileRun(std::string path, const Configuration &configuration, TestFolder &folder, Watchdog &watchdog,
			Report &report, Options options);

	static constexpr const char *PLAIN = "plain";
	static constexpr const char *SKEIN = "skein";

	//! Without Skein in both lanes, for a fixture.
	void SetAlone();
	void Run(const std::vector<SqlRecord> &records);

private:
	void RunRecords(const std::vector<SqlRecord> &records);
	void RunRecord(const SqlRecord &record);
	void RunStatement(const SqlRecord &record);
	void RunLoop(const SqlRecord &record);
	void Settle(const SqlRecord &record, const std::string &sql, const LaneOutcome &plain, const LaneOutcome &skein);
	void Keep(const SqlRecord &record, const std::string &sql, const LaneOutcome &plain, const LaneOutcome &skein);
	void CheckDistributed(const SqlRecord &record, const LaneOutcome &skein);
	bool ConditionsHold(const SqlRecord &record) const;
	void Load(const SqlRecord &record);
	void Sleep(const SqlRecord &record);
	void Unzip(const SqlRecord &record);
	void RequireEnvironment(const SqlRecord &record);
	void IgnoreErrors(const SqlRecord &record);
	void SetMode(const SqlRecord &record);
	bool IsIgnored(const Outcome &outcome) const;

	const std::string path_;
	const std::string configuration_;
	const Options options_;
	TestFolder &folder_;
	Report &report_;
	Variables variables_;
	Expectation expectation_;
	Judge judge_;
	Lane plain_;
	Lane skein_;
	bool must_distribute_ = false;
	bool alone_ = false;
	//! Random values have been written: the databases no longer hold the same.
	bool random_content_ = false;
	//! `continue`: the rest of the round of the innermost loop is left out.
	bool continue_ = false;
	//! Errors with one of these texts end the run of the file, and nothing is wrong.
	std::vector<std::string> ignored_errors_;
};

} // namespace skein::test
