#include "extension/instance_function.hpp"

namespace skein {

using namespace duckdb;

unique_ptr<FunctionData> InstanceOf(TableFunctionBindInput &input) {
	return make_uniq<InstanceData>(input.info->Cast<InstanceInfo>().instance);
}

void Declare(const Columns &columns, vector<LogicalType> &types, vector<string> &names) {
	for (auto &column : columns) {
		names.emplace_back(column.first);
		types.push_back(column.second);
	}
}

string QueryName(const Value &argument) {
	auto result = argument.IsNull() ? string() : argument.ToString();
	if (result.empty()) {
		throw BinderException("which query? skein_queries() has the names of those that run");
	}
	return result;
}

namespace {

std::vector<ClusterWorker> Ask(ClientContext &context, const TableFunctionInitInput &input, bool dial_slowly,
							   const std::string &tasks_of) {
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
	std::chrono::milliseconds timeout = ANSWER_TIMEOUT;
	if (dial_slowly) {
		timeout += settings.link.connect_timeout;
	}
	return cluster.coordinator->AskStatus(cluster.workers, timeout, tasks_of);
}

} // namespace

std::vector<ClusterWorker> AskWorkers(ClientContext &context, const TableFunctionInitInput &input) {
	return Ask(context, input, true, "");
}

std::vector<ClusterWorker> AskAboutQueries(ClientContext &context, const TableFunctionInitInput &input,
										   const std::string &tasks_of) {
	return Ask(context, input, false, tasks_of);
}

} // namespace skein
