#include "planner/worker_functions.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry.hpp"
#include "duckdb/main/connection.hpp"
#include "duckdb/main/database.hpp"

namespace skein {

using namespace duckdb;

std::shared_ptr<const WorkerFunctions> WorkerFunctions::List(DatabaseInstance &db) {
	auto result = std::make_shared<WorkerFunctions>();
	Connection connection(db);
	auto rows =
		connection.Query("SELECT function_name FROM duckdb_functions() UNION SELECT type_name FROM duckdb_types()");
	if (rows->HasError()) {
		rows->ThrowError("Cannot list the functions and types of a worker: ");
	}
	for (auto &row : *rows) {
		result->names_.insert(row.GetValue<string>(0));
	}
	return result;
}

bool WorkerFunctions::HasFunction(ClientContext &context, CatalogType type, const string &name) const {
	if (Contains(name)) {
		return true;
	}
	EntryLookupInfo lookup(type, name);
	return !Catalog::GetSystemCatalog(context).GetEntry(context, DEFAULT_SCHEMA, lookup, OnEntryNotFound::RETURN_NULL);
}

} // namespace skein
