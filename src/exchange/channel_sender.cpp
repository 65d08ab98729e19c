#include "exchange/channel_sender.hpp"

namespace skein {

using namespace duckdb;

ChannelSender::ChannelSender(std::shared_ptr<OutputBuffer> output, idx_t partition, size_t credit_bytes,
							 ChannelTarget target)
	: output_(std::move(output)), partition_(partition), target_(std::move(target)),
	  credit_(static_cast<int64_t>(credit_bytes)) {
}

void ChannelSender::Start() {
	auto self = shared_from_this();
	output_->SetReader(partition_, [self]() { self->Pump(); });
	Pump();
}

void ChannelSender::AddCredit(size_t bytes) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		credit_ += static_cast<int64_t>(bytes);
	}
	Pump();
}

void ChannelSender::Stop() {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		stopped_ = true;
	}
	output_->SetReader(partition_, nullptr);
}

void ChannelSender::Pump() {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (pumping_) {
			again_ = true;
			return;
		}
		pumping_ = true;
	}
	while (true) {
		while (Step()) {
		}
		std::lock_guard<std::mutex> guard(mutex_);
		if (!again_) {
			pumping_ = false;
			return;
		}
		again_ = false;
	}
}

bool ChannelSender::Step() {
	bool has_credit;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (stopped_) {
			return false;
		}
		has_credit = credit_ > 0;
	}
	auto read = output_->Read(partition_, has_credit);
	if (read.failed) {
		Stop();
		target_.on_error(read.error, true);
		return false;
	}
	if (read.closed) {
		Stop();
		target_.on_closed();
		return false;
	}
	if (read.at_end) {
		Stop();
		target_.on_end();
		output_->ClosePartition(partition_);
		return false;
	}
	if (!read.page) {
		return false;
	}
	try {
		auto bytes = target_.on_page(read.page->Pin());
		std::lock_guard<std::mutex> guard(mutex_);
		credit_ -= static_cast<int64_t>(bytes);
	} catch (std::exception &ex) {
		// The page could not be brought back into memory; the reader must not take what it has for the whole.
		Stop();
		target_.on_error(ErrorData(ex), false);
		return false;
	}
	return true;
}

} // namespace skein
