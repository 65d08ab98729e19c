#include "engine/inspect_files.hpp"

#include "duckdb/common/open_file_info.hpp"
#include "duckdb/parallel/task_executor.hpp"
#include "engine/remote_files.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Inspects files from `begin` to before `end`.
class InspectFilesTask final : public BaseExecutorTask {
public:
	InspectFilesTask(TaskExecutor &executor, const vector<OpenFileInfo> &files,
					 const std::function<string(idx_t)> &inspect, bool remote, idx_t begin, idx_t end, string &reason)
		: BaseExecutorTask(executor), files_(files), inspect_(inspect), remote_(remote), begin_(begin), end_(end),
		  reason_(reason) {
	}
	void ExecuteTask() override {
		for (auto i = begin_; i < end_ && reason_.empty(); i++) {
			reason_ = InspectOne(i);
		}
	}
	string TaskType() const override {
		return "SkeinInspectFilesTask";
	}

private:
	string InspectOne(idx_t i) {
		try {
			if (ExtensionFor(files_[i].path).empty() == remote_) {
				return "files of this machine and of others are read in one scan";
			}
			return inspect_(i);
		} catch (std::exception &ex) {
			ErrorData error(ex);
			if (error.Type() == ExceptionType::INTERRUPT || error.Type() == ExceptionType::OUT_OF_MEMORY) {
				throw;
			}
			return "file \"" + files_[i].path + "\" cannot be read: " + error.RawMessage();
		}
	}

	const vector<OpenFileInfo> &files_;
	const std::function<string(idx_t)> &inspect_;
	const bool remote_;
	const idx_t begin_;
	const idx_t end_;
	string &reason_;
};

} // namespace

std::string InspectFiles(ClientContext &context, const vector<OpenFileInfo> &files, idx_t files_per_task,
						 const std::function<std::string(idx_t)> &inspect) {
	vector<string> reasons((files.size() + files_per_task - 1) / files_per_task);
	// Only the first was asked after.
	auto remote = !files.empty() && !ExtensionFor(files[0].path).empty();
	TaskExecutor executor(context);
	for (idx_t task = 0; task < reasons.size(); task++) {
		auto begin = task * files_per_task;
		auto end = MinValue(begin + files_per_task, files.size());
		executor.ScheduleTask(make_uniq<InspectFilesTask>(executor, files, inspect, remote, begin, end, reasons[task]));
	}
	executor.WorkOnTasks();
	for (auto &reason : reasons) {
		if (!reason.empty()) {
			return reason;
		}
	}
	return string();
}

} // namespace skein
