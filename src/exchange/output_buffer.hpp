#pragma once

#include "duckdb/common/error_data.hpp"
#include "exchange/page.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace skein {

//! What a reader got: a page, or the end, or nothing yet.
struct OutputRead {
	std::shared_ptr<Page> page;
	bool at_end = false;
	//! The partition was closed: nothing more comes, and what came is not the whole.
	bool closed = false;
	//! Set when the writer has failed: nothing more comes, what came is not the whole.
	bool failed = false;
	duckdb::ErrorData error;
};

//! Keeps the pages of one output of one task until each consumer task has taken those of its partition.
//!
//! Shared by the task that writes it and the node that serves it. Thread-safe: written by pipeline threads, each
//! partition read by one reader. Callbacks may call any method.
//! Back-pressure: once more than `capacity_bytes` are held, IsFull() is true until the level has fallen under half of
//! it; a page that several partitions hold counts once. Pages live in DuckDB's buffer manager, so a buffer without
//! bound spills what does not fit into memory.
//! Invariants: a reader sees its pages in the order in which they were appended; after ClosePartition() or Abort()
//! no page of it is held; an aborted buffer never shows its reader an end.
class OutputBuffer {
public:
	static constexpr duckdb::idx_t UNBOUNDED = static_cast<duckdb::idx_t>(-1);

	OutputBuffer(duckdb::idx_t partitions, duckdb::idx_t capacity_bytes);

	duckdb::idx_t PartitionCount() const {
		return partitions_.size();
	}

	//! Called without a lock whenever a full buffer has room again, and when nobody reads any more. Replaces an earlier
	//! waker, which may be running still when this returns.
	void SetWriterWaker(std::function<void()> waker);
	bool IsFull() const;
	//! True once every partition has been closed by its reader: the writer may stop.
	bool IsAbandoned() const;
	//! Adds a page for one partition; dropped if that partition is closed. Never blocks.
	void Append(duckdb::idx_t partition, std::shared_ptr<Page> page);
	//! Adds a page for all partitions.
	void AppendToAll(const std::shared_ptr<Page> &page);
	//! Everything has been appended.
	void Finish();
	//! The writer failed, or the buffer has a successor: readers get `error` instead of what is left. Does nothing
	//! after Finish() was called.
	void Abort(const duckdb::ErrorData &error);

	//! Keeps what is appended, up to so many bytes, so that Replay() can begin again. Only for an unbounded buffer,
	//! before the first page. Until StopKeeping() the buffer is never abandoned.
	void KeepForReplay(duckdb::idx_t max_bytes);
	void StopKeeping();
	//! A buffer that begins with everything that was appended here, and gets all that its writer appends here from now
	//! on; this one gets nothing more and is to be aborted. nullptr if not everything was kept, or
	//! it was called before.
	std::shared_ptr<OutputBuffer> Replay();

	//! Registers the reader of a partition: `on_change` is called when Read() may have something new.
	void SetReader(duckdb::idx_t partition, std::function<void()> on_change);
	//! The next page of a partition, or its end, error or closing; without `take_page` only those last three.
	OutputRead Read(duckdb::idx_t partition, bool take_page = true);
	//! The reader wants nothing more, or the query has ended. The registered reader is told. Idempotent.
	void ClosePartition(duckdb::idx_t partition);

	//! Whether everything has been appended.
	bool IsFinished() const;
	//! Totals over all partitions, a shared page counted for each.
	duckdb::idx_t AppendedBytes() const {
		return appended_bytes_;
	}
	duckdb::idx_t AppendedRows() const {
		return appended_rows_;
	}
	duckdb::idx_t AppendedPages() const {
		return appended_pages_;
	}
	//! What has been sent over links to other processes, as it was sent.
	void AddLinkBytes(duckdb::idx_t bytes) {
		link_bytes_ += bytes;
	}
	duckdb::idx_t LinkBytes() const {
		return link_bytes_;
	}

private:
	//! A page and the number of partitions that still hold it; the count is guarded by mutex_.
	struct HeldPage {
		std::shared_ptr<Page> page;
		duckdb::idx_t holders;
	};
	struct Partition {
		std::deque<std::shared_ptr<HeldPage>> pages;
		std::function<void()> on_change;
		bool closed = false;
	};

	//! A page as it was appended; without a partition: for all.
	struct KeptPage {
		std::shared_ptr<Page> page;
		std::optional<duckdb::idx_t> partition;
	};

	void KeepLocked(std::shared_ptr<Page> page, std::optional<duckdb::idx_t> partition);
	void AppendLocked(Partition &partition, const std::shared_ptr<HeldPage> &held);
	void ReleaseLocked(HeldPage &held);
	//! Whether a writer that waits for room may go on now.
	bool TakeRoomLocked();
	void NotifyReaders();
	void WakeWriter();

	const duckdb::idx_t capacity_bytes_;
	mutable std::mutex mutex_;
	std::vector<Partition> partitions_;
	duckdb::idx_t open_partitions_;
	duckdb::idx_t held_bytes_ = 0;
	bool full_ = false;
	bool finished_ = false;
	bool aborted_ = false;
	duckdb::ErrorData error_;
	bool keeping_ = false;
	duckdb::idx_t max_kept_bytes_ = 0;
	duckdb::idx_t kept_bytes_ = 0;
	std::vector<KeptPage> kept_;
	//! Has taken this one's place.
	std::shared_ptr<OutputBuffer> successor_;
	std::atomic<duckdb::idx_t> appended_bytes_{0};
	std::atomic<duckdb::idx_t> appended_rows_{0};
	std::atomic<duckdb::idx_t> appended_pages_{0};
	std::atomic<duckdb::idx_t> link_bytes_{0};

	std::mutex waker_mutex_;
	std::function<void()> writer_waker_;
};

} // namespace skein
