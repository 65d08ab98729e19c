#pragma once

#include "exchange/output_buffer.hpp"
#include "transport/transport.hpp"

#include <functional>
#include <memory>
#include <mutex>

namespace skein {

//! Where the pages of one partition go: a link, or an input on the same node. Called by one thread at a time.
struct ChannelTarget {
	//! Returns the bytes that count against the credit: those that the reader will hold.
	std::function<size_t(SharedBytes page)> on_page;
	std::function<void()> on_end;
	//! `consequence`: the task that wrote the output reports the error itself.
	std::function<void(const duckdb::ErrorData &, bool consequence)> on_error;
	//! The partition was closed; nobody is told.
	std::function<void()> on_closed;
};

//! Moves the pages of one partition to its reader as fast as the reader gives credit.
//!
//! Owned by ExchangeService; kept alive by the output's callback. Thread-safe; no thread waits: whoever makes progress
//! possible (a writer, a credit) moves what can be moved.
//! Invariants: a page is sent only while credit is left (the last one may overdraw it); exactly one of end, error and
//! closed is the last call, unless Stop() came before.
class ChannelSender : public std::enable_shared_from_this<ChannelSender> {
public:
	ChannelSender(std::shared_ptr<OutputBuffer> output, duckdb::idx_t partition, size_t credit_bytes,
				  ChannelTarget target);
	//! Begins to send; registers as the reader of the partition.
	void Start();
	void AddCredit(size_t bytes);
	//! Sends nothing more.
	void Stop();

private:
	void Pump();
	//! Moves one page or the end; false when nothing can be moved now.
	bool Step();

	std::shared_ptr<OutputBuffer> output_;
	const duckdb::idx_t partition_;
	ChannelTarget target_;
	std::mutex mutex_;
	int64_t credit_;
	bool stopped_ = false;
	bool pumping_ = false;
	bool again_ = false;
};

} // namespace skein
