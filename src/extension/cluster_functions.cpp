#include "extension/cluster_functions.hpp"

#include "duckdb/main/extension/extension_loader.hpp"
#include "explain/plan_json.hpp"
#include "extension/report_rows.hpp"
#include "extension/session.hpp"
#include "extension/skein_instance.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! How long a report waits for workers that have not yet said what they did.
constexpr std::chrono::seconds REPORT_TIMEOUT{5};
//! How long a worker may take to say how it is, once it is reached.
constexpr std::chrono::seconds ANSWER_TIMEOUT{2};

struct InstanceInfo final : public TableFunctionInfo {
	explicit InstanceInfo(duckdb::shared_ptr<SkeinInstance> instance_p) : instance(std::move(instance_p)) {
	}
	weak_ptr<SkeinInstance> instance;
};

struct InstanceData final : public TableFunctionData {
	explicit InstanceData(weak_ptr<SkeinInstance> instance_p) : instance(std::move(instance_p)) {
	}
	weak_ptr<SkeinInstance> instance;
};

using Columns = std::vector<std::pair<const char *, LogicalType>>;

void Declare(const Columns &columns, vector<LogicalType> &types, vector<string> &names) {
	for (auto &column : columns) {
		names.emplace_back(column.first);
		types.push_back(column.second);
	}
}

unique_ptr<FunctionData> WithInstance(TableFunctionBindInput &input) {
	return make_uniq<InstanceData>(input.info->Cast<InstanceInfo>().instance);
}

//! What the session's workers say of themselves; one that cannot be asked says why.
std::vector<ClusterWorker> AskWorkers(ClientContext &context, const TableFunctionInitInput &input) {
	auto instance = input.bind_data->Cast<InstanceData>().instance.lock();
	if (!instance) {
		throw InvalidInputException("this database is being closed");
	}
	auto settings = Settings::Read(context);
	Cluster cluster;
	try {
		cluster = instance->Resolve(settings);
	} catch (IOException &ex) {
		return {{settings.cluster, false, ErrorData(ex).RawMessage(), {}}};
	}
	if (!cluster.coordinator) {
		return {};
	}
	return cluster.coordinator->AskStatus(cluster.workers, settings.link.connect_timeout + ANSWER_TIMEOUT);
}

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
	return WithInstance(input);
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
	return WithInstance(input);
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
	for (auto &worker : AskWorkers(context, input)) {
		for (auto &query : worker.status.running_queries) {
			auto &row = running[{query.query, query.attempt}];
			row.workers++;
			row.running_tasks += query.running_tasks;
			row.waiting_tasks += query.waiting_tasks;
			row.age_micros = std::max(row.age_micros, query.age_micros);
		}
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

struct CancelData final : public TableFunctionData {
	CancelData(string query_p, weak_ptr<SkeinInstance> instance_p)
		: query(std::move(query_p)), instance(std::move(instance_p)) {
	}
	string query;
	weak_ptr<SkeinInstance> instance;
};

unique_ptr<FunctionData> BindCancel(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
									vector<string> &names) {
	Declare({{"query", LogicalType::VARCHAR}, {"cancelled", LogicalType::BOOLEAN}}, types, names);
	auto query = input.inputs[0].IsNull() ? string() : input.inputs[0].ToString();
	return make_uniq<CancelData>(std::move(query), input.info->Cast<InstanceInfo>().instance);
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

unique_ptr<FunctionData> BindStages(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
									vector<string> &names) {
	Declare({{"stage", LogicalType::BIGINT},
			 {"tasks", LogicalType::BIGINT},
			 {"in_session", LogicalType::BOOLEAN},
			 {"inputs", LogicalType::LIST(LogicalType::BIGINT)},
			 {"outputs", LogicalType::LIST(LogicalType::VARCHAR)},
			 {"ended_tasks", LogicalType::BIGINT},
			 {"output_rows", LogicalType::BIGINT},
			 {"output_bytes", LogicalType::BIGINT},
			 {"link_bytes", LogicalType::BIGINT},
			 {"slowest_ms", LogicalType::DOUBLE}},
			types, names);
	return make_uniq<TableFunctionData>();
}

vector<Value> StageRow(const StagePlan &stage, const std::vector<TaskReport> &tasks) {
	uint64_t ended = 0, rows = 0, bytes = 0, link_bytes = 0, slowest = 0;
	for (auto &task : tasks) {
		if (task.stage == stage.id) {
			ended++;
			auto sent = task.Sent();
			rows += sent.rows;
			bytes += sent.bytes;
			link_bytes += sent.link_bytes;
			slowest = std::max(slowest, task.wall_micros);
		}
	}
	vector<Value> inputs;
	for (auto &read : stage.inputs) {
		inputs.push_back(Number(read.stage));
	}
	vector<Value> outputs;
	for (auto &output : stage.outputs) {
		outputs.emplace_back(ExchangeKindName(output.kind));
	}
	return {Number(stage.id),
			Number(stage.tasks),
			Value::BOOLEAN(stage.in_session),
			Value::LIST(LogicalType::BIGINT, std::move(inputs)),
			Value::LIST(LogicalType::VARCHAR, std::move(outputs)),
			Number(ended),
			Number(rows),
			Number(bytes),
			Number(link_bytes),
			Value::DOUBLE(static_cast<double>(slowest) / 1000)};
}

unique_ptr<GlobalTableFunctionState> InitStages(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	auto last = Session::Get(context)->Last();
	if (!last.plan) {
		return result;
	}
	std::vector<TaskReport> tasks;
	if (last.run) {
		last.run->WaitEnded(REPORT_TIMEOUT);
		tasks = last.run->Stats().tasks;
	}
	for (auto &stage : last.plan->stages) {
		result->rows.push_back(StageRow(stage, tasks));
	}
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
	loader.RegisterFunction(TableFunction("skein_stages", {}, ReturnRows, BindStages, InitStages));
}

} // namespace skein
