#include "skein/skein.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "worker/local_workers.hpp"

namespace skein {

using namespace duckdb;

namespace {

class WorkerProcess final : public Worker {
public:
	explicit WorkerProcess(const WorkerOptions &options)
		: db_(MakeWorkerInstance(options.threads, options.memory_limit, options.temp_directory)),
		  service_(*db_->instance, watcher_, transport_, "@self", LinkOptions()) {
		address_ = service_.GetNode().Listen(options.listen);
	}
	~WorkerProcess() override {
		Stop(std::chrono::milliseconds(0));
	}
	const string &Address() const override {
		return address_;
	}
	void Stop(std::chrono::milliseconds grace) override {
		service_.Stop(grace);
		watcher_.Stop();
	}

private:
	unique_ptr<DuckDB> db_;
	TaskWatcher watcher_;
	GrpcTransport transport_;
	WorkerService service_;
	string address_;
};

} // namespace

std::unique_ptr<Worker> Worker::Start(const WorkerOptions &options) {
	return std::make_unique<WorkerProcess>(options);
}

} // namespace skein
