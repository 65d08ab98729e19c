#include "extension/cluster_functions.hpp"

#include "duckdb/main/extension/extension_loader.hpp"
#include "extension/instance_function.hpp"
#include "extension/session.hpp"

namespace skein {

using namespace duckdb;

namespace {

unique_ptr<FunctionData> BindCluster(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
									 vector<string> &names) {
	Declare({{"address", LogicalType::VARCHAR},
			 {"state", LogicalType::VARCHAR},
			 {"reason", LogicalType::VARCHAR},
			 {"version", LogicalType::VARCHAR},
			 {"duckdb_version", LogicalType::VARCHAR},
			 {"slots", LogicalType::BIGINT},
			 {"threads", LogicalType::BIGINT},
			 {"queries", LogicalType::BIGINT},
			 {"running_tasks", LogicalType::BIGINT},
			 {"waiting_tasks", LogicalType::BIGINT},
			 {"finished_tasks", LogicalType::BIGINT},
			 {"failed_tasks", LogicalType::BIGINT},
			 {"memory_used", LogicalType::BIGINT},
			 {"memory_limit", LogicalType::BIGINT},
			 {"spilled", LogicalType::BIGINT},
			 {"output_bytes", LogicalType::BIGINT},
			 {"link_bytes", LogicalType::BIGINT},
			 {"exchange_sent_bytes", LogicalType::BIGINT},
			 {"exchange_received_bytes", LogicalType::BIGINT}},
			types, names);
	return InstanceOf(input);
}

unique_ptr<GlobalTableFunctionState> InitCluster(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	for (auto &worker : AskWorkers(context, input)) {
		if (!worker.has_answered) {
			vector<Value> row{Value(worker.address), Value("unreachable"), TextOrNull(worker.reason)};
			row.resize(5, Value(LogicalType::VARCHAR));
			row.resize(19, Value(LogicalType::BIGINT));
			result->rows.push_back(std::move(row));
			continue;
		}
		auto &status = worker.status;
		result->rows.push_back(
			{Value(worker.address), Value(status.stopping ? "stopping" : "ready"), TextOrNull(""),
			 Value(status.skein_version), Value(status.engine_version), Number(status.slots), Number(status.threads),
			 Number(status.running_queries.size()), Number(status.running_tasks), Number(status.waiting_tasks),
			 Number(status.finished_tasks), Number(status.failed_tasks), Number(status.memory_used),
			 Number(status.memory_limit), Number(status.spilled), Number(status.output_bytes),
			 Number(status.link_bytes), Number(status.exchange_sent_bytes), Number(status.exchange_received_bytes)});
	}
	return result;
}

unique_ptr<FunctionData> BindQueries(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
									 vector<string> &names) {
	Declare({{"query", LogicalType::VARCHAR},
			 {"is_own", LogicalType::BOOLEAN},
			 {"state", LogicalType::VARCHAR},
			 {"attempt", LogicalType::BIGINT},
			 {"workers", LogicalType::BIGINT},
			 {"running_tasks", LogicalType::BIGINT},
			 {"waiting_tasks", LogicalType::BIGINT},
			 {"age_ms", LogicalType::DOUBLE}},
			types, names);
	return InstanceOf(input);
}

//! One query, over all workers.
struct QueryRow {
	uint64_t workers = 0;
	uint64_t running_tasks = 0;
	uint64_t waiting_tasks = 0;
	uint64_t age_micros = 0;
};

unique_ptr<GlobalTableFunctionState> InitQueries(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	auto last = Session::Get(context)->Last();
	if (last.run) {
		// It is over for the session; a worker may still be freeing what was left of it.
		last.run->WaitEnded(REPORT_TIMEOUT);
	}
	std::map<AttemptKey, QueryRow> running;
	uint64_t unreachable = 0;
	for (auto &worker : AskAboutQueries(context, input)) {
		unreachable += worker.has_answered ? 0 : 1;
		for (auto &query : worker.status.running_queries) {
			auto &row = running[{query.query, query.attempt}];
			row.workers++;
			row.running_tasks += query.running_tasks;
			row.waiting_tasks += query.waiting_tasks;
			row.age_micros = std::max(row.age_micros, query.age_micros);
		}
	}
	if (unreachable > 0) {
		// Nobody knows what runs there.
		vector<Value> row{Value(LogicalType::VARCHAR), Value(LogicalType::BOOLEAN), Value("unreachable"),
						  Value(LogicalType::BIGINT), Number(unreachable)};
		row.resize(7, Value(LogicalType::BIGINT));
		row.emplace_back(LogicalType::DOUBLE);
		result->rows.push_back(std::move(row));
	}
	auto own = last.run ? last.run->Id() : string();
	auto is_running = false;
	for (auto &[key, row] : running) {
		is_running = is_running || key.query == own;
		result->rows.push_back({Value(key.query), Value::BOOLEAN(key.query == own), Value("running"),
								Number(key.attempt), Number(row.workers), Number(row.running_tasks),
								Number(row.waiting_tasks), Value::DOUBLE(static_cast<double>(row.age_micros) / 1000)});
	}
	if (last.run && !is_running) {
		result->rows.push_back({Value(own), Value::BOOLEAN(true), Value(last.run->HasFailed() ? "failed" : "finished"),
								Number(last.run->Retries()), Number(last.workers), Number(0), Number(0),
								Value::DOUBLE(last.total_ms)});
	}
	return result;
}

struct CancelData final : public InstanceData {
	CancelData(string query_p, weak_ptr<SkeinInstance> instance_p)
		: InstanceData(std::move(instance_p)), query(std::move(query_p)) {
	}
	string query;
};

unique_ptr<FunctionData> BindCancel(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
									vector<string> &names) {
	Declare({{"query", LogicalType::VARCHAR}, {"cancelled", LogicalType::BOOLEAN}}, types, names);
	return make_uniq<CancelData>(QueryName(input.inputs[0]), input.info->Cast<InstanceInfo>().instance);
}

unique_ptr<GlobalTableFunctionState> InitCancel(ClientContext &context, TableFunctionInitInput &input) {
	auto &data = input.bind_data->Cast<CancelData>();
	auto instance = data.instance.lock();
	if (!instance) {
		throw InvalidInputException("this database is being closed");
	}
	auto settings = Settings::Read(context);
	auto cluster = instance->Resolve(settings);
	auto timeout = settings.link.connect_timeout + ANSWER_TIMEOUT;
	auto cancelled = cluster.coordinator && cluster.coordinator->Cancel(data.query, cluster.workers, timeout);
	auto result = make_uniq<ReportRows>();
	result->rows.push_back({Value(data.query), Value::BOOLEAN(cancelled)});
	return result;
}

} // namespace

void RegisterClusterFunctions(DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance) {
	ExtensionLoader loader(db, "skein");
	auto info = make_shared_ptr<InstanceInfo>(std::move(instance));
	TableFunction cluster("skein_cluster", {}, ReturnRows, BindCluster, InitCluster);
	cluster.function_info = info;
	loader.RegisterFunction(cluster);
	TableFunction queries("skein_queries", {}, ReturnRows, BindQueries, InitQueries);
	queries.function_info = info;
	loader.RegisterFunction(queries);
	TableFunction cancel("skein_cancel", {LogicalType::VARCHAR}, ReturnRows, BindCancel, InitCancel);
	cancel.function_info = info;
	loader.RegisterFunction(cancel);
}

} // namespace skein
