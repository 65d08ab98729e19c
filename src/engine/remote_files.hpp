#pragma once

#include "duckdb.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace duckdb {
class LogicalGet;
} // namespace duckdb

namespace skein {

//! What tasks need beside a plan to open files of other machines as the session does. A value.
struct RemoteAccess {
	//! Settings of extensions that the session has made; for the workers that know them.
	std::vector<std::pair<std::string, std::string>> settings;
	//! Its secrets for these files, as GiveSecrets() takes them; empty if there are none.
	std::string secrets;
};

//! The files that one query reads through an extension of DuckDB, from object stores and web servers.
//!
//! Used by the query's planner, on one thread.
class RemoteFiles {
public:
	//! `reason_against`: why not every worker has an extension; empty if all have it. Asked once for each.
	RemoteFiles(duckdb::ClientContext &context, std::function<std::string(const std::string &)> reason_against);

	//! Why tasks cannot open the files of a scan; empty if they can, or if none is remote.
	std::string ReasonAgainst(const duckdb::LogicalGet &scan);
	//! What the tasks need for the scans for which there was no reason; nothing if these read no remote file.
	std::optional<RemoteAccess> Access() const;

private:
	duckdb::ClientContext &context_;
	const std::function<std::string(const std::string &)> reason_against_;
	//! By extension.
	std::map<std::string, std::string> reasons_;
	//! Of the scans for which there was no reason.
	std::set<std::string> paths_;
};

//! The extension of DuckDB that opens a path; empty if it is none of another machine.
std::string ExtensionFor(const std::string &path);

} // namespace skein
