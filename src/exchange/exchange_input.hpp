#pragma once

#include "duckdb/common/error_data.hpp"
#include "exchange/run_progress.hpp"
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

//! What all producers of one input together may have sent ahead, if each of them can still send LEAST_AHEAD_BYTES: what
//! arrives from other processes is outside of DuckDB's memory until it is read.
constexpr size_t MOST_AHEAD_BYTES = size_t(64) << 20;
constexpr size_t LEAST_AHEAD_BYTES = size_t(256) << 10;

enum class InputState {
	//! A page was returned.
	PAGE,
	//! Nothing has arrived; the waker is called when that changes.
	WAIT,
	//! All producers have ended.
	END
};

//! What an input does when a producer fails because of another task, which reports its own error, or because its worker
//! is lost.
enum class OnConsequence {
	//! Its reader fails, in the first case as a consequence too.
	FAIL,
	//! Nothing: its owner will hear of the cause, and fail the input with that or restart it.
	LEAVE_TO_OWNER
};

//! When an input that can be restarted hands out its first page; the later, the longer it can be restarted.
enum class FirstPage {
	//! As soon as there is one.
	AT_ONCE,
	//! When the first producer that has any rows has sent one: for a reader that goes through them in turn.
	IN_ORDER,
	//! When there is one of every producer that has any: for a reader that merges.
	OF_EVERY_PRODUCER,
	//! When everything has arrived, or as much of one producer as its credit allows.
	WITH_ALL_OTHERS
};

//! What one consumer task reads of one exchange: its partition of every producer task's output.
//!
//! Shared by the task and the node's ExchangeService; thread-safe. Each producer may be ahead by `credit_bytes` of
//! pages that the consumer has not taken yet, or by less if there are many producers.
//! An input of the head can be read anew from other producers, as long as its reader has seen nothing of the old ones.
//! Errors: Next() and NextFrom() throw the first error of any producer or link; a partial result is never an END.
class ExchangeInput : public std::enable_shared_from_this<ExchangeInput> {
public:
	ExchangeInput(ExchangeService &service, std::vector<Producer> producers, size_t credit_bytes,
				  OnConsequence on_consequence = OnConsequence::FAIL);

	//! For an input of the head: how far the tasks that all its inputs depend on are. Before Open().
	void SetProgress(std::shared_ptr<const RunProgress> progress) {
		progress_ = std::move(progress);
	}
	//! nullptr if nobody knows.
	const RunProgress *Progress() const {
		return progress_.get();
	}
	size_t ProducerCount() const {
		return channels_.size();
	}
	//! Makes the input one that can be restarted. `on_first_read` is called once, when that ends because the reader has
	//! taken a page or has been told of an end. Before Open().
	void AllowRestart(std::function<void()> on_first_read);
	//! Only for inputs that can be restarted; without effect once the first page was handed out.
	void SetFirstPage(FirstPage first_page);
	//! Starts to read from all producers. Idempotent.
	void Open();
	//! Drops what has arrived and waits for Restart(); false if the reader has seen something, or the input has failed.
	bool Rewind();
	//! After Rewind(): reads from these producers, as many as there were. Throws like Transport::Connect().
	void Restart(std::vector<Producer> producers);
	//! Takes the next page of any producer. With `least_waiting`, only if pages of so many bytes have arrived; fewer
	//! are left to a reader that takes any, and END is returned once no more come.
	InputState Next(SharedBytes &page, size_t least_waiting = 0);
	//! Takes the next page of one producer; END when that one has ended.
	InputState NextFrom(size_t producer, SharedBytes &page);
	//! Whether Next() (or NextFrom() of that producer) would not return WAIT.
	bool IsReady(size_t least_waiting = 0);
	bool IsReadyFrom(size_t producer);
	//! Called without a lock whenever something arrives, ends or fails; it may call any method. Replaces an earlier
	//! waker, which may be running still when this returns.
	void SetWaker(std::function<void()> waker);
	//! Wants nothing more: tells every producer that has not ended, unless the input has failed, as then the whole
	//! query ends. Idempotent; also right if Open() was never called. Does not throw.
	void Close();
	//! Ends the input with an error, which wakes its reader. `consequence`: of an error that another task reports.
	void Fail(const duckdb::ErrorData &error, bool consequence);
	//! Whether the error, if there is one, follows from another task's.
	bool FailedAsConsequence();

	// Called by ExchangeService. What comes through a channel of before a Rewind() is ignored.
	void OnPage(size_t producer, uint64_t channel, SharedBytes page);
	void OnEnd(size_t producer, uint64_t channel);
	void OnError(size_t producer, uint64_t channel, const duckdb::ErrorData &error, bool consequence);

private:
	struct Channel {
		uint64_t id = 0;
		std::deque<SharedBytes> pages;
		bool ended = false;
		size_t arrived_bytes = 0;
		size_t taken_bytes = 0;
	};
	//! A producer, and the channel on which it is read now.
	struct Reading {
		Producer producer;
		uint64_t channel;
	};

	//! Takes the front page of a channel; returns the credit to give back, 0 if none is due.
	size_t TakeLocked(Channel &channel, SharedBytes &page);
	void ThrowIfFailedLocked();
	//! Whether the reader may see pages and ends.
	bool HasBegunLocked();
	bool MayBeginLocked() const;
	//! The reader sees something: returns what is to be called without the lock.
	std::function<void()> SeenLocked();
	void Subscribe(const std::vector<Reading> &readings);
	void Wake();

	ExchangeService &service_;
	const size_t credit_bytes_;
	const OnConsequence on_consequence_;
	std::shared_ptr<const RunProgress> progress_;

	std::mutex mutex_;
	std::vector<Producer> producers_;
	std::vector<Channel> channels_;
	size_t next_ = 0;
	size_t ended_ = 0;
	//! Of all pages that have arrived and were not taken.
	size_t waiting_bytes_ = 0;
	bool restartable_ = false;
	FirstPage first_page_ = FirstPage::AT_ONCE;
	std::function<void()> on_first_read_;
	bool begun_ = false;
	//! Between Rewind() and Restart().
	bool rewound_ = false;
	bool opened_ = false;
	bool closed_ = false;
	bool failed_ = false;
	bool consequence_ = false;
	duckdb::ErrorData error_;

	std::mutex waker_mutex_;
	std::function<void()> waker_;
};

} // namespace skein
