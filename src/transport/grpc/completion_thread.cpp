#include "transport/grpc/completion_thread.hpp"

namespace skein {

CompletionThread::CompletionThread(std::unique_ptr<grpc::CompletionQueue> queue) : queue_(std::move(queue)) {
	thread_ = std::thread([this] {
		void *tag;
		bool ok;
		while (queue_->Next(&tag, &ok)) {
			static_cast<Completion *>(tag)->Done(ok);
		}
	});
}

CompletionThread::~CompletionThread() {
	queue_->Shutdown();
	thread_.join();
}

grpc::CompletionQueue &CompletionThread::Queue() {
	return *queue_;
}

bool CompletionThread::IsCurrent() const {
	return thread_.get_id() == std::this_thread::get_id();
}

} // namespace skein
