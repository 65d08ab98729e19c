#include "skein/skein.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "worker/local_workers.hpp"

namespace skein {

using namespace duckdb;

namespace {

class WorkerProcess final : public Worker {
public:
	explicit WorkerProcess(const WorkerOptions &options)
		: temp_folder_(options.temp_directory),
		  db_(MakeWorkerInstance(options.threads, options.memory_limit, temp_folder_.Path(), options.set_up)),
		  service_(*db_->instance, watcher_, transport_, "@self", LinkOptions(), options.slots, options.on_event) {
		address_ = service_.GetNode().Listen(options.listen);
	}
	~WorkerProcess() override {
		service_.Stop(std::chrono::milliseconds(0));
		service_.WaitIdle();
		watcher_.Stop();
	}
	const string &Address() const override {
		return address_;
	}
	WorkerStatus Status() const override {
		return service_.Status();
	}
	bool Stop(std::chrono::milliseconds grace) override {
		return service_.Stop(grace);
	}

private:
	const TempFolder temp_folder_;
	unique_ptr<DuckDB> db_;
	TaskWatcher watcher_;
	GrpcTransport transport_;
	mutable WorkerService service_;
	string address_;
};

} // namespace

std::unique_ptr<Worker> Worker::Start(const WorkerOptions &options) {
	return std::make_unique<WorkerProcess>(options);
}

} // namespace skein
