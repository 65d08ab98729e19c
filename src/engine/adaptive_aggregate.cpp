#include "engine/adaptive_aggregate.hpp"

#include "duckdb/common/row_operations/row_operations.hpp"
#include "duckdb/common/types/hyperloglog.hpp"
#include "duckdb/execution/aggregate_hashtable.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Of the last rows, the part that were new groups, from which on looking for groups is given up.
constexpr double GIVE_UP = 0.97;
//! Of the rows, the part that is distinct, from which on looking for groups is begun again.
constexpr double BEGIN_AGAIN = 0.5;
//! One chunk of so many counts for the estimate of distinct groups.
constexpr idx_t CHUNKS_PER_SAMPLE = 2;

vector<AggregateObject> ObjectsOf(const vector<unique_ptr<Expression>> &aggregates) {
	vector<AggregateObject> result;
	for (auto &aggregate : aggregates) {
		result.emplace_back(&aggregate->Cast<BoundAggregateExpression>());
	}
	return result;
}

//! Computes aggregates of groups of one row each.
class SingleRows {
public:
	SingleRows(ClientContext &context, vector<AggregateObject> &objects)
		: objects_(objects), arena_(BufferAllocator::Get(context)), addresses_(LogicalType::POINTER) {
	}

	void Compute(DataChunk &payload, DataChunk &chunk, idx_t first_result) {
		auto count = payload.size();
		arena_.Reset();
		if (!states_) {
			idx_t width = 0;
			for (auto &object : objects_) {
				width = MaxValue(width, AlignValue(object.function.GetStateSizeCallback()(object.function)));
			}
			states_ = make_unsafe_uniq_array_uninitialized<data_t>(width * STANDARD_VECTOR_SIZE);
		}
		idx_t input = 0;
		for (idx_t i = 0; i < objects_.size(); i++) {
			auto &object = objects_[i];
			auto width = AlignValue(object.function.GetStateSizeCallback()(object.function));
			auto addresses = FlatVector::GetData<data_ptr_t>(addresses_);
			for (idx_t row = 0; row < count; row++) {
				addresses[row] = states_.get() + row * width;
				object.function.GetStateInitCallback()(object.function, addresses[row]);
			}
			AggregateInputData input_data(object.GetFunctionData(), arena_);
			auto inputs = object.child_count == 0 ? nullptr : &payload.data[input];
			object.function.GetStateUpdateCallback()(inputs, input_data, object.child_count, addresses_, count);
			object.function.GetStateFinalizeCallback()(addresses_, input_data, chunk.data[first_result + i], count, 0);
			input += object.child_count;
		}
	}

private:
	vector<AggregateObject> &objects_;
	ArenaAllocator arena_;
	Vector addresses_;
	//! Of one aggregate at a time; none before the first row has passed.
	unsafe_unique_array<data_t> states_;
};

class AdaptiveState final : public OperatorState {
public:
	AdaptiveState(ClientContext &context, const vector<LogicalType> &input_types, idx_t group_count,
				  const vector<unique_ptr<Expression>> &aggregates)
		: context_(context), objects_(ObjectsOf(aggregates)), single_rows_(context, objects_),
		  hashes_(LogicalType::HASH) {
		for (idx_t i = 0; i < input_types.size(); i++) {
			(i < group_count ? group_types_ : payload_types_).push_back(input_types[i]);
		}
		groups_.InitializeEmpty(group_types_);
		payload_.InitializeEmpty(payload_types_);
		auto result_types = group_types_;
		for (auto &aggregate : aggregates) {
			result_types.push_back(aggregate->return_type);
			all_.push_back(all_.size());
		}
		found_.Initialize(BufferAllocator::Get(context), result_types);
		for (idx_t i = 0; i < group_count; i++) {
			group_columns_.push_back(i);
		}
		Begin();
	}

	bool Returns() const {
		return returned_ != nullptr;
	}

	//! Takes a chunk of rows, or turns it into `chunk`.
	void Take(DataChunk &input, DataChunk &chunk) {
		for (idx_t i = 0; i < input.ColumnCount(); i++) {
			auto is_group = i < group_types_.size();
			auto &column = is_group ? groups_.data[i] : payload_.data[i - group_types_.size()];
			column.Reference(input.data[i]);
		}
		groups_.SetCardinality(input);
		payload_.SetCardinality(input);
		rows_ += input.size();
		if (!table_) {
			Pass(chunk);
			return;
		}
		table_->AddChunk(groups_, payload_, all_);
		if (table_->Count() >= next_check_) {
			Check();
		}
	}

	//! Begins to return the groups of the table, if there is one.
	void Return() {
		if (table_ && table_->Count() > 0) {
			layout_ = table_->GetLayoutPtr();
			returned_ = table_->AcquirePartitionedData()->GetUnpartitioned();
			returned_->InitializeScan(scan_, group_columns_, TupleDataPinProperties::DESTROY_AFTER_DONE);
		}
	}

	//! The next groups of those that are returned; false if there are no more.
	bool Next(DataChunk &chunk) {
		found_.Reset();
		if (!returned_ || !returned_->Scan(scan_, found_)) {
			returned_.reset();
			Begin();
			return false;
		}
		RowOperations::FinalizeStates(row_state_, *layout_, scan_.chunk_state.row_locations, found_,
									  group_types_.size());
		chunk.Reference(found_);
		return true;
	}

private:
	//! With an empty table, or none.
	void Begin() {
		table_.reset();
		rows_ = 0;
		checked_rows_ = 0;
		checked_groups_ = 0;
		next_check_ = PhysicalAdaptiveAggregate::FIRST_CHECK;
		if (!passes_) {
			table_ = make_uniq<GroupedAggregateHashTable>(context_, BufferAllocator::Get(context_), group_types_,
														  payload_types_, objects_);
		}
	}

	void Check() {
		auto groups = table_->Count();
		auto new_part = static_cast<double>(groups - checked_groups_) / static_cast<double>(rows_ - checked_rows_);
		checked_groups_ = groups;
		checked_rows_ = rows_;
		next_check_ = MinValue(groups * 2, PhysicalAdaptiveAggregate::MAX_GROUPS);
		passes_ = new_part >= GIVE_UP;
		if (passes_) {
			distinct_ = HyperLogLog();
			sampled_rows_ = 0;
		}
		if (passes_ || groups >= PhysicalAdaptiveAggregate::MAX_GROUPS) {
			Return();
		}
	}

	void Pass(DataChunk &chunk) {
		for (idx_t i = 0; i < group_types_.size(); i++) {
			chunk.data[i].Reference(groups_.data[i]);
		}
		single_rows_.Compute(payload_, chunk, group_types_.size());
		chunk.SetCardinality(groups_);
		if (passed_chunks_++ % CHUNKS_PER_SAMPLE != 0) {
			return;
		}
		groups_.Hash(hashes_);
		hashes_.Flatten(groups_.size());
		auto hashes = FlatVector::GetData<hash_t>(hashes_);
		for (idx_t row = 0; row < groups_.size(); row++) {
			distinct_.InsertElement(hashes[row]);
		}
		sampled_rows_ += groups_.size();
		if (sampled_rows_ >= PhysicalAdaptiveAggregate::FIRST_CHECK &&
			static_cast<double>(distinct_.Count()) < BEGIN_AGAIN * static_cast<double>(sampled_rows_)) {
			passes_ = false;
			Begin();
		}
	}

	ClientContext &context_;
	vector<LogicalType> group_types_;
	vector<LogicalType> payload_types_;
	vector<AggregateObject> objects_;
	//! The numbers of all aggregates.
	unsafe_vector<idx_t> all_;
	vector<column_t> group_columns_;
	DataChunk groups_;
	DataChunk payload_;

	//! None while rows pass as groups of their own.
	unique_ptr<GroupedAggregateHashTable> table_;
	idx_t rows_ = 0;
	idx_t checked_rows_ = 0;
	idx_t checked_groups_ = 0;
	idx_t next_check_ = 0;

	//! What is left of a table whose groups are returned.
	unique_ptr<TupleDataCollection> returned_;
	duckdb::shared_ptr<TupleDataLayout> layout_;
	TupleDataScanState scan_;
	DataChunk found_;
	ArenaAllocator row_arena_{BufferAllocator::Get(context_)};
	RowOperationsState row_state_{row_arena_};

	bool passes_ = false;
	SingleRows single_rows_;
	idx_t passed_chunks_ = 0;
	idx_t sampled_rows_ = 0;
	Vector hashes_;
	HyperLogLog distinct_;
};

} // namespace

PhysicalAdaptiveAggregate::PhysicalAdaptiveAggregate(PhysicalPlan &plan, vector<LogicalType> types,
													 vector<LogicalType> input_types, idx_t groups,
													 vector<unique_ptr<Expression>> aggregates,
													 idx_t estimated_cardinality)
	: PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, std::move(types), estimated_cardinality),
	  input_types_(std::move(input_types)), groups_(groups), aggregates_(std::move(aggregates)) {
}

unique_ptr<OperatorState> PhysicalAdaptiveAggregate::GetOperatorState(ExecutionContext &context) const {
	return make_uniq<AdaptiveState>(context.client, input_types_, groups_, aggregates_);
}

OperatorResultType PhysicalAdaptiveAggregate::Execute(ExecutionContext &context, DataChunk &input, DataChunk &chunk,
													  GlobalOperatorState &, OperatorState &operator_state) const {
	auto &state = operator_state.Cast<AdaptiveState>();
	if (!state.Returns()) {
		state.Take(input, chunk);
	}
	// The same input again until all groups are returned.
	if (state.Returns() && state.Next(chunk)) {
		return OperatorResultType::HAVE_MORE_OUTPUT;
	}
	return OperatorResultType::NEED_MORE_INPUT;
}

OperatorFinalizeResultType PhysicalAdaptiveAggregate::FinalExecute(ExecutionContext &context, DataChunk &chunk,
																   GlobalOperatorState &,
																   OperatorState &operator_state) const {
	auto &state = operator_state.Cast<AdaptiveState>();
	if (!state.Returns()) {
		state.Return();
	}
	if (state.Returns() && state.Next(chunk)) {
		return OperatorFinalizeResultType::HAVE_MORE_OUTPUT;
	}
	return OperatorFinalizeResultType::FINISHED;
}

} // namespace skein
