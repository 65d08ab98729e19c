#pragma once

#include <atomic>
#include <cstdint>

namespace skein {

//! How far the tasks of a run are. Shared by the run, which counts, and the head's inputs, of which DuckDB asks for it
//! under locks of its own: so there is no lock here.
class RunProgress {
public:
	//! All tasks begin, also again.
	void Begin(uint32_t tasks) {
		ended_ = 0;
		tasks_ = tasks;
	}
	void TaskEnded() {
		ended_++;
	}
	//! From 0 to 1.
	double Done() const {
		auto tasks = tasks_.load();
		auto ended = ended_.load();
		return tasks == 0 || ended > tasks ? 1 : static_cast<double>(ended) / tasks;
	}

private:
	std::atomic<uint32_t> tasks_{0};
	std::atomic<uint32_t> ended_{0};
};

} // namespace skein
