#include "duckdb/main/extension/extension_loader.hpp"
#include "explain/plan_json.hpp"
#include "extension/instance_function.hpp"
#include "extension/session.hpp"
#include "extension/table_functions.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! About which query; empty: the session's last one.
struct QueryData final : public InstanceData {
	QueryData(string query_p, weak_ptr<SkeinInstance> instance_p)
		: InstanceData(std::move(instance_p)), query(std::move(query_p)) {
	}
	string query;
};

unique_ptr<FunctionData> QueryOf(TableFunctionBindInput &input) {
	auto query = input.inputs.empty() ? string() : QueryName(input.inputs[0]);
	return make_uniq<QueryData>(std::move(query), input.info->Cast<InstanceInfo>().instance);
}

//! The session's last query, if the call is about that one.
std::optional<LastQuery> LastIfMeant(ClientContext &context, const string &query) {
	auto last = Session::Get(context)->Last();
	if (!query.empty() && (!last.run || last.run->Id() != query)) {
		return std::nullopt;
	}
	if (last.run) {
		last.run->WaitEnded(REPORT_TIMEOUT);
	}
	return last;
}

Value Millis(uint64_t micros) {
	return Value::DOUBLE(static_cast<double>(micros) / 1000);
}

//! What the workers know of a task of a query that runs.
struct SeenTask {
	string worker;
	WorkerTaskStatus status;
};

//! By stage and task; those who have not answered become `unreachable`.
std::vector<SeenTask> SeenTasks(ClientContext &context, const TableFunctionInitInput &input, const string &query,
								std::vector<string> &unreachable) {
	std::vector<SeenTask> result;
	for (auto &worker : AskAboutQueries(context, input, query)) {
		if (!worker.has_answered) {
			unreachable.push_back(worker.address);
		}
		for (auto &task : worker.status.tasks) {
			result.push_back({worker.address, task});
		}
	}
	std::stable_sort(result.begin(), result.end(), [](auto &left, auto &right) {
		return std::pair(left.status.stage, left.status.task) < std::pair(right.status.stage, right.status.task);
	});
	return result;
}

unique_ptr<FunctionData> BindTasks(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
								   vector<string> &names) {
	Declare({{"stage", LogicalType::BIGINT},
			 {"task", LogicalType::BIGINT},
			 {"worker", LogicalType::VARCHAR},
			 {"output_rows", LogicalType::BIGINT},
			 {"output_bytes", LogicalType::BIGINT},
			 {"link_bytes", LogicalType::BIGINT},
			 {"wall_ms", LogicalType::DOUBLE},
			 {"queue_ms", LogicalType::DOUBLE},
			 {"state", LogicalType::VARCHAR},
			 {"units_planned", LogicalType::BIGINT},
			 {"units_read", LogicalType::BIGINT}},
			types, names);
	return QueryOf(input);
}

//! What the task was dealt of the leaves whose units tasks share.
uint64_t PlannedUnits(const DistributedPlan &plan, const TaskReport &task) {
	uint64_t result = 0;
	for (auto &leaf : plan.stages[task.stage - 1].shared_leaves) {
		result += leaf.units[task.task];
	}
	return result;
}

vector<Value> TaskRow(const DistributedPlan &plan, const TaskReport &task) {
	auto sent = task.Sent();
	return {Number(task.stage),
			Number(task.task),
			Value(task.worker),
			Number(sent.rows),
			Number(sent.bytes),
			Number(sent.link_bytes),
			Millis(task.wall_micros),
			Millis(task.queue_micros),
			Value(StateName(task.state)),
			task.units ? Number(PlannedUnits(plan, task)) : Value(LogicalType::BIGINT),
			task.units ? Number(task.units->read) : Value(LogicalType::BIGINT)};
}

vector<Value> TaskRow(const SeenTask &seen) {
	auto &task = seen.status;
	return {Number(task.stage),
			Number(task.task),
			Value(seen.worker),
			Number(task.output_rows),
			Number(task.output_bytes),
			Number(task.link_bytes),
			Millis(task.wall_micros),
			task.queue_micros ? Millis(*task.queue_micros) : Value(LogicalType::DOUBLE),
			Value(task.state),
			Value(LogicalType::BIGINT),
			task.units_read ? Number(*task.units_read) : Value(LogicalType::BIGINT)};
}

unique_ptr<GlobalTableFunctionState> InitTasks(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	auto &query = input.bind_data->Cast<QueryData>().query;
	if (auto last = LastIfMeant(context, query)) {
		if (last->run) {
			for (auto &task : last->run->Stats().tasks) {
				result->rows.push_back(TaskRow(*last->plan, task));
			}
		}
		return result;
	}
	std::vector<string> unreachable;
	for (auto &task : SeenTasks(context, input, query, unreachable)) {
		result->rows.push_back(TaskRow(task));
	}
	for (auto &worker : unreachable) {
		vector<Value> row{Value(LogicalType::BIGINT), Value(LogicalType::BIGINT), Value(worker)};
		row.resize(6, Value(LogicalType::BIGINT));
		row.resize(8, Value(LogicalType::DOUBLE));
		row.emplace_back("unreachable");
		row.resize(11, Value(LogicalType::BIGINT));
		result->rows.push_back(std::move(row));
	}
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
	return QueryOf(input);
}

//! The tasks of a stage, added up.
struct StageSums {
	uint64_t tasks = 0;
	uint64_t ended = 0;
	uint64_t rows = 0;
	uint64_t bytes = 0;
	uint64_t link_bytes = 0;
	uint64_t slowest_micros = 0;

	vector<Value> Row(uint32_t stage, uint64_t of_tasks, bool in_session, vector<Value> inputs, Value outputs) const {
		return {Number(stage),
				Number(of_tasks),
				Value::BOOLEAN(in_session),
				Value::LIST(LogicalType::BIGINT, std::move(inputs)),
				std::move(outputs),
				Number(ended),
				Number(rows),
				Number(bytes),
				Number(link_bytes),
				Millis(slowest_micros)};
	}
};

vector<Value> StageRow(const StagePlan &stage, const std::vector<TaskReport> &tasks) {
	StageSums sums;
	for (auto &task : tasks) {
		if (task.stage == stage.id) {
			sums.ended++;
			auto sent = task.Sent();
			sums.rows += sent.rows;
			sums.bytes += sent.bytes;
			sums.link_bytes += sent.link_bytes;
			sums.slowest_micros = std::max(sums.slowest_micros, task.wall_micros);
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
	return sums.Row(stage.id, stage.tasks, stage.in_session, std::move(inputs),
					Value::LIST(LogicalType::VARCHAR, std::move(outputs)));
}

//! A stage for each one that a worker has tasks of. How its rows are dealt only its session knows.
void AddSeenStages(const std::vector<SeenTask> &tasks, ReportRows &result) {
	std::map<uint32_t, StageSums> stages;
	std::map<uint32_t, std::vector<uint32_t>> inputs;
	for (auto &seen : tasks) {
		auto &task = seen.status;
		auto &sums = stages[task.stage];
		sums.tasks++;
		sums.ended += task.queue_micros ? 1 : 0;
		sums.rows += task.output_rows;
		sums.bytes += task.output_bytes;
		sums.link_bytes += task.link_bytes;
		sums.slowest_micros = std::max(sums.slowest_micros, task.wall_micros);
		inputs[task.stage] = task.inputs;
	}
	for (auto &[stage, sums] : stages) {
		vector<Value> read;
		for (auto input : inputs[stage]) {
			read.push_back(Number(input));
		}
		result.rows.push_back(
			sums.Row(stage, sums.tasks, false, std::move(read), Value(LogicalType::LIST(LogicalType::VARCHAR))));
	}
}

unique_ptr<GlobalTableFunctionState> InitStages(ClientContext &context, TableFunctionInitInput &input) {
	auto result = make_uniq<ReportRows>();
	auto &query = input.bind_data->Cast<QueryData>().query;
	if (auto last = LastIfMeant(context, query)) {
		if (last->plan) {
			auto tasks = last->run ? last->run->Stats().tasks : std::vector<TaskReport>();
			for (auto &stage : last->plan->stages) {
				result->rows.push_back(StageRow(stage, tasks));
			}
		}
		return result;
	}
	std::vector<string> unreachable;
	AddSeenStages(SeenTasks(context, input, query, unreachable), *result);
	return result;
}

} // namespace

void RegisterTasksFunctions(DatabaseInstance &db, duckdb::shared_ptr<SkeinInstance> instance) {
	ExtensionLoader loader(db, "skein");
	auto info = make_shared_ptr<InstanceInfo>(std::move(instance));
	auto add = [&](const char *name, table_function_bind_t bind, table_function_init_global_t init) {
		TableFunctionSet functions(name);
		for (auto &arguments : {vector<LogicalType>(), vector<LogicalType>{LogicalType::VARCHAR}}) {
			TableFunction function(name, arguments, ReturnRows, bind, init);
			function.function_info = info;
			functions.AddFunction(std::move(function));
		}
		loader.RegisterFunction(std::move(functions));
	};
	add("skein_stages", BindStages, InitStages);
	add("skein_tasks", BindTasks, InitTasks);
}

} // namespace skein
