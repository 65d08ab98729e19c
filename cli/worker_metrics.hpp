#pragma once

#include "metrics_server.hpp"

#include "skein/skein.hpp"

#include <string>

namespace skein::cli {

//! A worker's status in the text format of Prometheus, at `http://ADDRESS/metrics`, for as long as it lives.
//!
//! Has a thread of its own; a scrape reads counters and holds up no query. `worker` must outlive it.
class WorkerMetrics {
public:
	//! `address` is HOST:PORT; throws CommandError when it cannot be used.
	WorkerMetrics(const Worker &worker, const std::string &address);

	//! HOST:PORT, with the port really bound.
	std::string Address() const;

private:
	const std::string host_;
	MetricsServer server_;
};

//! The same text, of one status.
std::string MetricsText(const WorkerStatus &status);

} // namespace skein::cli
