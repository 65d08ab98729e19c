#include "shuffle.hpp"

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/parser/statement/logical_plan_statement.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "engine/plan_serializer.hpp"
#include "exchange/logical_exchange.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "transport/in_process/in_process_transport.hpp"
#include "wire/page_codec.hpp"

#include <condition_variable>
#include <mutex>
#include <sys/resource.h>
#include <thread>

namespace skein::bench {

using namespace duckdb;

namespace {

constexpr idx_t BUFFER_BYTES = idx_t(256) << 20;
constexpr std::chrono::microseconds LOOK{200};
//! No table of a plan that is read here has it.
constexpr idx_t READER_TABLE = 1000;

double SecondsSince(std::chrono::steady_clock::time_point begin) {
	return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Check(const unique_ptr<MaterializedQueryResult> &result) {
	if (result->HasError()) {
		result->ThrowError();
	}
}

//! Takes rows and drops them; then one row.
class PhysicalDrop final : public PhysicalOperator {
public:
	PhysicalDrop(PhysicalPlan &plan, idx_t estimated_cardinality)
		: PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, {LogicalType::BIGINT}, estimated_cardinality) {
	}
	SinkResultType Sink(ExecutionContext &, DataChunk &, OperatorSinkInput &) const override {
		return SinkResultType::NEED_MORE_INPUT;
	}
	bool IsSink() const override {
		return true;
	}
	bool ParallelSink() const override {
		return true;
	}
	SourceResultType GetDataInternal(ExecutionContext &, DataChunk &, OperatorSourceInput &) const override {
		return SourceResultType::FINISHED;
	}
	bool IsSource() const override {
		return true;
	}
};

class LogicalDrop final : public LogicalExtensionOperator {
public:
	PhysicalOperator &CreatePlan(ClientContext &, PhysicalPlanGenerator &planner) override {
		auto &child = planner.CreatePlan(*children[0]);
		auto &result = planner.Make<PhysicalDrop>(estimated_cardinality);
		result.children.push_back(child);
		return result;
	}
	vector<ColumnBinding> GetColumnBindings() override {
		return {ColumnBinding(0, 0)};
	}
	void ResolveTypes() override {
		types = {LogicalType::BIGINT};
	}
	bool RequireOptimizer() const override {
		return false;
	}
};

std::string WithSink(Connection &connection, unique_ptr<LogicalOperator> plan, SinkOutput output) {
	vector<SinkOutput> outputs;
	outputs.push_back(std::move(output));
	auto sink = make_uniq<LogicalExchangeSink>(std::move(outputs), false);
	sink->children.push_back(std::move(plan));
	return SerializePlan(*connection.context, *sink);
}

//! Puts `source` in the place of the only scan of `plan`.
void ReplaceScan(unique_ptr<LogicalOperator> &plan, unique_ptr<LogicalOperator> source) {
	auto place = &plan;
	while ((*place)->type != LogicalOperatorType::LOGICAL_GET) {
		place = &(*place)->children[0];
	}
	*place = std::move(source);
}

//! The plan of the task that reads: counts the rows of its input.
std::string MakeReadPlan(Connection &connection, const vector<LogicalType> &types) {
	Check(connection.Query("PRAGMA disable_optimizer"));
	auto plan = connection.ExtractPlan("SELECT count(*) FROM range(1)");
	Check(connection.Query("PRAGMA enable_optimizer"));
	vector<ColumnBinding> bindings;
	for (idx_t i = 0; i < types.size(); i++) {
		bindings.emplace_back(READER_TABLE, i);
	}
	ReplaceScan(plan,
				make_uniq<LogicalExchangeSource>(0, ReadOrder::ANY, std::move(bindings), types, vector<SortColumn>()));
	SinkOutput output;
	output.kind = ExchangeKind::COALESCE;
	return WithSink(connection, std::move(plan), std::move(output));
}

//! Tasks that were launched, and how they ended.
class Tasks {
public:
	void Launch(Side &side, TaskSpec spec, duckdb::shared_ptr<TaskChannels> channels) {
		{
			std::lock_guard<std::mutex> guard(mutex_);
			running_++;
		}
		auto task = std::make_shared<WorkerTask>(*side.engine->instance, side.watcher, std::move(spec), channels,
												 [this](const TaskResult &result) { OnEnd(result); });
		task->Launch(*side.token);
		tasks_.push_back(std::move(task));
	}
	void Wait() {
		std::unique_lock<std::mutex> guard(mutex_);
		ended_.wait(guard, [&]() { return running_ == 0; });
		if (error_.HasError()) {
			error_.Throw();
		}
	}

private:
	void OnEnd(const TaskResult &result) {
		std::lock_guard<std::mutex> guard(mutex_);
		running_--;
		if (result.failed && !error_.HasError()) {
			error_ = result.error;
		}
		ended_.notify_all();
	}

	std::mutex mutex_;
	std::condition_variable ended_;
	std::vector<std::shared_ptr<WorkerTask>> tasks_;
	size_t running_ = 0;
	ErrorData error_;
};

} // namespace

double CpuSeconds() {
	rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	auto seconds = [](const timeval &time) {
		return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
	};
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Side::Side(Transport &transport, const std::string &name, idx_t threads, std::shared_ptr<DuckDB> engine_p)
	: engine(engine_p ? std::move(engine_p) : std::make_shared<DuckDB>(nullptr)), connection(*engine),
	  token(TaskScheduler::GetScheduler(*engine->instance).CreateProducer()), node(transport, name, *this) {
	// All threads are the engine's own: nobody helps it.
	Check(connection.Query("SET external_threads = 0"));
	Check(connection.Query("SET threads = " + std::to_string(threads)));
}

Side::~Side() {
	node.Stop();
	watcher.Stop();
}

Shuffle::Shuffle(Path path, const std::string &sql) {
	auto in_process = path == Path::IN_PROCESS;
	if (in_process) {
		transport_ = std::make_unique<InProcessTransport>();
	} else {
		transport_ = std::make_unique<GrpcTransport>();
	}
	writer_ = std::make_unique<Side>(*transport_, "writer", in_process ? 2 : 1);
	reader_ = std::make_unique<Side>(*transport_, "reader", in_process ? 2 : 1, in_process ? writer_->engine : nullptr);
	writer_address_ = writer_->node.Listen(in_process ? "writer" : "127.0.0.1:0");
	RegisterExchangeOperators(*writer_->engine->instance);
	if (!in_process) {
		RegisterExchangeOperators(*reader_->engine->instance);
	}
	auto &connection = writer_->connection;
	Check(connection.Query("CREATE TABLE source AS " + sql));
	rows_ = connection.Query("SELECT count(*) FROM source")->GetValue(0, 0).GetValue<idx_t>();
	connection.BeginTransaction();
	auto plan = connection.ExtractPlan("SELECT * FROM source");
	plan->ResolveOperatorTypes();
	types_ = plan->types;
	SinkOutput output;
	output.kind = ExchangeKind::SHUFFLE;
	output.keys.push_back(make_uniq<BoundColumnRefExpression>(types_[0], plan->GetColumnBindings()[0]));
	write_plan_ = WithSink(connection, std::move(plan), std::move(output));
	connection.Commit();
	read_plan_ = MakeReadPlan(reader_->connection, types_);
}

Shuffle::~Shuffle() {
	reader_.reset();
	writer_.reset();
}

duckdb::shared_ptr<TaskChannels> Shuffle::MakeReader(const TaskKey &producer, idx_t partitions, idx_t page_bytes) {
	std::vector<Producer> producers;
	for (idx_t partition = 0; partition < partitions; partition++) {
		producers.push_back({writer_address_, {producer, 0, static_cast<uint32_t>(partition)}});
	}
	auto channels = make_shared_ptr<TaskChannels>();
	channels->page_bytes = page_bytes;
	channels->inputs.push_back(
		std::make_shared<ExchangeInput>(reader_->node.Exchange(), std::move(producers), CreditBytes(page_bytes)));
	channels->outputs.push_back(std::make_shared<OutputBuffer>(1, BUFFER_BYTES));
	return channels;
}

Flow Shuffle::Run(idx_t partitions, idx_t page_bytes) {
	TaskSpec write, read;
	write.key = TaskKey{"query " + std::to_string(queries_++), 1, 0, 0};
	write.plan = write_plan_;
	read.key = TaskKey{write.key.query, 2, 0, 0};
	read.plan = read_plan_;
	auto written = make_shared_ptr<TaskChannels>();
	written->page_bytes = page_bytes;
	written->outputs.push_back(std::make_shared<OutputBuffer>(partitions, BUFFER_BYTES));
	auto output = written->outputs[0];
	auto read_channels = MakeReader(write.key, partitions, page_bytes);
	auto result = read_channels->outputs[0];

	Flow flow;
	auto cpu = CpuSeconds();
	auto begin = std::chrono::steady_clock::now();
	writer_->node.Exchange().AddOutput(write.key, 0, output);
	Tasks tasks;
	tasks.Launch(*writer_, write, std::move(written));
	tasks.Launch(*reader_, read, std::move(read_channels));
	tasks.Wait();
	flow.wall_s = SecondsSince(begin);
	flow.cpu_s = CpuSeconds() - cpu;
	writer_->node.Exchange().DropAttempt(write.key.Attempt());

	flow.rows = output->AppendedRows();
	flow.bytes = output->AppendedBytes();
	flow.pages = output->AppendedPages();
	PageReader page(result->Read(0).page->Pin(), {LogicalType::BIGINT});
	DataChunk count;
	count.InitializeEmpty({LogicalType::BIGINT});
	page.Next(count);
	if (count.GetValue(0, 0).GetValue<idx_t>() != rows_ || flow.rows != rows_) {
		throw InternalException("%llu rows were sent, %s of them arrived", flow.rows, count.GetValue(0, 0).ToString());
	}
	return flow;
}

Flow Shuffle::ReadAlone() {
	auto &connection = writer_->connection;
	connection.BeginTransaction();
	auto drop = make_uniq<LogicalDrop>();
	drop->children.push_back(connection.ExtractPlan("SELECT * FROM source"));
	drop->ResolveOperatorTypes();
	Flow flow;
	flow.rows = rows_;
	auto cpu = CpuSeconds();
	auto begin = std::chrono::steady_clock::now();
	auto pending = connection.context->PendingQuery(make_uniq<LogicalPlanStatement>(std::move(drop)),
													QueryParameters(QueryResultOutputType::FORCE_MATERIALIZED));
	// Execute() would burn a core until the engine's own threads are done.
	while (!PendingQueryResult::IsExecutionFinished(pending->CheckPulse())) {
		std::this_thread::sleep_for(LOOK);
	}
	auto result = pending->Execute();
	flow.wall_s = SecondsSince(begin);
	flow.cpu_s = CpuSeconds() - cpu;
	if (result->HasError()) {
		result->ThrowError();
	}
	connection.Commit();
	return flow;
}

} // namespace skein::bench
