#include "jittery_cluster.hpp"

#include "transport/grpc/grpc_transport.hpp"
#include "transport/in_process/in_process_transport.hpp"
#include "worker/local_workers.hpp"

namespace skein::test {
namespace {

std::unique_ptr<Transport> MakeInner(bool grpc) {
	if (grpc) {
		return std::make_unique<GrpcTransport>();
	}
	return std::make_unique<InProcessTransport>();
}

} // namespace

//! A faulty transport together with the one below it.
struct JitteryCluster::JitteryTransport {
	explicit JitteryTransport(const ClusterShape &shape)
		: inner(MakeInner(shape.grpc)), outer(*inner, {shape.seed, shape.max_delay, std::nullopt, 0}) {
	}
	const std::unique_ptr<Transport> inner;
	FaultyTransport outer;
};

std::string ClusterShape::Describe() const {
	return std::string(grpc ? "grpc" : "in process") + ", " + std::to_string(workers) + " workers, " +
		   std::to_string(threads) + " threads, " + std::to_string(slots) + " slots, memory " + memory_limit +
		   ", delay " + std::to_string(max_delay.count()) + " us";
}

JitteryCluster::JitteryCluster(const ClusterShape &shape)
	: db_(MakeWorkerInstance(shape.threads, shape.memory_limit, temp_folder_.Path(), nullptr)) {
	auto transport = std::make_shared<JitteryTransport>(shape);
	transport_ = std::shared_ptr<Transport>(transport, &transport->outer);
	for (size_t i = 0; i < shape.workers; i++) {
		services_.push_back(std::make_unique<WorkerService>(*db_->instance, watcher_, *transport_,
															"@worker" + std::to_string(i), LinkOptions(), shape.slots));
		address_list_ += (i == 0 ? "" : ",") + services_.back()->GetNode().Listen("127.0.0.1:0");
	}
}

JitteryCluster::~JitteryCluster() {
	Stop();
	watcher_.Stop();
}

std::string JitteryCluster::Describe() {
	std::string result;
	for (auto &service : services_) {
		auto status = service->Status();
		auto census = service->GetNode().Exchange().Count();
		result += std::to_string(status.running_queries.size()) +
				  " queries, tasks: " + std::to_string(status.running_tasks) + " running, " +
				  std::to_string(status.waiting_tasks) + " waiting, " + std::to_string(status.finished_tasks) +
				  " finished; " + std::to_string(census.outputs) + " outputs, " + std::to_string(census.waiting) +
				  " waiting readers, " + std::to_string(census.senders) + " senders, " +
				  std::to_string(census.subscriptions) + " subscriptions\n";
	}
	return result;
}

std::string JitteryCluster::Stop() {
	std::string left;
	for (auto &service : services_) {
		if (!service->Stop(std::chrono::milliseconds(0))) {
			left += "a task did not end; ";
		}
		service->WaitIdle();
		auto census = service->GetNode().Exchange().Count();
		auto status = service->Status();
		if (census.outputs + census.waiting + census.senders + census.subscriptions + status.running_tasks +
				status.waiting_tasks + status.running_queries.size() >
			0) {
			left += Describe();
		}
	}
	services_.clear();
	return left;
}

} // namespace skein::test
