#include "transport/grpc/completion_threads.hpp"

#include <algorithm>

namespace skein {

CompletionThreads::CompletionThreads(std::unique_ptr<grpc::CompletionQueue> queue, size_t count)
	: queue_(std::move(queue)) {
	for (size_t i = 0; i < count; i++) {
		threads_.emplace_back([this] { Run(); });
	}
}

CompletionThreads::~CompletionThreads() {
	queue_->Shutdown();
	for (auto &thread : threads_) {
		thread.join();
	}
}

void CompletionThreads::Run() {
	void *tag;
	bool ok;
	while (queue_->Next(&tag, &ok)) {
		static_cast<Completion *>(tag)->Done(ok);
	}
}

grpc::CompletionQueue &CompletionThreads::Queue() {
	return *queue_;
}

bool CompletionThreads::IncludeCaller() const {
	return std::any_of(threads_.begin(), threads_.end(),
					   [](const std::thread &thread) { return thread.get_id() == std::this_thread::get_id(); });
}

} // namespace skein
