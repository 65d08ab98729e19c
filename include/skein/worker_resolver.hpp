#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace skein {

//! A worker as the session that uses it knows it.
struct WorkerInfo {
	//! `host:port`; of a worker inside the session's process `local-1`, `local-2`, ...
	std::string address;
	//! What a WorkerResolver says of it, such as the zone that it is in.
	std::vector<std::string> labels;

	bool HasLabel(const std::string &label) const {
		return std::find(labels.begin(), labels.end(), label) != labels.end();
	}
};

//! Finds the workers of a session whose settings name none (`skein_cluster` and `skein_workers`).
//!
//! Given to Attach(), and shared by all connections: thread-safe.
class WorkerResolver {
public:
	virtual ~WorkerResolver() = default;
	//! The workers that there are now, asked once for every query. What it throws ends the query.
	virtual std::vector<WorkerInfo> Resolve() const = 0;
};

} // namespace skein
