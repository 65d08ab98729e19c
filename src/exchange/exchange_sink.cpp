#include "exchange/exchange_sink.hpp"

#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "engine/plan_meter.hpp"
#include "exchange/blocked_tasks.hpp"
#include "exchange/key_hash.hpp"
#include "exchange/memory_trimmer.hpp"
#include "wire/page_codec.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Spreads the bits of DuckDB's hash, of which its own tables use the top and the low ones, over all positions:
//! the finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
inline uint64_t Remix(uint64_t hash) {
	hash ^= hash >> 30;
	hash *= 0xbf58476d1ce4e5b9ULL;
	hash ^= hash >> 27;
	hash *= 0x94d049bb133111ebULL;
	return hash ^ (hash >> 31);
}

//! Maps a hash to [0, partitions) without division (Lemire: Fast random integer generation in an interval, 2019).
inline idx_t PartitionOf(uint64_t hash, idx_t partitions) {
	return static_cast<idx_t>((static_cast<unsigned __int128>(Remix(hash)) * partitions) >> 64);
}

//! A KEY_HASHES output gives up beyond so many hashes: 8 MiB to each consumer.
constexpr idx_t MAX_KEY_HASHES = idx_t(1) << 20;
//! Places in the table by which most repeated hashes are recognised.
constexpr idx_t SEEN_HASHES = 8192;

class SinkGlobalState final : public GlobalSinkState {
public:
	SinkGlobalState(ClientContext &context, duckdb::shared_ptr<TaskChannels> channels_p)
		: channels(std::move(channels_p)),
		  pages(std::make_shared<PagePool>(BufferManager::GetBufferManager(*context.db))),
		  trimmer(MemoryTrimmer::Of(*context.db)), key_hashes(channels->outputs.size()) {
		for (auto &output : channels->outputs) {
			output->SetWriterWaker([blocked = blocked]() { blocked->WakeAll(); });
		}
	}
	~SinkGlobalState() override {
		for (auto &output : channels->outputs) {
			output->SetWriterWaker(nullptr);
		}
	}
	bool AnyFull() const {
		for (auto &output : channels->outputs) {
			if (output->IsFull()) {
				return true;
			}
		}
		return false;
	}
	bool AllAbandoned() const {
		for (auto &output : channels->outputs) {
			if (!output->IsAbandoned()) {
				return false;
			}
		}
		return true;
	}

	const duckdb::shared_ptr<TaskChannels> channels;
	const std::shared_ptr<BlockedTasks> blocked = std::make_shared<BlockedTasks>();
	//! The instance's, not the connection's: pages outlive the task that made them.
	const std::shared_ptr<PagePool> pages;
	const duckdb::shared_ptr<MemoryTrimmer> trimmer;
	atomic<idx_t> rows{0};
	//! Spreads the threads of the task over the partitions when rows are dealt in turn.
	atomic<idx_t> next_start{0};
	//! How many hashes each KEY_HASHES output has sent, or would have.
	vector<atomic<idx_t>> key_hashes;
};

//! What the unfinished pages of an output may hold in one thread.
constexpr idx_t BUILDER_BYTES = idx_t(16) << 20;
constexpr idx_t LEAST_PAGE_BYTES = idx_t(32) << 10;

//! The size of pages, which are the smaller the more are filled at a time.
idx_t PageBytesFor(idx_t page_bytes, idx_t builders) {
	return std::min(page_bytes, std::max(BUILDER_BYTES / builders, LEAST_PAGE_BYTES));
}

//! The builders and scratch space of one output in one thread.
struct LocalOutput {
	LocalOutput(ExecutionContext &context, const SinkOutput &output, vector<LogicalType> types, idx_t partitions,
				idx_t page_bytes_p)
		: hashes(LogicalType::HASH), selection(STANDARD_VECTOR_SIZE), part_of_row(STANDARD_VECTOR_SIZE),
		  offsets(partitions + 1), next(partitions), executor(context.client), filter_executor(context.client),
		  column_executor(context.client) {
		if (!output.TakesAll()) {
			InitializeChosen(context, output, types);
		}
		auto builder_count = output.kind == ExchangeKind::SHUFFLE ? partitions : 1;
		if (output.kind == ExchangeKind::KEY_HASHES) {
			types = {LogicalType::HASH};
			for (idx_t i = 0; i < SEEN_HASHES; i++) {
				// A hash that belongs in another place: nothing was seen yet, not even 0.
				seen.push_back(i + 1);
			}
			hash_chunk.InitializeEmpty(types);
			prepared_hashes = make_uniq<PreparedChunk>(types);
		}
		page_bytes = PageBytesFor(page_bytes_p, builder_count);
		builders.emplace(BufferAllocator::Get(context.client), types, builder_count);
		vector<LogicalType> key_types;
		for (auto &key : output.keys) {
			executor.AddExpression(*key);
			key_types.push_back(key->return_type);
		}
		if (!key_types.empty()) {
			keys.Initialize(Allocator::Get(context.client), key_types);
		}
	}

	//! For an output that does not take every row, or not as it comes.
	void InitializeChosen(ExecutionContext &context, const SinkOutput &output, vector<LogicalType> &types) {
		input.InitializeEmpty(types);
		chosen.Initialize(STANDARD_VECTOR_SIZE);
		if (!output.filters.empty()) {
			unique_ptr<Expression> filter = output.filters[0]->Copy();
			for (idx_t i = 1; i < output.filters.size(); i++) {
				filter = make_uniq<BoundConjunctionExpression>(ExpressionType::CONJUNCTION_AND, std::move(filter),
															   output.filters[i]->Copy());
			}
			filter_expression = std::move(filter);
			filter_executor.AddExpression(*filter_expression);
		}
		if (!output.columns.empty()) {
			types.clear();
			for (auto &column : output.columns) {
				types.push_back(column->return_type);
				column_executor.AddExpression(*column);
			}
			columns.Initialize(Allocator::Get(context.client), types);
		}
		prepared_rows = make_uniq<PreparedChunk>(types);
	}

	std::optional<PageBuilders> builders;
	//! When one of them is sealed.
	idx_t page_bytes;
	Vector hashes;
	SelectionVector selection;
	std::vector<uint32_t> part_of_row;
	vector<idx_t> offsets;
	//! Where the next row of each partition goes, while the rows are sorted by it.
	std::vector<idx_t> next;
	ExpressionExecutor executor;
	DataChunk keys;
	idx_t next_in_turn = 0;
	//! An output that does not take all: its rows of the input, what it gives out of them, and that as it is appended.
	ExpressionExecutor filter_executor;
	duckdb::unique_ptr<Expression> filter_expression;
	ExpressionExecutor column_executor;
	SelectionVector chosen;
	DataChunk input;
	DataChunk columns;
	duckdb::unique_ptr<PreparedChunk> prepared_rows;
	//! KEY_HASHES: hashes that were sent before, each in the place that its low bits choose.
	vector<hash_t> seen;
	DataChunk hash_chunk;
	duckdb::unique_ptr<PreparedChunk> prepared_hashes;
};

class SinkLocalState final : public LocalSinkState {
public:
	SinkLocalState(ExecutionContext &context, const PhysicalOperator &op, const vector<LogicalType> &types)
		: prepared(types), profile(context), waiting(context.client, op) {
	}
	PreparedChunk prepared;
	vector<duckdb::unique_ptr<LocalOutput>> outputs;
	UnfinishedProfile profile;
	BlockedTime waiting;
};

void SealInto(SinkGlobalState &global, const SinkOutput &spec, idx_t output, idx_t builder_index,
			  PageBuilder &builder) {
	auto page = Page::Seal(global.pages, builder);
	global.trimmer->Moved(page->Bytes());
	auto &target = *global.channels->outputs[output];
	if (spec.kind == ExchangeKind::BROADCAST || spec.kind == ExchangeKind::KEY_HASHES) {
		target.AppendToAll(page);
	} else {
		target.Append(builder_index, std::move(page));
	}
}

//! Pages so small are looked at after every row.
constexpr idx_t SMALL_PAGE_BYTES = 1024;

//! Where a builder's pages go, and of which size.
struct BuilderTarget {
	const SinkOutput &spec;
	idx_t output;
	idx_t builder;
	idx_t page_bytes;
};

//! Appends the rows selection[offset .. offset + count) and seals the page when it is full. Pages of ordinary size are
//! looked at once per call; very small ones, which only tests ask for, after every row.
void AppendRows(SinkGlobalState &global, const PreparedChunk &chunk, const BuilderTarget &target, PageBuilder &builder,
				const SelectionVector &selection, idx_t offset, idx_t count) {
	auto page_bytes = target.page_bytes;
	auto step = page_bytes < SMALL_PAGE_BYTES ? 1 : count;
	for (idx_t done = 0; done < count; done += step) {
		builder.Append(chunk, selection, offset + done, step);
		if (builder.IsFull(page_bytes)) {
			SealInto(global, target.spec, target.output, target.builder, builder);
		}
	}
}

void HashRows(LocalOutput &local, DataChunk &chunk) {
	local.keys.Reset();
	local.executor.Execute(chunk, local.keys);
	HashKeys(local.keys, local.hashes);
}

//! Sends the hashes of the keys of all rows, most of them once, until there are too many.
void AppendKeyHashes(SinkGlobalState &global, LocalOutput &local, const SinkOutput &spec, idx_t index,
					 DataChunk &chunk) {
	if (global.key_hashes[index] > MAX_KEY_HASHES) {
		return;
	}
	HashRows(local, chunk);
	auto hashes = FlatVector::GetData<hash_t>(local.hashes);
	idx_t count = 0;
	for (idx_t row = 0; row < chunk.size(); row++) {
		auto &seen = local.seen[hashes[row] % SEEN_HASHES];
		if (seen != hashes[row]) {
			seen = hashes[row];
			local.selection.set_index(count++, row);
		}
	}
	if (count == 0 || (global.key_hashes[index] += count) > MAX_KEY_HASHES) {
		return;
	}
	local.hash_chunk.data[0].Reference(local.hashes);
	local.hash_chunk.SetCardinality(chunk.size());
	local.prepared_hashes->Prepare(local.hash_chunk);
	AppendRows(global, *local.prepared_hashes, {spec, index, 0, local.page_bytes}, (*local.builders)[0],
			   local.selection, 0, count);
}

//! Tells the consumers of a KEY_HASHES output that they have not got all: a NULL.
void AppendOverflow(SinkGlobalState &global, ClientContext &context, const SinkOutput &spec, idx_t index) {
	vector<LogicalType> types{LogicalType::HASH};
	DataChunk chunk;
	chunk.Initialize(Allocator::Get(context), types);
	chunk.SetValue(0, 0, Value(LogicalType::HASH));
	chunk.SetCardinality(1);
	PreparedChunk prepared(types);
	prepared.Prepare(chunk);
	PageBuilder builder(BufferAllocator::Get(context), types);
	builder.Append(prepared, *FlatVector::IncrementalSelectionVector(), 0, 1);
	SealInto(global, spec, index, 0, builder);
}

//! Computes the partition of every row and the rows of each partition: `selection` in [offsets[p], offsets[p + 1]).
void PartitionByHash(LocalOutput &local, DataChunk &chunk, idx_t partitions) {
	auto count = chunk.size();
	HashRows(local, chunk);
	// Without the checks of every access.
	auto hashes = FlatVector::GetData<hash_t>(local.hashes);
	auto part_of_row = local.part_of_row.data();
	auto offsets = local.offsets.data();
	auto next = local.next.data();
	std::fill_n(next, partitions, 0);
	for (idx_t row = 0; row < count; row++) {
		auto partition = PartitionOf(hashes[row], partitions);
		part_of_row[row] = static_cast<uint32_t>(partition);
		next[partition]++;
	}
	idx_t total = 0;
	for (idx_t partition = 0; partition < partitions; partition++) {
		offsets[partition] = total;
		total += next[partition];
		next[partition] = offsets[partition];
	}
	offsets[partitions] = total;
	auto selection = local.selection.data();
	for (idx_t row = 0; row < count; row++) {
		selection[next[part_of_row[row]]++] = static_cast<sel_t>(row);
	}
}

//! The rows of the input that an output takes.
DataChunk &ChooseRows(LocalOutput &output, DataChunk &chunk) {
	output.input.Reference(chunk);
	if (output.filter_expression) {
		auto count = output.filter_executor.SelectExpression(chunk, output.chosen);
		if (count < chunk.size()) {
			output.input.Slice(output.chosen, count);
		}
	}
	return output.input;
}

//! Makes what an output gives out of these rows, which it has chosen, ready to be appended.
void PrepareColumns(LocalOutput &output, const SinkOutput &spec, DataChunk &rows) {
	if (spec.columns.empty()) {
		output.prepared_rows->Prepare(rows);
		return;
	}
	output.columns.Reset();
	output.column_executor.Execute(rows, output.columns);
	output.prepared_rows->Prepare(output.columns);
}

//! Appends prepared rows to the partitions that have been chosen for them, or to the next in turn.
void AppendToPartitions(SinkGlobalState &global, LocalOutput &output, const SinkOutput &spec, idx_t index,
						const PreparedChunk &rows) {
	auto partitions = global.channels->outputs[index]->PartitionCount();
	if (spec.keys.empty()) {
		idx_t partition = 0;
		if (spec.kind == ExchangeKind::SHUFFLE) {
			partition = output.next_in_turn;
			output.next_in_turn = (partition + 1) % partitions;
		}
		AppendRows(global, rows, {spec, index, partition, output.page_bytes}, (*output.builders)[partition],
				   *FlatVector::IncrementalSelectionVector(), 0, rows.RowCount());
		return;
	}
	if (output.page_bytes >= SMALL_PAGE_BYTES) {
		output.builders->Append(rows, {output.selection.data(), output.offsets.data(), output.part_of_row.data()});
	}
	for (idx_t partition = 0; partition < partitions; partition++) {
		auto offset = output.offsets[partition];
		auto count = output.offsets[partition + 1] - offset;
		if (count == 0) {
			continue;
		}
		auto &builder = (*output.builders)[partition];
		if (output.page_bytes >= SMALL_PAGE_BYTES) {
			if (builder.IsFull(output.page_bytes)) {
				SealInto(global, spec, index, partition, builder);
			}
		} else {
			AppendRows(global, rows, {spec, index, partition, output.page_bytes}, (*output.builders)[partition],
					   output.selection, offset, count);
		}
	}
}

} // namespace

PhysicalExchangeSink::PhysicalExchangeSink(PhysicalPlan &plan, vector<SinkOutput> outputs, bool in_order,
										   GetChannels get_channels, idx_t estimated_cardinality)
	: PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, {LogicalType::BIGINT}, estimated_cardinality),
	  outputs_(std::move(outputs)), in_order_(in_order), get_channels_(std::move(get_channels)) {
}

unique_ptr<GlobalSinkState> PhysicalExchangeSink::GetGlobalSinkState(ClientContext &context) const {
	return make_uniq<SinkGlobalState>(context, get_channels_(context));
}

unique_ptr<LocalSinkState> PhysicalExchangeSink::GetLocalSinkState(ExecutionContext &context) const {
	auto &types = children[0].get().GetTypes();
	auto &global = sink_state->Cast<SinkGlobalState>();
	auto result = make_uniq<SinkLocalState>(context, *this, types);
	for (idx_t i = 0; i < outputs_.size(); i++) {
		auto partitions = global.channels->outputs[i]->PartitionCount();
		result->outputs.push_back(
			make_uniq<LocalOutput>(context, outputs_[i], types, partitions, global.channels->page_bytes));
		result->outputs.back()->next_in_turn = global.next_start++ % partitions;
	}
	return result;
}

SinkResultType PhysicalExchangeSink::Sink(ExecutionContext &context, DataChunk &chunk, OperatorSinkInput &input) const {
	auto &global = input.global_state.Cast<SinkGlobalState>();
	auto &local = input.local_state.Cast<SinkLocalState>();
	local.waiting.End();
	if (global.AnyFull() && global.blocked->AddUnless([&]() { return !global.AnyFull(); }, input.interrupt_state)) {
		local.waiting.Begin();
		return SinkResultType::BLOCKED;
	}
	if (global.AllAbandoned()) {
		return SinkResultType::FINISHED;
	}
	global.rows += chunk.size();
	auto all_prepared = false;
	for (idx_t i = 0; i < outputs_.size(); i++) {
		auto &spec = outputs_[i];
		auto &output = *local.outputs[i];
		auto &rows = spec.TakesAll() ? chunk : ChooseRows(output, chunk);
		if (rows.size() == 0) {
			continue;
		}
		if (spec.kind == ExchangeKind::KEY_HASHES) {
			AppendKeyHashes(global, output, spec, i, rows);
			continue;
		}
		if (!spec.keys.empty()) {
			PartitionByHash(output, rows, global.channels->outputs[i]->PartitionCount());
		}
		if (!spec.TakesAll()) {
			PrepareColumns(output, spec, rows);
		} else if (!all_prepared) {
			// Once for all outputs that take everything.
			local.prepared.Prepare(chunk);
			all_prepared = true;
		}
		AppendToPartitions(global, output, spec, i, spec.TakesAll() ? local.prepared : *output.prepared_rows);
	}
	return SinkResultType::NEED_MORE_INPUT;
}

SinkCombineResultType PhysicalExchangeSink::Combine(ExecutionContext &context, OperatorSinkCombineInput &input) const {
	auto &global = input.global_state.Cast<SinkGlobalState>();
	auto &local = input.local_state.Cast<SinkLocalState>();
	for (idx_t i = 0; i < outputs_.size(); i++) {
		auto &builders = *local.outputs[i]->builders;
		for (idx_t index = 0; index < builders.Count(); index++) {
			if (builders[index].RowCount() > 0) {
				SealInto(global, outputs_[i], i, index, builders[index]);
			}
		}
	}
	return SinkCombineResultType::FINISHED;
}

SinkFinalizeType PhysicalExchangeSink::Finalize(Pipeline &pipeline, Event &event, ClientContext &context,
												OperatorSinkFinalizeInput &input) const {
	auto &global = input.global_state.Cast<SinkGlobalState>();
	for (idx_t i = 0; i < outputs_.size(); i++) {
		if (global.key_hashes[i] > MAX_KEY_HASHES) {
			AppendOverflow(global, context, outputs_[i], i);
		}
		global.channels->outputs[i]->Finish();
	}
	return SinkFinalizeType::READY;
}

namespace {
class SinkSourceState final : public GlobalSourceState {
public:
	bool done = false;
};
} // namespace

unique_ptr<GlobalSourceState> PhysicalExchangeSink::GetGlobalSourceState(ClientContext &context) const {
	return make_uniq<SinkSourceState>();
}

SourceResultType PhysicalExchangeSink::GetDataInternal(ExecutionContext &context, DataChunk &chunk,
													   OperatorSourceInput &input) const {
	auto &state = input.global_state.Cast<SinkSourceState>();
	if (state.done) {
		return SourceResultType::FINISHED;
	}
	state.done = true;
	chunk.SetValue(0, 0, Value::BIGINT(static_cast<int64_t>(sink_state->Cast<SinkGlobalState>().rows.load())));
	chunk.SetCardinality(1);
	return SourceResultType::HAVE_MORE_OUTPUT;
}

} // namespace skein
