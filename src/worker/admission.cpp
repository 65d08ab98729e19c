#include "worker/admission.hpp"

#include <algorithm>

namespace skein {

Admission::Admission(size_t slots, OnStarted on_started) : slots_(slots), on_started_(std::move(on_started)) {
}

bool Admission::MayStartLocked(const WaitingTask &task) {
	if (slots_ == 0) {
		return true;
	}
	auto &started = started_stages_[task.query];
	return running_ < slots_ && std::includes(started.begin(), started.end(), task.inputs.begin(), task.inputs.end());
}

std::vector<WaitingTask> Admission::AdmitLocked() {
	std::vector<WaitingTask> admitted;
	for (auto it = waiting_.begin(); it != waiting_.end();) {
		if (!MayStartLocked(*it)) {
			++it;
			continue;
		}
		running_++;
		admitted.push_back(std::move(*it));
		it = waiting_.erase(it);
	}
	return admitted;
}

void Admission::Start(const std::vector<WaitingTask> &tasks) {
	if (tasks.empty()) {
		return;
	}
	for (auto &task : tasks) {
		task.start();
	}
	on_started_(tasks);
}

void Admission::Add(std::vector<WaitingTask> tasks) {
	std::vector<WaitingTask> admitted;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		std::move(tasks.begin(), tasks.end(), std::back_inserter(waiting_));
		admitted = AdmitLocked();
	}
	Start(admitted);
}

void Admission::StagesStarted(const AttemptKey &query, const std::vector<uint32_t> &stages) {
	std::vector<WaitingTask> admitted;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto waits = std::any_of(waiting_.begin(), waiting_.end(), [&](auto &task) { return task.query == query; });
		if (!waits) {
			return;
		}
		started_stages_[query].insert(stages.begin(), stages.end());
		admitted = AdmitLocked();
	}
	Start(admitted);
}

void Admission::TaskEnded() {
	std::vector<WaitingTask> admitted;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		running_--;
		admitted = AdmitLocked();
	}
	Start(admitted);
}

void Admission::Release(const AttemptKey &query) {
	std::vector<WaitingTask> released;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto it = waiting_.begin(); it != waiting_.end();) {
			if (it->query != query) {
				++it;
				continue;
			}
			running_++;
			released.push_back(std::move(*it));
			it = waiting_.erase(it);
		}
	}
	Start(released);
}

void Admission::Forget(const AttemptKey &query) {
	std::lock_guard<std::mutex> guard(mutex_);
	started_stages_.erase(query);
}

size_t Admission::Running() {
	std::lock_guard<std::mutex> guard(mutex_);
	return running_;
}

size_t Admission::Waiting() {
	std::lock_guard<std::mutex> guard(mutex_);
	return waiting_.size();
}

std::set<std::pair<uint32_t, uint32_t>> Admission::WaitingOf(const AttemptKey &query) {
	std::lock_guard<std::mutex> guard(mutex_);
	std::set<std::pair<uint32_t, uint32_t>> result;
	for (auto &task : waiting_) {
		if (task.query == query) {
			result.emplace(task.stage, task.task);
		}
	}
	return result;
}

} // namespace skein
