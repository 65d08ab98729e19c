#pragma once

#include "skein/worker_status.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace skein {

//! What one worker of a cluster says of itself, or why it says nothing.
struct ClusterWorker {
	std::string address;
	bool has_answered = false;
	//! Why not.
	std::string reason;
	WorkerStatus status;
};

//! Waits for the answers of several workers to one question. Thread-safe; shared by who asks and who gets the answers.
class StatusInquiry {
public:
	explicit StatusInquiry(const std::vector<std::string> &workers);

	void OnStatus(const std::string &worker, const WorkerStatus &status);
	void OnLost(const std::string &worker, const std::string &reason);
	//! Returns when all have answered or are lost, or after `timeout`; in the order of the workers.
	std::vector<ClusterWorker> Wait(std::chrono::milliseconds timeout);

private:
	//! Only the first that is heard of a worker counts.
	void Answer(const ClusterWorker &answer);

	std::mutex mutex_;
	std::condition_variable answered_;
	std::vector<ClusterWorker> workers_;
	std::set<std::string> silent_;
};

} // namespace skein
