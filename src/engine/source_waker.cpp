#include "engine/source_waker.hpp"

namespace skein {

using namespace duckdb;

bool SourceWaker::Block(std::function<bool()> is_ready, const InterruptState &task, SourceResultType &result) {
	std::lock_guard<std::mutex> guard(mutex_);
	if (is_ready()) {
		return false;
	}
	auto source_guard = source_.Lock();
	result = source_.BlockSource(source_guard, task);
	if (result == SourceResultType::BLOCKED) {
		blocked_.push_back({task, std::move(is_ready)});
	}
	return true;
}

void SourceWaker::Wake() {
	// Each keeps the source alive. Let go of without a lock: the last of them to end may take the source with it.
	std::vector<duckdb::shared_ptr<Task>> held;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		// A task that has ended is not asked: what its question needs may be gone.
		auto ready = false;
		for (auto &blocked : blocked_) {
			if (auto task = TaskOf(blocked.task)) {
				held.push_back(std::move(task));
				ready = ready || blocked.is_ready();
			}
		}
		if (!ready) {
			return;
		}
		blocked_.clear();
	}
	if (!held.empty()) {
		auto source_guard = source_.Lock();
		source_.UnblockTasks(source_guard);
	}
}

} // namespace skein
