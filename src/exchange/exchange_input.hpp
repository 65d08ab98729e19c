#pragma once

#include "duckdb/common/error_data.hpp"
#include "plan/task_key.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace skein {

class ExchangeService;

//! Where one partition of one producer task is read.
struct Producer {
	//! The address of the node that holds the output.
	std::string address;
	PartitionKey partition;
};

//! What one producer may have sent ahead of its consumer: four pages, and of small ones as many as fit into 1 MiB, so
//! that no page waits for the answer to the one before.
inline size_t CreditBytes(size_t page_bytes) {
	constexpr size_t PAGES = 4;
	constexpr size_t LEAST_BYTES = size_t(1) << 20;
	return std::max(PAGES * page_bytes, LEAST_BYTES);
}

enum class InputState {
	//! A page was returned.
	PAGE,
	//! Nothing has arrived; the waker is called when that changes.
	WAIT,
	//! All producers have ended.
	END
};

//! What an input does when a producer fails because of another task, which reports its own error.
enum class OnConsequence {
	//! Its reader fails, as a consequence too.
	FAIL,
	//! Nothing: its owner will hear of the cause, and fail the input with that.
	LEAVE_TO_OWNER
};

//! What one consumer task reads of one exchange: its partition of every producer task's output.
//!
//! Shared by the task and the node's ExchangeService; thread-safe. Each producer may be ahead by `credit_bytes` of
//! pages that the consumer has not taken yet.
//! Errors: Next() and NextFrom() throw the first error of any producer or link; a partial result is never an END.
class ExchangeInput : public std::enable_shared_from_this<ExchangeInput> {
public:
	ExchangeInput(ExchangeService &service, std::vector<Producer> producers, size_t credit_bytes,
				  OnConsequence on_consequence = OnConsequence::FAIL);

	size_t ProducerCount() const {
		return producers_.size();
	}
	//! Starts to read from all producers. Idempotent.
	void Open();
	//! Takes the next page of any producer.
	InputState Next(SharedBytes &page);
	//! Takes the next page of one producer; END when that one has ended.
	InputState NextFrom(size_t producer, SharedBytes &page);
	//! Whether Next() (or NextFrom() of that producer) would not return WAIT.
	bool IsReady();
	bool IsReadyFrom(size_t producer);
	//! Called whenever something arrives, ends or fails. Replaces an earlier waker, which is not running any more when
	//! this returns.
	void SetWaker(std::function<void()> waker);
	//! Wants nothing more: tells every producer that has not ended, unless the input has failed, as then the whole
	//! query ends. Idempotent; also right if Open() was never called. Does not throw.
	void Close();
	//! Ends the input with an error, which wakes its reader. `consequence`: of an error that another task reports.
	void Fail(const duckdb::ErrorData &error, bool consequence);
	//! Whether the error, if there is one, follows from another task's.
	bool FailedAsConsequence();

	// Called by ExchangeService.
	void OnPage(size_t producer, SharedBytes page);
	void OnEnd(size_t producer);

private:
	struct Channel {
		uint64_t id = 0;
		std::deque<SharedBytes> pages;
		bool ended = false;
		size_t taken_bytes = 0;
	};

	//! Takes the front page of a channel; returns the credit to give back, 0 if none is due.
	size_t TakeLocked(Channel &channel, SharedBytes &page);
	void ThrowIfFailedLocked();
	void Wake();

	ExchangeService &service_;
	const std::vector<Producer> producers_;
	const size_t credit_bytes_;
	const OnConsequence on_consequence_;

	std::mutex mutex_;
	std::vector<Channel> channels_;
	size_t next_ = 0;
	size_t ended_ = 0;
	bool opened_ = false;
	bool closed_ = false;
	bool failed_ = false;
	bool consequence_ = false;
	duckdb::ErrorData error_;

	std::mutex waker_mutex_;
	std::function<void()> waker_;
};

} // namespace skein
