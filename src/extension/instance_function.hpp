#pragma once

#include "extension/report_rows.hpp"
#include "extension/skein_instance.hpp"

#include <utility>
#include <vector>

namespace skein {

//! How long a report waits for workers that have not yet said what they did.
constexpr std::chrono::seconds REPORT_TIMEOUT{5};
//! How long a worker that is reached may take to answer.
constexpr std::chrono::seconds ANSWER_TIMEOUT{2};

//! What a table function that needs the instance is registered with; the instance may go before it.
struct InstanceInfo final : public duckdb::TableFunctionInfo {
	explicit InstanceInfo(duckdb::shared_ptr<SkeinInstance> instance_p) : instance(std::move(instance_p)) {
	}
	duckdb::weak_ptr<SkeinInstance> instance;
};

//! What one that is called is bound to.
struct InstanceData : public duckdb::TableFunctionData {
	explicit InstanceData(duckdb::weak_ptr<SkeinInstance> instance_p) : instance(std::move(instance_p)) {
	}
	duckdb::weak_ptr<SkeinInstance> instance;
};

//! The instance that a function was registered with.
duckdb::unique_ptr<duckdb::FunctionData> InstanceOf(duckdb::TableFunctionBindInput &input);

using Columns = std::vector<std::pair<const char *, duckdb::LogicalType>>;
void Declare(const Columns &columns, duckdb::vector<duckdb::LogicalType> &types, duckdb::vector<duckdb::string> &names);

//! The name of a query that a call is about. Throws BinderException if it is none.
duckdb::string QueryName(const duckdb::Value &argument);

//! What the session's workers say of themselves; one that cannot be asked says why, in the time that dialling it takes.
std::vector<ClusterWorker> AskWorkers(duckdb::ClientContext &context, const duckdb::TableFunctionInitInput &input);
//! What they say of what runs on them, with the tasks of the query `tasks_of`, if it is not empty. Who has not answered
//! within ANSWER_TIMEOUT is not waited for.
std::vector<ClusterWorker> AskAboutQueries(duckdb::ClientContext &context, const duckdb::TableFunctionInitInput &input,
										   const std::string &tasks_of = "");

} // namespace skein
