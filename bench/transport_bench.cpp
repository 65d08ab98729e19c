//! What a link costs: pages of 1 MiB one way, small frames both ways. Both ends are in this process, so CPU time is
//! that of sender and receiver together.

#include "transport/grpc/grpc_transport.hpp"
#include "transport/in_process/in_process_transport.hpp"

#include "benchmark/benchmark.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace skein;

constexpr size_t BODY_BYTES = 1 << 20;
//! Pages under way on each link.
constexpr size_t CREDIT = 8;

double CpuSeconds() {
	rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	auto seconds = [](const timeval &time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

//! Answers every frame with an empty one.
class Acknowledger final : public LinkHandler {
public:
	void OnFrame(Link &link, Frame frame) override {
		benchmark::DoNotOptimize(frame.body.data);
		link.Send({std::move(frame.header), {}});
	}
	void OnClosed(Link &link, const std::string &reason) override {
	}
};

//! Sends the next page for each answer, until none is left.
class Sender final : public LinkHandler {
public:
	Sender() {
		auto owner = std::make_shared<std::vector<uint8_t>>(BODY_BYTES, 1);
		auto data = owner->data();
		body_ = {std::move(owner), data, BODY_BYTES};
	}

	//! Sends `count` frames over `links`, with or without a body, and returns when all were answered.
	void Run(const std::vector<std::shared_ptr<Link>> &links, size_t count, bool with_body, size_t credit) {
		std::unique_lock<std::mutex> guard(lock_);
		with_body_ = with_body;
		to_send_ = count;
		to_answer_ = count;
		for (size_t i = 0; i < credit; i++) {
			for (auto &link : links) {
				if (to_send_ > 0) {
					--to_send_;
					guard.unlock();
					SendOne(*link);
					guard.lock();
				}
			}
		}
		done_.wait(guard, [&] { return to_answer_ == 0; });
	}

	void WaitForClosed(size_t count) {
		std::unique_lock<std::mutex> guard(lock_);
		done_.wait(guard, [&] { return closed_ == count; });
	}

	void OnFrame(Link &link, Frame frame) override {
		{
			std::lock_guard<std::mutex> guard(lock_);
			if (--to_answer_ == 0) {
				done_.notify_all();
			}
			if (to_send_ == 0) {
				return;
			}
			--to_send_;
		}
		SendOne(link);
	}
	void OnClosed(Link &link, const std::string &reason) override {
		std::lock_guard<std::mutex> guard(lock_);
		++closed_;
		done_.notify_all();
	}

private:
	void SendOne(Link &link) {
		link.Send({std::string(64, 'h'), with_body_ ? body_ : SharedBytes()});
	}

	SharedBytes body_;
	std::mutex lock_;
	std::condition_variable done_;
	bool with_body_ = false;
	size_t to_send_ = 0;
	size_t to_answer_ = 0;
	size_t closed_ = 0;
};

//! A server, a client and links between them.
template <class TRANSPORT>
class Pair {
public:
	explicit Pair(size_t count) : listener_(transport_.Listen("127.0.0.1:0", acknowledger_)) {
		for (size_t i = 0; i < count; i++) {
			links.push_back(transport_.Connect(listener_->Address(), sender, {}));
		}
	}
	~Pair() {
		for (auto &link : links) {
			link->Close();
		}
		sender.WaitForClosed(links.size());
		listener_->Stop();
	}

	Sender sender;
	std::vector<std::shared_ptr<Link>> links;

private:
	Acknowledger acknowledger_;
	TRANSPORT transport_;
	std::unique_ptr<Listener> listener_;
};

template <class TRANSPORT>
void Pages(benchmark::State &state) {
	Pair<TRANSPORT> pair(state.range(0));
	pair.sender.Run(pair.links, 100, true, CREDIT);
	const size_t pages = 1000;
	auto cpu = CpuSeconds();
	for (auto _ : state) {
		pair.sender.Run(pair.links, pages, true, CREDIT);
	}
	auto bytes = static_cast<double>(state.iterations() * pages * BODY_BYTES);
	state.SetBytesProcessed(static_cast<int64_t>(bytes));
	state.counters["cpu_s_per_GB"] = (CpuSeconds() - cpu) / (bytes * 1e-9);
}

template <class TRANSPORT>
void PingPong(benchmark::State &state) {
	Pair<TRANSPORT> pair(1);
	pair.sender.Run(pair.links, 100, false, 1);
	const size_t rounds = 1000;
	auto cpu = CpuSeconds();
	for (auto _ : state) {
		pair.sender.Run(pair.links, rounds, false, 1);
	}
	auto total = static_cast<double>(state.iterations() * rounds);
	state.counters["round_trip"] = benchmark::Counter(total, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
	state.counters["cpu_us"] = (CpuSeconds() - cpu) / total * 1e6;
}

template <class TRANSPORT>
void SmallFrames(benchmark::State &state) {
	Pair<TRANSPORT> pair(state.range(0));
	pair.sender.Run(pair.links, 1000, false, 100);
	const size_t frames = 20000;
	auto cpu = CpuSeconds();
	for (auto _ : state) {
		pair.sender.Run(pair.links, frames, false, 100);
	}
	auto total = static_cast<double>(state.iterations() * frames);
	state.counters["frames"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
	state.counters["cpu_us"] = (CpuSeconds() - cpu) / total * 1e6;
}

} // namespace

BENCHMARK(Pages<InProcessTransport>)->Arg(1)->Arg(4)->UseRealTime();
BENCHMARK(Pages<GrpcTransport>)->Arg(1)->Arg(4)->UseRealTime();
BENCHMARK(PingPong<InProcessTransport>)->UseRealTime();
BENCHMARK(PingPong<GrpcTransport>)->UseRealTime();
BENCHMARK(SmallFrames<InProcessTransport>)->Arg(1)->Arg(4)->UseRealTime();
BENCHMARK(SmallFrames<GrpcTransport>)->Arg(1)->Arg(4)->UseRealTime();

BENCHMARK_MAIN();
