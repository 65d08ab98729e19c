#include "worker/worker_task.hpp"

#include "duckdb/execution/executor.hpp"
#include "duckdb/main/query_profiler.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/parser/keyword_helper.hpp"
#include "duckdb/parser/statement/logical_plan_statement.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/task_secrets.hpp"
#include "engine/counted_files.hpp"
#include "engine/executor_tasks.hpp"
#include "engine/plan_meter.hpp"
#include "engine/plan_serializer.hpp"
#include "worker/running_task.hpp"
#include "worker/task_watcher.hpp"

#include <ctime>
#include <map>
#include <thread>

namespace skein {

using namespace duckdb;

namespace {

//! After so many the thread that is waited for is not just about to let go.
constexpr size_t MAX_YIELDS = 1000;

} // namespace

//! The job that prepares a task, run by DuckDB's scheduler like any other.
class WorkerTask::StartTask final : public Task {
public:
	explicit StartTask(std::shared_ptr<WorkerTask> task) : task_(std::move(task)) {
	}
	TaskExecutionResult Execute(TaskExecutionMode mode) override {
		task_->Start();
		return TaskExecutionResult::TASK_FINISHED;
	}
	string TaskType() const override {
		return "SkeinStartTask";
	}

private:
	std::shared_ptr<WorkerTask> task_;
};

namespace {

int64_t ThreadCpuNanos() {
	timespec time{};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return static_cast<int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

//! DuckDB looks at what its instance holds whenever an operator returns, and keeps the most for the whole query.
void TakePeaks(QueryProfiler &profiler, TaskResult &result) {
	profiler.FinalizeMetrics();
	profiler.GetRootUnderLock([&](optional_ptr<ProfilingNode> root) {
		auto peak = [&](MetricType type) -> uint64_t {
			auto &metrics = root->GetProfilingInfo().metrics;
			auto found = metrics.find(type);
			return found == metrics.end() || found->second.IsNull() ? 0 : found->second.GetValue<uint64_t>();
		};
		if (root) {
			result.peak_memory_bytes = peak(MetricType::SYSTEM_PEAK_BUFFER_MEMORY);
			result.peak_temp_bytes = peak(MetricType::SYSTEM_PEAK_TEMP_DIR_SIZE);
		}
	});
}

} // namespace

//! Tells the watcher when a pipeline of the task has ended or failed: DuckDB has no other call for it. Counts the
//! processor time of a task that is profiled.
class WorkerTask::Observer final : public ClientContextState {
public:
	Observer(std::weak_ptr<WorkerTask> task, bool profile) : task_(std::move(task)), profile_(profile) {
	}
	void OnTaskStart(ClientContext &context) override {
		if (profile_) {
			std::lock_guard<std::mutex> guard(mutex_);
			began_at_[std::this_thread::get_id()] = ThreadCpuNanos();
		}
	}
	void OnTaskStop(ClientContext &context) override {
		if (profile_) {
			CountCpu();
		}
		auto unwinding = std::uncaught_exceptions() > 0;
		if (!unwinding && !context.ExecutionIsFinished()) {
			return;
		}
		if (auto task = task_.lock()) {
			if (unwinding) {
				task->error_expected_ = true;
			}
			task->watcher_.Signal(std::move(task));
		}
	}

private:
	void CountCpu() {
		auto now = ThreadCpuNanos();
		int64_t began_at;
		{
			std::lock_guard<std::mutex> guard(mutex_);
			began_at = began_at_[std::this_thread::get_id()];
		}
		if (auto task = task_.lock()) {
			task->cpu_nanos_ += now - began_at;
		}
	}

	const std::weak_ptr<WorkerTask> task_;
	const bool profile_;
	std::mutex mutex_;
	//! By thread, in its own processor time.
	std::map<std::thread::id, int64_t> began_at_;
};

WorkerTask::WorkerTask(DatabaseInstance &db, TaskWatcher &watcher, TaskSpec spec,
					   duckdb::shared_ptr<TaskChannels> channels, OnEnd on_end)
	: db_(db), watcher_(watcher), spec_(std::move(spec)), channels_(std::move(channels)), on_end_(std::move(on_end)),
	  arrived_at_(std::chrono::steady_clock::now()) {
}

WorkerTask::~WorkerTask() {
	D_ASSERT(ended_);
}

void WorkerTask::Launch(ProducerToken &token) {
	TaskScheduler::GetScheduler(db_).ScheduleTask(token, make_shared_ptr<StartTask>(shared_from_this()));
}

void WorkerTask::Cancel() {
	cancelled_ = true;
	watcher_.Signal(shared_from_this());
}

void WorkerTask::Start() {
	began_at_ = std::chrono::steady_clock::now();
	auto cpu_before = ThreadCpuNanos();
	try {
		if (cancelled_) {
			throw InterruptException();
		}
		Prepare();
	} catch (std::exception &ex) {
		start_error_ = ErrorData(ex);
	}
	cpu_nanos_ += ThreadCpuNanos() - cpu_before;
	started_ = true;
	watcher_.Signal(shared_from_this());
}

void WorkerTask::MakeSetting(const string &name, const string &value) {
	Value current;
	if (connection_->context->TryGetCurrentSetting(name, current) && current.ToString() == value) {
		return;
	}
	auto result = connection_->Query("SET SESSION " + KeywordHelper::WriteQuoted(name, '"') + " = " +
									 KeywordHelper::WriteQuoted(value, '\''));
	if (result->HasError()) {
		// Without the value: it may be a password.
		throw InvalidInputException("the session's setting %s cannot be made here: %s", name,
									result->GetErrorObject().RawMessage());
	}
}

void WorkerTask::Prepare() {
	connection_ = make_uniq<Connection>(db_);
	auto &context = *connection_->context;
	for (auto &setting : spec_.settings) {
		MakeSetting(setting.first, setting.second);
	}
	for (auto &setting : spec_.remote_access.settings) {
		// Of an extension that is not loaded here: what the tasks need of those was asked for before.
		optional_ptr<const ConfigurationOption> option;
		if (DBConfig::GetConfig(context).TryGetSettingIndex(setting.first, option).IsValid()) {
			MakeSetting(setting.first, setting.second);
		}
	}
	if (!spec_.remote_access.secrets.empty()) {
		GiveSecrets(context, spec_.remote_access.secrets);
	}
	context.registered_state->Insert(TaskChannels::KEY, channels_);
	NoteRunningTask(context, {spec_.worker, spec_.key.stage, spec_.key.task});
	context.registered_state->Insert("skein_observer", make_shared_ptr<Observer>(weak_from_this(), spec_.profile));
	if (spec_.units) {
		context.registered_state->Insert(TaskUnits::KEY, spec_.units);
	}
	context.config.enable_progress_bar = false;
	if (spec_.profile) {
		PlanMeter::Install(context);
		read_bytes_ = CountReadBytes(context);
	}
	// Begins the transaction in which the plan is read and executed.
	context.transaction.SetAutoCommit(false);
	auto binder = Binder::CreateBinder(context);
	RunTimeHelp help;
	auto plan = DeserializePlan(context, spec_.plan, *binder, &help);
	RestoreRunTimeHelp(*binder, context, plan, help);
	plan->ResolveOperatorTypes();
	pending_ = context.PendingQuery(make_uniq<LogicalPlanStatement>(std::move(plan)),
									QueryParameters(QueryResultOutputType::FORCE_MATERIALIZED));
	if (pending_->HasError()) {
		pending_->GetErrorObject().Throw();
	}
	if (spec_.units) {
		spec_.units->Complete();
	}
}

void WorkerTask::Check() {
	if (ended_ || !started_) {
		return;
	}
	TaskResult result;
	if (start_error_.HasError()) {
		result.failed = true;
		result.error = start_error_;
		End(std::move(result));
		return;
	}
	auto &context = *connection_->context;
	if (cancelled_) {
		context.GetExecutor().PushError(ErrorData(ExceptionType::INTERRUPT, "Interrupted!"));
	}
	while (error_expected_ && !context.ExecutionIsFinished()) {
		std::this_thread::yield();
	}
	if (!PendingQueryResult::IsExecutionFinished(pending_->CheckPulse())) {
		return;
	}
	if (!pending_->HasError()) {
		// The thread that ran the last of DuckDB's tasks may still be about to let go of it, and has been interrupted
		// by this one: Execute() would burn the core until it has.
		for (size_t i = 0; i < MAX_YIELDS && HoldsTasks(context.GetExecutor()); i++) {
			std::this_thread::yield();
		}
		auto rows = pending_->Execute();
		if (rows->HasError()) {
			result.error = rows->GetErrorObject();
		}
	} else {
		result.error = pending_->GetErrorObject();
	}
	result.failed = result.error.HasError();
	End(std::move(result));
}

void WorkerTask::TakeProfile(TaskResult &result) {
	if (!connection_) {
		return;
	}
	auto &context = *connection_->context;
	if (auto meter = PlanMeter::Find(context)) {
		result.operators = meter->Collect(context);
		TakePeaks(QueryProfiler::Get(context), result);
		result.bytes_read = read_bytes_->Get();
		result.cpu = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(cpu_nanos_));
	}
}

void WorkerTask::End(TaskResult result) {
	using std::chrono::duration_cast;
	using std::chrono::microseconds;
	ended_ = true;
	if (spec_.units) {
		spec_.units->Complete();
	}
	result.wall = duration_cast<microseconds>(std::chrono::steady_clock::now() - arrived_at_);
	result.queue = began_at_ ? duration_cast<microseconds>(*began_at_ - arrived_at_) : result.wall;
	result.consequence = cancelled_;
	for (auto &input : channels_->inputs) {
		result.consequence = result.consequence || input->FailedAsConsequence();
	}
	pending_.reset();
	TakeProfile(result);
	connection_.reset();
	for (auto &input : channels_->inputs) {
		if (result.failed) {
			// Whoever produces for it is ended by the coordinator and need not be told.
			input->Fail(result.error, result.consequence);
		}
		input->Close();
	}
	if (result.failed) {
		for (auto &output : channels_->outputs) {
			output->Abort(result.error);
		}
	}
	auto on_end = std::move(on_end_);
	on_end(result);
}

} // namespace skein
