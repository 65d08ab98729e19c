#pragma once

#include "transport/grpc/grpc_link.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace skein {

//! The links of one owner that are not gone yet; it keeps them alive. Thread-safe.
class GrpcLinkSet {
public:
	//! False once the set was sealed: the link must not be opened then.
	bool Add(std::shared_ptr<GrpcLink> link);
	//! Called by the link after its OnClosed().
	void Remove(GrpcLink &link);

	//! Takes no more links.
	void Seal();
	void CloseAll();
	void AbortAll(const std::string &reason);
	//! Returns when OnClosed() has run for every link.
	void WaitUntilEmpty();

private:
	std::vector<std::shared_ptr<GrpcLink>> Snapshot();

	std::mutex lock_;
	std::condition_variable empty_;
	std::unordered_map<GrpcLink *, std::shared_ptr<GrpcLink>> links_;
	bool sealed_ = false;
};

} // namespace skein
