#include "extension/table_functions.hpp"

#include "duckdb/main/extension/extension_loader.hpp"
#include "extension/cluster_functions.hpp"
#include "extension/instance_function.hpp"
#include "extension/session.hpp"

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

struct ServeData final : public InstanceData {
	ServeData(string address_p, weak_ptr<SkeinInstance> instance_p)
		: InstanceData(std::move(instance_p)), address(std::move(address_p)) {
	}
	string address;
};

unique_ptr<FunctionData> BindServe(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
								   vector<string> &names) {
	names = {"address"};
	types = {LogicalType::VARCHAR};
	return make_uniq<ServeData>(input.inputs[0].ToString(), input.info->Cast<InstanceInfo>().instance);
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
	RegisterOperatorsFunction(db);
	RegisterClusterFunctions(db, instance);
	RegisterTasksFunctions(db, instance);
	TableFunction serve("skein_serve", {LogicalType::VARCHAR}, ReturnRows, BindServe, InitServe);
	serve.function_info = make_shared_ptr<InstanceInfo>(std::move(instance));
	loader.RegisterFunction(serve);
}

} // namespace skein
