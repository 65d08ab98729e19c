#include "exchange/exchange_source.hpp"

#include "duckdb/parallel/meta_pipeline.hpp"
#include "duckdb/parallel/pipeline.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "engine/client_error.hpp"
#include "engine/pipeline_shape.hpp"
#include "engine/plan_meter.hpp"
#include "engine/source_waker.hpp"
#include "exchange/memory_trimmer.hpp"
#include "wire/page_codec.hpp"

namespace skein {

using namespace duckdb;

namespace {

FirstPage FirstPageFor(ReadOrder order) {
	switch (order) {
	case ReadOrder::MERGE:
		return FirstPage::OF_EVERY_PRODUCER;
	case ReadOrder::BY_TASK:
		return FirstPage::IN_ORDER;
	default:
		return FirstPage::AT_ONCE;
	}
}

//! What must have arrived before one more thread begins to read. Each makes its own copy of the sink's state, of an
//! aggregation a hash table of 2 MiB: more than a few rows are worth.
constexpr size_t WORTH_A_THREAD_BYTES = size_t(128) << 10;

class SourceGlobalState final : public GlobalSourceState {
public:
	SourceGlobalState(ClientContext &context, std::shared_ptr<ExchangeInput> input_p, ReadOrder order)
		: input(std::move(input_p)), trimmer(MemoryTrimmer::Of(*context.db)) {
		auto parallel = order == ReadOrder::ANY;
		input->SetFirstPage(FirstPageFor(order));
		auto threads = static_cast<idx_t>(TaskScheduler::GetScheduler(context).NumberOfThreads());
		max_threads = parallel ? std::max<idx_t>(1, std::min<idx_t>(threads, input->ProducerCount())) : 1;
		input->SetWaker([waker = waker]() { waker->Wake(); });
		input->Open();
	}
	~SourceGlobalState() override {
		input->SetWaker(nullptr);
		input->Close();
	}
	idx_t MaxThreads() override {
		return max_threads;
	}

	const std::shared_ptr<ExchangeInput> input;
	const duckdb::shared_ptr<MemoryTrimmer> trimmer;
	const std::shared_ptr<SourceWaker> waker = std::make_shared<SourceWaker>(*this);
	idx_t max_threads;
	//! One thread takes whatever comes.
	std::atomic<bool> has_first{false};
};

class SourceLocalState final : public LocalSourceState {
public:
	SourceLocalState(ExecutionContext &context, const PhysicalOperator &op)
		: profile(context), waiting(context.client, op) {
	}
	bool has_begun = false;
	//! Takes pages only if so many bytes wait.
	size_t least_waiting = 0;
	std::optional<PageReader> reader;
	//! Only for ReadOrder::BY_TASK.
	size_t producer = 0;
	//! Only for ReadOrder::MERGE.
	duckdb::unique_ptr<SortedMerge> merge;
	UnfinishedProfile profile;
	BlockedTime waiting;
};

} // namespace

PhysicalExchangeSource::PhysicalExchangeSource(PhysicalPlan &plan, vector<LogicalType> types, ReadOrder order,
											   vector<SortColumn> sort_columns, GetInput get_input,
											   idx_t estimated_cardinality)
	: PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, std::move(types), estimated_cardinality), order_(order),
	  sort_columns_(std::move(sort_columns)), get_input_(std::move(get_input)) {
}

unique_ptr<GlobalSourceState> PhysicalExchangeSource::GetGlobalSourceState(ClientContext &context) const {
	return make_uniq<SourceGlobalState>(context, get_input_(context), order_);
}

unique_ptr<LocalSourceState> PhysicalExchangeSource::GetLocalSourceState(ExecutionContext &context,
																		 GlobalSourceState &state) const {
	auto result = make_uniq<SourceLocalState>(context, *this);
	if (order_ == ReadOrder::MERGE) {
		result->merge =
			make_uniq<SortedMerge>(context.client, state.Cast<SourceGlobalState>().input, GetTypes(), sort_columns_);
	}
	return result;
}

ProgressData PhysicalExchangeSource::GetProgress(ClientContext &context, GlobalSourceState &state) const {
	ProgressData result;
	auto progress = state.Cast<SourceGlobalState>().input->Progress();
	if (progress) {
		result.done = progress->Done();
		result.total = 1;
	} else {
		result.SetInvalid();
	}
	return result;
}

SourceResultType PhysicalExchangeSource::GetDataInternal(ExecutionContext &context, DataChunk &chunk,
														 OperatorSourceInput &input) const {
	auto &waiting = input.local_state.Cast<SourceLocalState>().waiting;
	waiting.End();
	try {
		auto result = Read(context, chunk, input);
		if (result == SourceResultType::BLOCKED) {
			waiting.Begin();
		}
		return result;
	} catch (std::exception &ex) {
		if (LeaveErrorToClient(context.client, ErrorData(ex))) {
			return SourceResultType::BLOCKED;
		}
		throw;
	}
}

SourceResultType PhysicalExchangeSource::Read(ExecutionContext &context, DataChunk &chunk,
											  OperatorSourceInput &input) const {
	auto &global = input.global_state.Cast<SourceGlobalState>();
	auto &local = input.local_state.Cast<SourceLocalState>();
	auto &source = *global.input;
	if (!local.has_begun) {
		local.has_begun = true;
		local.least_waiting = global.has_first.exchange(true) ? WORTH_A_THREAD_BYTES : 0;
		if (context.pipeline && TakesAllRowsFirst(*context.pipeline)) {
			source.SetFirstPage(FirstPage::WITH_ALL_OTHERS);
		}
	}
	SourceResultType blocked;
	while (true) {
		if (order_ == ReadOrder::MERGE) {
			if (local.merge->Next(chunk)) {
				return chunk.size() == 0 ? SourceResultType::FINISHED : SourceResultType::HAVE_MORE_OUTPUT;
			}
			if (global.waker->Block([&local, &source]() { return source.IsReadyFrom(local.merge->AwaitedProducer()); },
									input.interrupt_state, blocked)) {
				return blocked;
			}
			continue;
		}
		if (local.reader && local.reader->Next(chunk)) {
			return SourceResultType::HAVE_MORE_OUTPUT;
		}
		SharedBytes page;
		auto in_order = order_ == ReadOrder::BY_TASK;
		auto state = in_order ? source.NextFrom(local.producer, page) : source.Next(page, local.least_waiting);
		if (state == InputState::PAGE) {
			local.least_waiting = 0;
			global.trimmer->Moved(page.size);
			local.reader.emplace(std::move(page), GetTypes());
			continue;
		}
		if (state == InputState::END) {
			if (in_order && ++local.producer < source.ProducerCount()) {
				continue;
			}
			chunk.SetCardinality(0);
			return SourceResultType::FINISHED;
		}
		auto is_ready = [&local, &source, in_order]() {
			return in_order ? source.IsReadyFrom(local.producer) : source.IsReady(local.least_waiting);
		};
		if (global.waker->Block(is_ready, input.interrupt_state, blocked)) {
			return blocked;
		}
	}
}

void PhysicalExchangeSource::BuildPipelines(Pipeline &current, MetaPipeline &meta_pipeline) {
	op_state.reset();
	auto &state = meta_pipeline.GetState();
	for (auto &child : children) {
		auto &sink = child.get();
		sink.sink_state.reset();
		auto &child_meta_pipeline = meta_pipeline.CreateChildMetaPipeline(current, sink);
		child_meta_pipeline.Build(sink.children[0].get());
	}
	state.SetPipelineSource(current, *this);
}

} // namespace skein
