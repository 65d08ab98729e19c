#include "last_query.hpp"

#include "session.hpp"

namespace skein::cli {
namespace {

//! The first row of a result, by column name. NULL and missing columns leave a field as it is.
class NamedRow {
public:
	explicit NamedRow(duckdb::MaterializedQueryResult &result) : result_(result) {
	}
	template <class T>
	void Read(const std::string &name, T &field) const {
		for (duckdb::idx_t column = 0; column < result_.ColumnCount(); column++) {
			auto value =
				result_.names[column] == name && result_.RowCount() > 0 ? result_.GetValue(column, 0) : duckdb::Value();
			if (!value.IsNull()) {
				field = value.GetValue<T>();
			}
		}
	}

private:
	duckdb::MaterializedQueryResult &result_;
};

} // namespace

LastQuery LastQuery::Read(duckdb::Connection &connection) {
	auto result = Query(connection, "SELECT * FROM skein_last_query()");
	NamedRow row(*result);
	LastQuery query;
	std::string reason;
	row.Read("distributed", query.distributed);
	row.Read("reason", reason);
	row.Read("stages", query.stages);
	row.Read("tasks", query.tasks);
	row.Read("workers", query.workers);
	row.Read("bytes_exchanged", query.bytes_exchanged);
	row.Read("rows_exchanged", query.rows_exchanged);
	row.Read("planning_ms", query.planning_ms);
	row.Read("total_ms", query.total_ms);
	row.Read("retries", query.retries);
	if (!reason.empty()) {
		query.reason = reason;
	}
	return query;
}

nlohmann::ordered_json LastQuery::ToJson() const {
	nlohmann::ordered_json json;
	json["distributed"] = distributed;
	json["reason"] = nullptr;
	if (reason) {
		json["reason"] = *reason;
	}
	json["stages"] = stages;
	json["tasks"] = tasks;
	json["workers"] = workers;
	json["bytes_exchanged"] = bytes_exchanged;
	json["rows_exchanged"] = rows_exchanged;
	json["planning_ms"] = planning_ms;
	json["total_ms"] = total_ms;
	json["retries"] = retries;
	return json;
}

} // namespace skein::cli
