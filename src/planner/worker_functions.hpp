#pragma once

#include "duckdb/common/enums/catalog_type.hpp"
#include "duckdb/main/client_context.hpp"

#include <memory>
#include <set>
#include <string>

namespace skein {

//! The names of the functions and types that every worker has: those of a DuckDB into which nothing but Skein was
//! loaded. A value.
class WorkerFunctions {
public:
	//! Lists the functions and types of an instance that is like a worker's.
	static std::shared_ptr<const WorkerFunctions> List(duckdb::DatabaseInstance &db);

	bool Contains(const std::string &name) const {
		return names_.count(name) > 0;
	}
	//! Whether a worker has this function or type of the session: one of DuckDB's own, or one that is not in the system
	//! catalog: a function that only DuckDB's binders and optimizers make, a user's name for one of DuckDB's types.
	bool HasFunction(duckdb::ClientContext &context, duckdb::CatalogType type, const std::string &name) const;

private:
	std::set<std::string> names_;
};

} // namespace skein
