#include "engine/source_waker.hpp"

namespace skein {

using namespace duckdb;

void SourceWaker::Wake() {
	// Each keeps the source alive. Let go of without a lock: the last of them to end may take the source with it.
	std::vector<duckdb::shared_ptr<Task>> held;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &blocked : blocked_) {
			if (auto task = TaskOf(blocked)) {
				held.push_back(std::move(task));
			}
		}
		blocked_.clear();
	}
	if (!held.empty()) {
		auto source_guard = source_.Lock();
		source_.UnblockTasks(source_guard);
	}
}

} // namespace skein
