#include "engine/client_error.hpp"

#include "duckdb/execution/executor.hpp"
#include "duckdb/parallel/task.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! A blocked task that is never woken. The client's thread, out of work, asks the blocked tasks of a stream whether
//! they wait for it, and gets the error as the answer.
class ErrorForClient final : public Task {
public:
	explicit ErrorForClient(ErrorData error) : error_(std::move(error)) {
	}
	TaskExecutionResult Execute(TaskExecutionMode mode) override {
		return TaskExecutionResult::TASK_FINISHED;
	}
	bool TaskBlockedOnResult() const override {
		error_.Throw();
		return true;
	}
	string TaskType() const override {
		return "SkeinErrorForClient";
	}

private:
	const ErrorData error_;
};

} // namespace

bool LeaveErrorToClient(ClientContext &context, const ErrorData &error) {
	auto &executor = Executor::Get(context);
	// As the executor decides whether to ask.
	if (!executor.HasStreamingResultCollector() ||
		executor.GetCompletedPipelines() + 1 != executor.GetTotalPipelines()) {
		return false;
	}
	duckdb::shared_ptr<Task> task = make_shared_ptr<ErrorForClient>(error);
	executor.AddToBeRescheduled(task);
	return true;
}

} // namespace skein
