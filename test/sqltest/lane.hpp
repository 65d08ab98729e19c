#pragma once

#include "test_folder.hpp"

#include "test/support/oracle.hpp"
#include "test/support/watchdog.hpp"

#include "duckdb.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skein::test {

//! What one statement gave in one lane.
struct LaneOutcome : Outcome {
	//! Whether Skein distributed it, and if not, why; nothing if there was no query in it for Skein to see.
	struct Plan {
		bool distributed = false;
		std::string reason;
	};
	std::optional<Plan> plan;
	//! Whether it took too long and was interrupted.
	bool timed_out = false;
};

//! One of the databases that a test file runs on in lock-step: plain DuckDB, or DuckDB with Skein.
//!
//! Has the file's main connection and those that it names. Not thread-safe.
class Lane {
public:
	struct Options {
		//! Also the name of its folder.
		std::string name;
		bool with_skein = false;
		//! DuckDB's and Skein's settings; without Skein its settings are left out.
		std::vector<std::pair<std::string, std::string>> settings;
		//! Where extensions that are not built in lie.
		std::string extension_dir;
	};
	//! `folder` and `watchdog` outlive the lane. Opens a database in memory.
	Lane(TestFolder &folder, Watchdog &watchdog, Options options);
	~Lane();

	//! Runs SQL on the connection of a name, by default on the main one. `what` describes it for the watchdog.
	LaneOutcome Run(const std::string &connection, const std::string &sql, const std::string &what);
	//! As Run(), without Skein.
	LaneOutcome RunAlone(const std::string &connection, const std::string &sql, const std::string &what);
	//! From here on statements are distributed, or not.
	void Distribute(bool on);

	//! Opens another database with new connections, for `load`. The old one is closed; a file that is not opened read
	//! only is removed before. Throws if that fails.
	void Load(const std::string &path, bool read_only, const std::string &storage_version);
	//! Opens the same database again, with the settings that it has; extensions too if `with_extensions`.
	void Restart(bool with_extensions);
	//! Replaces the main connection.
	void Reconnect();
	//! Makes an extension available that is built in or lies in the folder of extensions; false if there is none.
	bool LoadExtension(const std::string &name);

	duckdb::Connection &Connection(const std::string &name);

private:
	void Open();
	void Close();
	duckdb::unique_ptr<duckdb::Connection> Connect();
	void Set(duckdb::Connection &connection, const std::string &name, const std::string &value);
	void SetMode(duckdb::Connection &connection);

	TestFolder &folder_;
	Watchdog &watchdog_;
	const Options options_;
	duckdb::DBConfig config_;
	std::string path_;
	std::set<std::string> extensions_;
	bool distribute_ = true;
	duckdb::unique_ptr<duckdb::DuckDB> database_;
	duckdb::unique_ptr<duckdb::Connection> main_;
	std::map<std::string, duckdb::unique_ptr<duckdb::Connection>> named_;
};

} // namespace skein::test
