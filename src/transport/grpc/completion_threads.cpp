#include "transport/grpc/completion_threads.hpp"

#include "duckdb/common/exception.hpp"

#include <algorithm>

namespace skein {

void *Completion::Tag() {
	if (under_way_.exchange(true)) {
		throw duckdb::InternalException("An operation was started before it had ended");
	}
	return this;
}

void Completion::EndOperation(void *tag, bool ok) {
	auto &completion = *static_cast<Completion *>(tag);
	completion.MarkEnded();
	completion.Done(ok);
}

void Completion::MarkEnded() {
	under_way_.exchange(false);
}

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
		Completion::EndOperation(tag, ok);
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
