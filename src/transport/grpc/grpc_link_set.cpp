#include "transport/grpc/grpc_link_set.hpp"

namespace skein {

bool GrpcLinkSet::Add(std::shared_ptr<GrpcLink> link) {
	std::lock_guard<std::mutex> guard(lock_);
	if (sealed_) {
		return false;
	}
	auto key = link.get();
	links_.emplace(key, std::move(link));
	return true;
}

void GrpcLinkSet::Remove(GrpcLink &link) {
	std::lock_guard<std::mutex> guard(lock_);
	links_.erase(&link);
	if (links_.empty()) {
		empty_.notify_all();
	}
}

void GrpcLinkSet::Seal() {
	std::lock_guard<std::mutex> guard(lock_);
	sealed_ = true;
}

void GrpcLinkSet::CloseAll() {
	for (auto &link : Snapshot()) {
		link->Close();
	}
}

void GrpcLinkSet::AbortAll(const std::string &reason) {
	for (auto &link : Snapshot()) {
		link->Abort(reason);
	}
}

void GrpcLinkSet::WaitUntilEmpty() {
	std::unique_lock<std::mutex> guard(lock_);
	empty_.wait(guard, [&] { return links_.empty(); });
}

std::vector<std::shared_ptr<GrpcLink>> GrpcLinkSet::Snapshot() {
	std::lock_guard<std::mutex> guard(lock_);
	std::vector<std::shared_ptr<GrpcLink>> result;
	for (auto &entry : links_) {
		result.push_back(entry.second);
	}
	return result;
}

} // namespace skein
