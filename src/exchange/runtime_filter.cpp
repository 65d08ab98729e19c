#include "exchange/runtime_filter.hpp"

#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/parallel/meta_pipeline.hpp"
#include "duckdb/parallel/pipeline.hpp"
#include "duckdb/planner/filter/bloom_filter.hpp"
#include "exchange/key_hash.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! A filter of more hashes than this, 32 MiB, of all tasks together is given up.
constexpr idx_t MAX_HASHES = idx_t(1) << 22;

class FilterGlobalState final : public GlobalSinkState {
public:
	mutex lock;
	vector<hash_t> hashes;
	atomic<idx_t> received{0};
	atomic<bool> pass_all{false};
	//! Complete once the sink has been finalized.
	BloomFilter filter;
};

class FilterLocalState final : public LocalSinkState {
public:
	vector<hash_t> hashes;
};

class FilterOperatorState final : public CachingOperatorState {
public:
	FilterOperatorState(ExecutionContext &context, const vector<unique_ptr<Expression>> &key_expressions)
		: executor(context.client), hashes(LogicalType::HASH), selection(STANDARD_VECTOR_SIZE) {
		vector<LogicalType> types;
		for (auto &key : key_expressions) {
			executor.AddExpression(*key);
			types.push_back(key->return_type);
		}
		keys.Initialize(Allocator::Get(context.client), types);
	}

	ExpressionExecutor executor;
	DataChunk keys;
	Vector hashes;
	SelectionVector selection;
};

} // namespace

PhysicalRuntimeFilter::PhysicalRuntimeFilter(PhysicalPlan &plan, PhysicalOperator &rows, PhysicalOperator &hashes,
											 vector<unique_ptr<Expression>> keys, idx_t estimated_cardinality)
	: CachingPhysicalOperator(plan, PhysicalOperatorType::EXTENSION, rows.GetTypes(), estimated_cardinality),
	  keys_(std::move(keys)) {
	children.push_back(rows);
	children.push_back(hashes);
}

unique_ptr<GlobalSinkState> PhysicalRuntimeFilter::GetGlobalSinkState(ClientContext &context) const {
	return make_uniq<FilterGlobalState>();
}

unique_ptr<LocalSinkState> PhysicalRuntimeFilter::GetLocalSinkState(ExecutionContext &context) const {
	return make_uniq<FilterLocalState>();
}

SinkResultType PhysicalRuntimeFilter::Sink(ExecutionContext &context, DataChunk &chunk,
										   OperatorSinkInput &input) const {
	auto &global = input.global_state.Cast<FilterGlobalState>();
	auto &local = input.local_state.Cast<FilterLocalState>();
	if ((global.received += chunk.size()) > MAX_HASHES) {
		global.pass_all = true;
		return SinkResultType::FINISHED;
	}
	UnifiedVectorFormat format;
	chunk.data[0].ToUnifiedFormat(chunk.size(), format);
	auto hashes = UnifiedVectorFormat::GetData<hash_t>(format);
	for (idx_t row = 0; row < chunk.size(); row++) {
		auto index = format.sel->get_index(row);
		if (!format.validity.RowIsValid(index)) {
			global.pass_all = true;
			return SinkResultType::FINISHED;
		}
		local.hashes.push_back(hashes[index]);
	}
	return global.pass_all ? SinkResultType::FINISHED : SinkResultType::NEED_MORE_INPUT;
}

SinkCombineResultType PhysicalRuntimeFilter::Combine(ExecutionContext &context, OperatorSinkCombineInput &input) const {
	auto &global = input.global_state.Cast<FilterGlobalState>();
	auto &local = input.local_state.Cast<FilterLocalState>();
	lock_guard<mutex> guard(global.lock);
	global.hashes.insert(global.hashes.end(), local.hashes.begin(), local.hashes.end());
	return SinkCombineResultType::FINISHED;
}

SinkFinalizeType PhysicalRuntimeFilter::Finalize(Pipeline &pipeline, Event &event, ClientContext &context,
												 OperatorSinkFinalizeInput &input) const {
	auto &global = input.global_state.Cast<FilterGlobalState>();
	if (global.pass_all) {
		return SinkFinalizeType::READY;
	}
	if (global.hashes.empty()) {
		return SinkFinalizeType::NO_OUTPUT_POSSIBLE;
	}
	global.filter.Initialize(context, global.hashes.size());
	Vector hashes(LogicalType::HASH, data_ptr_cast(global.hashes.data()));
	global.filter.InsertHashes(hashes, global.hashes.size());
	global.hashes = vector<hash_t>();
	return SinkFinalizeType::READY;
}

unique_ptr<OperatorState> PhysicalRuntimeFilter::GetOperatorState(ExecutionContext &context) const {
	return make_uniq<FilterOperatorState>(context, keys_);
}

OperatorResultType PhysicalRuntimeFilter::ExecuteInternal(ExecutionContext &context, DataChunk &input, DataChunk &chunk,
														  GlobalOperatorState &global_state,
														  OperatorState &operator_state) const {
	auto &global = sink_state->Cast<FilterGlobalState>();
	if (global.pass_all) {
		chunk.Reference(input);
		return OperatorResultType::NEED_MORE_INPUT;
	}
	if (!global.filter.IsInitialized()) {
		// Nothing can pass.
		return OperatorResultType::FINISHED;
	}
	auto &state = operator_state.Cast<FilterOperatorState>();
	state.keys.Reset();
	state.executor.Execute(input, state.keys);
	HashKeys(state.keys, state.hashes);
	auto passed = global.filter.LookupHashes(state.hashes, state.selection, input.size());
	if (passed == input.size()) {
		chunk.Reference(input);
	} else {
		chunk.Slice(input, state.selection, passed);
	}
	return OperatorResultType::NEED_MORE_INPUT;
}

void PhysicalRuntimeFilter::BuildPipelines(Pipeline &current, MetaPipeline &meta_pipeline) {
	op_state.reset();
	sink_state.reset();
	meta_pipeline.GetState().AddPipelineOperator(current, *this);
	meta_pipeline.CreateChildMetaPipeline(current, *this, MetaPipelineType::JOIN_BUILD).Build(children[1]);
	children[0].get().BuildPipelines(current, meta_pipeline);
}

} // namespace skein
