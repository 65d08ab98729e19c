#include "extension/table_functions.hpp"

#include "duckdb/main/extension/extension_loader.hpp"
#include "extension/cluster_functions.hpp"
#include "extension/report_rows.hpp"
#include "extension/session.hpp"
#include "extension/skein_instance.hpp"

namespace skein {

using namespace duckdb;

void ReturnRows(ClientContext &context, TableFunctionInput &input, DataChunk &output) {
	auto &state = input.global_state->Cast<ReportRows>();
	idx_t count = 0;
	for (; state.next < state.rows.size() && count < STANDARD_VECTOR_SIZE; state.next++, count++) {
		for (idx_t column = 0; column < output.ColumnCount(); column++) {
			output.SetValue(column, count, state.rows[state.next][column]);
		}
	}
	output.SetCardinality(count);
}

namespace {

//! How long a report waits for workers that have not yet said what they did.
constexpr std::chrono::seconds REPORT_TIMEOUT{5};

unique_ptr<FunctionData> BindLastQuery(ClientContext &context, TableFunctionBindInput &input,
									   vector<LogicalType> &types, vector<string> &names) {
	auto add = [&](const char *name, const LogicalType &type) {
		names.emplace_back(name);
		types.push_back(type);
	};
	add("distributed", LogicalType::BOOLEAN);
	add("reason", LogicalType::VARCHAR);
	add("stages", LogicalType::BIGINT);
	add("tasks", LogicalType::BIGINT);
	add("workers", LogicalType::BIGINT);
	add("bytes_exchanged", LogicalType::BIGINT);
	add("rows_exchanged", LogicalType::BIGINT);
	add("planning_ms", LogicalType::DOUBLE);
	add("total_ms", LogicalType::DOUBLE);
	add("retries", LogicalType::BIGINT);
	return make_uniq<TableFunctionData>();
}

unique_ptr<GlobalTableFunctionState> InitLastQuery(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	auto last = Session::Get(context)->Last();
	QueryStats stats;
	uint32_t retries = 0;
	if (last.run) {
		last.run->WaitEnded(REPORT_TIMEOUT);
		stats = last.run->Stats();
		retries = last.run->Retries();
	}
	result->rows.push_back(
		{Value::BOOLEAN(last.distributed), TextOrNull(last.reason), Number(last.plan ? last.plan->stages.size() : 0),
		 Number(last.plan ? last.plan->TaskCount() : 0), Number(last.workers), Number(stats.bytes_exchanged),
		 Number(stats.rows_exchanged), Value::DOUBLE(last.planning_ms), Value::DOUBLE(last.total_ms), Number(retries)});
	return result;
}

unique_ptr<FunctionData> BindTasks(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
								   vector<string> &names) {
	names = {"stage",	"task",		"worker", "output_rows",   "output_bytes", "link_bytes",
			 "wall_ms", "queue_ms", "state",  "units_planned", "units_read"};
	types = {LogicalType::BIGINT,  LogicalType::BIGINT, LogicalType::VARCHAR, LogicalType::BIGINT,
			 LogicalType::BIGINT,  LogicalType::BIGINT, LogicalType::DOUBLE,  LogicalType::DOUBLE,
			 LogicalType::VARCHAR, LogicalType::BIGINT, LogicalType::BIGINT};
	return make_uniq<TableFunctionData>();
}

//! What the task was dealt of the leaves whose units tasks share.
uint64_t PlannedUnits(const DistributedPlan &plan, const TaskReport &task) {
	uint64_t result = 0;
	for (auto &leaf : plan.stages[task.stage - 1].shared_leaves) {
		result += leaf.units[task.task];
	}
	return result;
}

unique_ptr<GlobalTableFunctionState> InitTasks(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	auto last = Session::Get(context)->Last();
	if (last.run) {
		last.run->WaitEnded(REPORT_TIMEOUT);
		for (auto &task : last.run->Stats().tasks) {
			auto sent = task.Sent();
			result->rows.push_back(
				{Number(task.stage), Number(task.task), Value(task.worker), Number(sent.rows), Number(sent.bytes),
				 Number(sent.link_bytes), Value::DOUBLE(static_cast<double>(task.wall_micros) / 1000),
				 Value::DOUBLE(static_cast<double>(task.queue_micros) / 1000), Value(StateName(task.state)),
				 task.units ? Number(PlannedUnits(*last.plan, task)) : Value(LogicalType::BIGINT),
				 task.units ? Number(task.units->read) : Value(LogicalType::BIGINT)});
		}
	}
	return result;
}

struct ServeInfo final : public TableFunctionInfo {
	explicit ServeInfo(duckdb::shared_ptr<SkeinInstance> instance_p) : instance(std::move(instance_p)) {
	}
	weak_ptr<SkeinInstance> instance;
};

struct ServeData final : public TableFunctionData {
	string address;
	weak_ptr<SkeinInstance> instance;
};

unique_ptr<FunctionData> BindServe(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
								   vector<string> &names) {
	names = {"address"};
	types = {LogicalType::VARCHAR};
	auto result = make_uniq<ServeData>();
	result->address = input.inputs[0].ToString();
	result->instance = input.info->Cast<ServeInfo>().instance;
	return result;
}

unique_ptr<GlobalTableFunctionState> InitServe(ClientContext &context, TableFunctionInitInput &input) {
	auto &data = input.bind_data->Cast<ServeData>();
	auto instance = data.instance.lock();
	if (!instance) {
		throw InvalidInputException("this database is being closed");
	}
	auto result = make_uniq<ReportRows>();
	result->rows.push_back({Value(instance->Serve(data.address))});
	return result;
}

} // namespace

void RegisterTableFunctions(DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance) {
	ExtensionLoader loader(db, "skein");
	loader.RegisterFunction(TableFunction("skein_last_query", {}, ReturnRows, BindLastQuery, InitLastQuery));
	loader.RegisterFunction(TableFunction("skein_tasks", {}, ReturnRows, BindTasks, InitTasks));
	RegisterOperatorsFunction(db);
	RegisterClusterFunctions(db, instance);
	TableFunction serve("skein_serve", {LogicalType::VARCHAR}, ReturnRows, BindServe, InitServe);
	serve.function_info = make_shared_ptr<ServeInfo>(std::move(instance));
	loader.RegisterFunction(serve);
}

} // namespace skein
