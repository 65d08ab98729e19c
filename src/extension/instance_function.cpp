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

std::vector<ClusterWorker> AskWorkers(ClientContext &context, const TableFunctionInitInput &input,
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
	return cluster.coordinator->AskStatus(cluster.workers, settings.link.connect_timeout + ANSWER_TIMEOUT, tasks_of);
}

} // namespace skein
