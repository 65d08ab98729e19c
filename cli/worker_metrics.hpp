#pragma once

#include "skein/skein.hpp"

#include <memory>
#include <string>

namespace skein::cli {

//! A worker's status in the text format of Prometheus, at `http://ADDRESS/metrics`, for as long as it lives.
//!
//! Has threads of its own; a scrape reads counters and holds up no query. `worker` must outlive it.
class WorkerMetrics {
public:
	//! `address` is HOST:PORT; throws CommandError when it cannot be used.
	WorkerMetrics(const Worker &worker, const std::string &address);
	~WorkerMetrics();

	//! HOST:PORT, with the port really bound.
	std::string Address() const;

private:
	class Collector;
	struct Server;
	std::shared_ptr<Collector> collector_;
	std::unique_ptr<Server> server_;
	std::string host_;
};

//! The same text, of one status.
std::string MetricsText(const WorkerStatus &status);

} // namespace skein::cli
