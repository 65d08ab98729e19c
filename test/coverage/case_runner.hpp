#pragma once

#include "case_file.hpp"
#include "inventory.hpp"
#include "test/support/oracle.hpp"
#include "test/support/sql_test_database.hpp"
#include "test/support/watchdog.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace skein::test {

//! How one case ran.
struct CoverageCell {
	enum class Place {
		//! What the section is about ran as several tasks.
		DISTRIBUTED,
		//! It ran in one task, in the head or in the session; other parts of the query as several tasks.
		ONE_TASK,
		//! Nothing of the query left the session.
		LOCAL,
	};
	Place place = Place::LOCAL;
	//! The steps; empty if nothing was distributed.
	std::string how;
	//! Why not more; may be empty.
	std::string reason;
};

//! Runs cases and compares their answers with those of plain DuckDB; reports on stderr what is wrong.
class CaseRunner {
public:
	//! Tables lie in `folder`, which is masked in what is returned. `trace`: say what is run.
	CaseRunner(std::string folder, bool trace);

	//! Makes the tables that cases use, as this file of SQL says.
	void MakeTables(const std::string &file);
	//! One cell per column.
	std::vector<CoverageCell> Run(const CoverageSection &section, const CoverageCase &one);
	//! What was in the plans of all cases so far, as DuckDB alone makes them.
	const Inventory &Seen() const {
		return seen_;
	}
	//! What was in the plan of the last case.
	const Inventory &SeenLast() const {
		return seen_last_;
	}
	duckdb::Connection &Connection() {
		return *database_.connection;
	}
	size_t Failures() const {
		return failures_;
	}

private:
	using Settings = std::vector<std::pair<std::string, std::string>>;

	CoverageCell RunColumn(const CoverageSection &section, const CoverageColumn &column, const CoverageCase &one);
	//! Runs the case without Skein; looks at its plan.
	Outcome RunAlone(const CoverageCase &one, const std::string &sql);
	//! Runs the case with these settings, and compares with what it gave alone.
	CoverageCell RunDistributed(const CoverageSection &section, const CoverageCase &one, const std::string &sql,
								const Outcome &alone, const Settings &settings);
	//! What the session knows of its last query, if that was planned after `since`. `focus`: as in a section.
	CoverageCell Look(const CoverageSection &section, const std::vector<std::string> &focus,
					  std::chrono::steady_clock::time_point since);
	//! Adds what is in DuckDB's own plan to seen_last_.
	void AddPlan(const std::string &sql);
	std::string After(const CoverageCase &one) const;
	//! A query that hangs becomes an error.
	Outcome RunWatched(const std::string &sql, const std::string &what);
	void Execute(const std::string &sql);
	void Set(const std::string &name, const std::string &value);
	std::string Mask(std::string text) const;
	void Fail(const CoverageCase &one, const std::string &sql, const std::string &what);

	const std::string folder_;
	const bool trace_;
	SqlTestDatabase database_;
	Oracle oracle_;
	Watchdog watchdog_;
	Inventory seen_;
	Inventory seen_last_;
	size_t failures_ = 0;
};

} // namespace skein::test
