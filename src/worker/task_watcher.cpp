#include "worker/task_watcher.hpp"

#include "worker/worker_task.hpp"

namespace skein {

TaskWatcher::TaskWatcher() : thread_([this]() { Run(); }) {
}

TaskWatcher::~TaskWatcher() {
	Stop();
}

void TaskWatcher::Signal(std::shared_ptr<WorkerTask> task) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		signalled_.push_back(std::move(task));
	}
	changed_.notify_one();
}

void TaskWatcher::Stop() {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		stopping_ = true;
	}
	changed_.notify_one();
	if (thread_.joinable()) {
		thread_.join();
	}
}

void TaskWatcher::Run() {
	std::unique_lock<std::mutex> guard(mutex_);
	while (true) {
		changed_.wait(guard, [&]() { return stopping_ || !signalled_.empty(); });
		if (signalled_.empty()) {
			return;
		}
		auto task = std::move(signalled_.front());
		signalled_.pop_front();
		guard.unlock();
		task->Check();
		task.reset();
		guard.lock();
	}
}

} // namespace skein
