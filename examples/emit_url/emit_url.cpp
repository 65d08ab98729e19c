#include "emit_url.hpp"

#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

using namespace duckdb;

namespace {

struct EmitUrlData final : TableFunctionData {
	int64_t first = 0;
	int64_t last = 0;
};

struct EmitUrlState final : GlobalTableFunctionState {
	int64_t emitted = 0;
};

unique_ptr<FunctionData> Bind(ClientContext &, TableFunctionBindInput &input, vector<LogicalType> &types,
							  vector<string> &names) {
	types = {LogicalType::BIGINT, LogicalType::VARCHAR};
	names = {"n", "url"};
	auto data = make_uniq<EmitUrlData>();
	auto first = input.named_parameters.find("first");
	data->first = first == input.named_parameters.end() ? 0 : first->second.GetValue<int64_t>();
	data->last = input.inputs[0].GetValue<int64_t>();
	return data;
}

unique_ptr<GlobalTableFunctionState> Start(ClientContext &, TableFunctionInitInput &) {
	return make_uniq<EmitUrlState>();
}

void Scan(ClientContext &context, TableFunctionInput &input, DataChunk &output) {
	auto &data = input.bind_data->Cast<EmitUrlData>();
	auto &emitted = input.global_state->Cast<EmitUrlState>().emitted;
	auto task = skein::RunningTask::In(context);
	idx_t rows = 0;
	for (; rows < STANDARD_VECTOR_SIZE && data.first + emitted < data.last; rows++, emitted++) {
		output.SetValue(0, rows, Value::BIGINT(data.first + emitted));
		output.SetValue(1, rows, task ? Value(task->worker) : Value());
	}
	output.SetCardinality(rows);
}

} // namespace

void RegisterEmitUrl(DatabaseInstance &db) {
	TableFunction function("emit_url", {LogicalType::BIGINT}, Scan, Bind, Start);
	function.named_parameters["first"] = LogicalType::BIGINT;
	function.named_parameters["label"] = LogicalType::VARCHAR;
	ExtensionLoader(db, "emit_url").RegisterFunction(function);
}

namespace {

class EmitUrlEstimate final : public skein::LeafEstimate {
public:
	EmitUrlEstimate(ClientContext &context, LogicalGet &get)
		: context_(context), get_(get), rows_(get.parameters[0].GetValue<size_t>()) {
	}
	skein::TaskCount Tasks() const override {
		return {.desired = rows_, .maximum = rows_};
	}
	uint64_t Bytes() const override {
		return rows_;
	}
	std::vector<skein::LeafVariant> MakeVariants(size_t tasks) override {
		std::vector<skein::LeafVariant> variants(tasks);
		for (size_t task = 0; task < tasks; task++) {
			auto first = rows_ * task / tasks;
			auto last = rows_ * (task + 1) / tasks;
			variants[task].plan = get_.Copy(context_);
			auto &scan = variants[task].plan->Cast<LogicalGet>();
			scan.parameters[0] = Value::BIGINT(static_cast<int64_t>(last));
			scan.named_parameters["first"] = Value::BIGINT(static_cast<int64_t>(first));
			variants[task].text = "EMIT_URL rows " + std::to_string(first) + " to " + std::to_string(last);
			variants[task].rows = variants[task].bytes = last - first;
		}
		return variants;
	}
	std::vector<string> ChooseWorkers(const std::vector<skein::LeafVariant> &variants,
									  const std::vector<skein::WorkerInfo> &workers) override {
		auto parameters = get_.named_parameters;
		auto &label = parameters["label"];
		std::vector<string> fitting, chosen;
		for (auto &worker : workers) {
			if (!label.IsNull() && worker.HasLabel(label.ToString())) {
				fitting.push_back(worker.address);
			}
		}
		for (size_t task = 0; !fitting.empty() && task < variants.size(); task++) {
			chosen.push_back(fitting[task % fitting.size()]);
		}
		return chosen;
	}

private:
	ClientContext &context_;
	LogicalGet &get_;
	const size_t rows_;
};
} // namespace

std::unique_ptr<skein::LeafEstimate> EmitUrlEstimator::Estimate(const skein::LeafQuestion &question) const {
	auto &leaf = question.leaf;
	if (leaf.type != LogicalOperatorType::LOGICAL_GET || leaf.Cast<LogicalGet>().function.name != "emit_url") {
		return nullptr;
	}
	return std::make_unique<EmitUrlEstimate>(question.context, leaf.Cast<LogicalGet>());
}
