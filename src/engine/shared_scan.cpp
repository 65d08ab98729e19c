#include "engine/shared_scan.hpp"

#include "engine/plan_meter.hpp"
#include "engine/slice_units.hpp"
#include "engine/source_waker.hpp"

#include "duckdb/common/serializer/binary_deserializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "duckdb/execution/operator/join/physical_delim_join.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/parallel/pipeline.hpp"

#include <atomic>

namespace skein {

using namespace duckdb;

namespace {

//! More than one slice has batches, and so many slices that a pipeline's batch indices have room for them.
constexpr idx_t BATCHES_OF_A_SLICE = idx_t(1) << 30;
constexpr idx_t MAX_SLICES = 9000;

//! One slice and DuckDB's state of its scan; shared by the threads that read it.
struct SliceRound {
	idx_t number = 0;
	//! Of the first slice the plan's own, else `parcel`.
	optional_ptr<FunctionData> bind_data;
	unique_ptr<FunctionData> parcel;
	std::shared_ptr<UnitSupply> supply;
	unique_ptr<TableFilterSet> filters;
	unique_ptr<GlobalTableFunctionState> state;
};

unique_ptr<FunctionData> ReadSlice(ClientContext &context, TableFunction &function, const string &bytes) {
	MemoryStream stream(data_ptr_cast(const_cast<char *>(bytes.data())), bytes.size());
	BinaryDeserializer deserializer(stream);
	deserializer.Set<ClientContext &>(context);
	deserializer.Begin();
	auto result = function.deserialize(deserializer, function);
	deserializer.End();
	function.get_virtual_columns(context, result.get());
	return result;
}

} // namespace

class PhysicalSharedScan::GlobalState final : public GlobalSourceState {
public:
	GlobalState(ClientContext &context, const PhysicalSharedScan &op) : op_(op) {
		op.units_->Begin([waker = waker]() { waker->Wake(); });
		auto first = std::make_shared<SliceRound>();
		first->bind_data = op.bind_data_.get();
		first->supply = SliceUnits::Of(first->bind_data)->supply;
		Open(context, std::move(first));
		max_threads_ = round_->state->MaxThreads();
	}
	~GlobalState() override {
		op_.units_->Close();
	}
	idx_t MaxThreads() override {
		return max_threads_;
	}
	TableFunctionInitInput InitInput(const SliceRound &round) const {
		auto &scan = op_.scan_;
		auto filters = round.filters ? round.filters.get() : scan.table_filters.get();
		return TableFunctionInitInput(round.bind_data.get(), scan.column_ids, scan.projection_ids, filters,
									  scan.extra_info.sample_options, &op_);
	}
	//! The slice to read after `read`, or the first; nullptr if there is none yet.
	std::shared_ptr<SliceRound> Next(ClientContext &context, optional_ptr<const SliceRound> read) {
		std::lock_guard<std::mutex> guard(mutex_);
		if (!read || round_->number > read->number) {
			return round_;
		}
		auto parcel = op_.units_->Take();
		if (!parcel) {
			return nullptr;
		}
		try {
			OpenParcel(context, *parcel);
		} catch (...) {
			// The other threads wait for the slice.
			op_.units_->Close();
			throw;
		}
		return round_;
	}
	//! Whether a thread that has read slice `number` has nothing to wait for.
	bool HasNews(idx_t number) const {
		return number_ > number || !op_.units_->IsWaiting();
	}
	double Progress(ClientContext &context) {
		std::lock_guard<std::mutex> guard(mutex_);
		return op_.scan_.function.table_scan_progress(context, round_->bind_data.get(), round_->state.get());
	}

	const std::shared_ptr<SourceWaker> waker = std::make_shared<SourceWaker>(*this);

private:
	void OpenParcel(ClientContext &context, const Parcel &parcel) {
		auto next = std::make_shared<SliceRound>();
		next->number = round_->number + 1;
		if (next->number == MAX_SLICES) {
			throw InternalException("A leaf was divided into %llu slices", MAX_SLICES);
		}
		auto function = op_.scan_.function;
		next->parcel = ReadSlice(context, function, parcel.slice);
		next->bind_data = next->parcel.get();
		next->supply = op_.units_->SetSlice(op_.scan_.function, *next->parcel);
		Open(context, std::move(next));
	}
	void Open(ClientContext &context, std::shared_ptr<SliceRound> round) {
		auto &scan = op_.scan_;
		if (scan.dynamic_filters && scan.dynamic_filters->HasFilters()) {
			round->filters = scan.dynamic_filters->GetFinalTableFilters(scan, scan.table_filters.get());
		}
		auto input = InitInput(*round);
		round->state = scan.function.init_global(context, input);
		round_ = std::move(round);
		number_ = round_->number;
	}

	const PhysicalSharedScan &op_;
	std::mutex mutex_;
	//! The latest.
	std::shared_ptr<SliceRound> round_;
	std::atomic<idx_t> number_{0};
	idx_t max_threads_ = 1;
};

class PhysicalSharedScan::LocalState final : public LocalSourceState {
public:
	~LocalState() override {
		// It may use the slice.
		scan.reset();
	}

	//! Begins to read a slice.
	void Begin(ExecutionContext &context, const GlobalState &global, const TableFunction &function,
			   std::shared_ptr<SliceRound> next) {
		scan.reset();
		round = std::move(next);
		auto input = global.InitInput(*round);
		scan = function.init_local(context, input, round->state.get());
		dry = !scan;
	}

	std::shared_ptr<SliceRound> round;
	//! DuckDB's; nullptr if nothing of the slice was left for this thread.
	unique_ptr<LocalTableFunctionState> scan;
	//! This thread finds nothing more to read in the slice.
	bool dry = false;
};

PhysicalSharedScan::PhysicalSharedScan(PhysicalPlan &plan, PhysicalTableScan &scan, std::shared_ptr<LeafUnits> units)
	: PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, scan.types, scan.estimated_cardinality), scan_(scan),
	  bind_data_(std::move(scan.bind_data)), units_(std::move(units)) {
}

PhysicalSharedScan::~PhysicalSharedScan() {
	// Units must not leave bind data that is gone.
	units_->Close();
}

unique_ptr<GlobalSourceState> PhysicalSharedScan::GetGlobalSourceState(ClientContext &context) const {
	return make_uniq<GlobalState>(context, *this);
}

unique_ptr<LocalSourceState> PhysicalSharedScan::GetLocalSourceState(ExecutionContext &context,
																	 GlobalSourceState &state) const {
	auto &global = state.Cast<GlobalState>();
	auto result = make_uniq<LocalState>();
	result->Begin(context, global, scan_.function, global.Next(context.client, nullptr));
	return result;
}

SourceResultType PhysicalSharedScan::GetDataInternal(ExecutionContext &context, DataChunk &chunk,
													 OperatorSourceInput &input) const {
	auto &global = input.global_state.Cast<GlobalState>();
	auto &local = input.local_state.Cast<LocalState>();
	while (true) {
		auto &supply = *local.round->supply;
		if (!local.dry) {
			TableFunctionInput data(local.round->bind_data.get(), local.scan.get(), local.round->state.get());
			data.async_result = AsyncResultType::IMPLICIT;
			data.results_execution_mode = AsyncResultsExecutionMode::TASK_EXECUTOR;
			scan_.function.function(context.client, data, chunk);
			auto result = data.async_result.GetResultType();
			if (result == AsyncResultType::BLOCKED) {
				data.async_result.ScheduleTasks(input.interrupt_state, context.pipeline->executor);
				return SourceResultType::BLOCKED;
			}
			// A function that says nothing has ended when it returns nothing.
			local.dry =
				result == AsyncResultType::FINISHED || (result == AsyncResultType::IMPLICIT && chunk.size() == 0);
			units_->AskIfEmpty(supply, local.dry);
			if (!local.dry || chunk.size() > 0) {
				return SourceResultType::HAVE_MORE_OUTPUT;
			}
		}
		units_->AskIfEmpty(supply, true);
		if (auto next = global.Next(context.client, local.round.get())) {
			local.Begin(context, global, scan_.function, std::move(next));
			continue;
		}
		if (units_->HasEnded()) {
			return SourceResultType::FINISHED;
		}
		SourceResultType blocked;
		auto number = local.round->number;
		if (global.waker->Block([&global, number]() { return global.HasNews(number); }, input.interrupt_state,
								blocked)) {
			return blocked;
		}
	}
}

OperatorPartitionData PhysicalSharedScan::GetPartitionData(ExecutionContext &context, DataChunk &, GlobalSourceState &,
														   LocalSourceState &local_p,
														   const OperatorPartitionInfo &partition_info) const {
	auto &local = local_p.Cast<LocalState>();
	TableFunctionGetPartitionInput input(local.round->bind_data.get(), local.scan.get(), local.round->state.get(),
										 partition_info);
	auto result = scan_.function.get_partition_data(context.client, input);
	result.batch_index += local.round->number * BATCHES_OF_A_SLICE;
	return result;
}

ProgressData PhysicalSharedScan::GetProgress(ClientContext &context, GlobalSourceState &state) const {
	ProgressData result;
	result.done = state.Cast<GlobalState>().Progress(context);
	result.total = 100;
	result.Normalize(1e3);
	return result;
}

PhysicalOperator &ShareScans(PhysicalPlanGenerator &planner, PhysicalOperator &op, TaskUnits &units,
							 optional_ptr<PlanMeter> meter) {
	if (op.type == PhysicalOperatorType::TABLE_SCAN) {
		auto &scan = op.Cast<PhysicalTableScan>();
		auto slice = SliceUnits::Of(scan.bind_data.get());
		if (!slice || !slice->leaf.IsValid()) {
			return op;
		}
		auto leaf = units.Open(slice->leaf.GetIndex(), scan.function, *scan.bind_data);
		auto &shared = planner.Make<PhysicalSharedScan>(scan, std::move(leaf));
		if (meter) {
			meter->Replace(scan, shared);
		}
		return shared;
	}
	for (auto &child : op.children) {
		child = ShareScans(planner, child.get(), units, meter);
	}
	if (op.type == PhysicalOperatorType::LEFT_DELIM_JOIN || op.type == PhysicalOperatorType::RIGHT_DELIM_JOIN) {
		ShareScans(planner, op.Cast<PhysicalDelimJoin>().join, units, meter);
	}
	return op;
}

} // namespace skein
