#include "coordinator/status_inquiry.hpp"

namespace skein {

StatusInquiry::StatusInquiry(const std::vector<std::string> &workers) : silent_(workers.begin(), workers.end()) {
	for (auto &worker : workers) {
		workers_.push_back({worker, false, "", {}});
	}
}

void StatusInquiry::Answer(const ClusterWorker &answer) {
	std::lock_guard<std::mutex> guard(mutex_);
	if (silent_.erase(answer.address) == 0) {
		return;
	}
	for (auto &worker : workers_) {
		if (worker.address == answer.address) {
			worker = answer;
		}
	}
	answered_.notify_all();
}

void StatusInquiry::OnStatus(const std::string &worker, const WorkerStatus &status) {
	Answer({worker, true, "", status});
}

void StatusInquiry::OnLost(const std::string &worker, const std::string &reason) {
	Answer({worker, false, reason.empty() ? "it closed the connection" : reason, {}});
}

std::vector<ClusterWorker> StatusInquiry::Wait(std::chrono::milliseconds timeout) {
	std::unique_lock<std::mutex> guard(mutex_);
	answered_.wait_for(guard, timeout, [&]() { return silent_.empty(); });
	auto result = workers_;
	for (auto &worker : result) {
		if (silent_.count(worker.address) > 0) {
			worker.reason = "no answer within " + std::to_string(timeout.count()) + " ms";
		}
	}
	return result;
}

} // namespace skein
