#pragma once

#include <grpcpp/completion_queue.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace skein {

//! What a gRPC operation calls when it has ended; given to gRPC as the operation's tag.
class Completion {
public:
	virtual ~Completion() = default;

	//! The tag for an operation that is about to start. It may be used again when that has ended.
	//! What was done before is visible to Done().
	void *Tag();
	//! To be called with what the queue returns.
	static void EndOperation(void *tag, bool ok);

private:
	//! Runs on one of the queue's threads. `ok` is as gRPC defines it for the operation.
	virtual void Done(bool ok) = 0;
	void MarkEnded();

	std::atomic<bool> under_way_{false};
};

//! A completion queue and the threads that empty it. They also do the network's work, asleep in gRPC when there is
//! none; so one that is held up in a handler leaves the network to the others.
class CompletionThreads {
public:
	CompletionThreads(std::unique_ptr<grpc::CompletionQueue> queue, size_t count);
	//! Returns when all operations have ended; none may be started from now on.
	~CompletionThreads();

	grpc::CompletionQueue &Queue();
	//! Whether the caller runs on one of these threads.
	bool IncludeCaller() const;

private:
	void Run();

	const std::unique_ptr<grpc::CompletionQueue> queue_;
	std::vector<std::thread> threads_;
};

} // namespace skein
