#pragma once

#include "measured_query.hpp"

#include <string>
#include <vector>

namespace skein::cli {

//! What lies between the machines of a simulation.
struct SimulatedNetwork {
	//! Of each machine, in each direction.
	double bytes_per_second = 1.25e9;
	double latency_s = 0.0001;
	//! Processor time for a byte that goes to another machine, at both ends together.
	double cpu_s_per_byte = 1.3e-9;
};

//! A stage on the simulated machines; times from the start of the first task.
struct SimulatedStage {
	uint32_t id = 0;
	size_t tasks = 0;
	double start_s = 0;
	double end_s = 0;
	//! Of all tasks, with their part of the network's; and of the slowest.
	double cpu_s = 0;
	double slowest_s = 0;
	//! How much of the critical path its tasks are, and how much of that it took until its rows had arrived.
	double path_s = 0;
	double transfer_s = 0;
};

//! A measured query on so many machines.
struct Simulation {
	double total_s = 0;
	//! Of all tasks, with the network's, and of the network's alone.
	double cpu_s = 0;
	double network_cpu_s = 0;
	std::vector<SimulatedStage> stages;
	//! What keeps it from being faster, in a few words.
	std::string limit;
};

//! Computes how long the query takes on `machines` machines, each of which runs one task at a time on one core.
//!
//! Task t of each stage runs on machine t modulo `machines`, as soon as that is free and all rows that it reads are
//! there: when all tasks of the stages that it reads have ended and their bytes have passed the network, which they do
//! from when the first of those tasks has begun. Nothing else is pipelined. The session is a machine of its own: what
//! it does comes before all tasks or after them. `alone_s`: processor time of DuckDB alone, to say what limits the
//! query.
Simulation Simulate(const MeasuredQuery &query, size_t machines, const SimulatedNetwork &network, double alone_s);

} // namespace skein::cli
