#pragma once

#include <grpcpp/completion_queue.h>

#include <memory>
#include <thread>

namespace skein {

//! What a gRPC operation calls when it has ended; given to gRPC as the operation's tag.
class Completion {
public:
	virtual ~Completion() = default;
	//! Runs on the queue's thread. `ok` is as gRPC defines it for the operation.
	virtual void Done(bool ok) = 0;
};

//! A completion queue and the one thread that empties it. So what hangs on one queue runs one at a time.
//!
//! The thread sleeps inside gRPC until an operation ends.
class CompletionThread {
public:
	explicit CompletionThread(std::unique_ptr<grpc::CompletionQueue> queue);
	//! Returns when all operations have ended; none may be started from now on.
	~CompletionThread();

	grpc::CompletionQueue &Queue();
	//! Whether the caller runs on this thread.
	bool IsCurrent() const;

private:
	const std::unique_ptr<grpc::CompletionQueue> queue_;
	std::thread thread_;
};

} // namespace skein
