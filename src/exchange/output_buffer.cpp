#include "exchange/output_buffer.hpp"

namespace skein {

using namespace duckdb;

OutputBuffer::OutputBuffer(idx_t partitions, idx_t capacity_bytes)
	: capacity_bytes_(capacity_bytes), partitions_(partitions), open_partitions_(partitions) {
}

void OutputBuffer::SetWriterWaker(std::function<void()> waker) {
	std::lock_guard<std::mutex> guard(waker_mutex_);
	writer_waker_.swap(waker);
}

void OutputBuffer::WakeWriter() {
	std::function<void()> waker;
	{
		std::lock_guard<std::mutex> guard(waker_mutex_);
		waker = writer_waker_;
	}
	if (waker) {
		waker();
	}
}

bool OutputBuffer::IsFull() const {
	std::lock_guard<std::mutex> guard(mutex_);
	return full_;
}

bool OutputBuffer::IsFinished() const {
	std::lock_guard<std::mutex> guard(mutex_);
	return finished_;
}

bool OutputBuffer::IsAbandoned() const {
	std::unique_lock<std::mutex> guard(mutex_);
	if (successor_) {
		auto successor = successor_;
		guard.unlock();
		return successor->IsAbandoned();
	}
	return open_partitions_ == 0 && !keeping_;
}

void OutputBuffer::KeepForReplay(idx_t max_bytes) {
	D_ASSERT(capacity_bytes_ == UNBOUNDED);
	std::lock_guard<std::mutex> guard(mutex_);
	keeping_ = true;
	max_kept_bytes_ = max_bytes;
}

void OutputBuffer::StopKeeping() {
	std::vector<KeptPage> dropped;
	std::unique_lock<std::mutex> guard(mutex_);
	if (successor_) {
		auto successor = successor_;
		guard.unlock();
		successor->StopKeeping();
		return;
	}
	keeping_ = false;
	dropped.swap(kept_);
}

void OutputBuffer::KeepLocked(std::shared_ptr<Page> page, std::optional<idx_t> partition) {
	if (!keeping_) {
		return;
	}
	kept_bytes_ += page->Bytes();
	if (kept_bytes_ > max_kept_bytes_) {
		keeping_ = false;
		kept_.clear();
		return;
	}
	kept_.push_back({std::move(page), partition});
}

std::shared_ptr<OutputBuffer> OutputBuffer::Replay() {
	std::lock_guard<std::mutex> guard(mutex_);
	if (!keeping_ || aborted_ || successor_) {
		return nullptr;
	}
	auto result = std::make_shared<OutputBuffer>(partitions_.size(), capacity_bytes_);
	result->KeepForReplay(max_kept_bytes_);
	for (auto &kept : kept_) {
		if (kept.partition) {
			result->Append(*kept.partition, kept.page);
		} else {
			result->AppendToAll(kept.page);
		}
	}
	if (finished_) {
		result->Finish();
	}
	kept_.clear();
	successor_ = result;
	return result;
}

void OutputBuffer::AppendLocked(Partition &partition, const std::shared_ptr<HeldPage> &held) {
	if (partition.closed) {
		return;
	}
	if (held->holders++ == 0) {
		held_bytes_ += held->page->Bytes();
		full_ = full_ || held_bytes_ > capacity_bytes_;
	}
	partition.pages.push_back(held);
	appended_bytes_ += held->page->Bytes();
	appended_rows_ += held->page->Rows();
	appended_pages_++;
}

void OutputBuffer::Append(idx_t index, std::shared_ptr<Page> page) {
	std::function<void()> notify;
	{
		std::unique_lock<std::mutex> guard(mutex_);
		if (successor_) {
			auto successor = successor_;
			guard.unlock();
			successor->Append(index, std::move(page));
			return;
		}
		if (aborted_) {
			return;
		}
		KeepLocked(page, index);
		auto &partition = partitions_[index];
		AppendLocked(partition, std::make_shared<HeldPage>(HeldPage{std::move(page), 0}));
		notify = partition.on_change;
	}
	if (notify) {
		notify();
	}
}

void OutputBuffer::AppendToAll(const std::shared_ptr<Page> &page) {
	{
		std::unique_lock<std::mutex> guard(mutex_);
		if (successor_) {
			auto successor = successor_;
			guard.unlock();
			successor->AppendToAll(page);
			return;
		}
		if (aborted_) {
			return;
		}
		KeepLocked(page, std::nullopt);
		auto held = std::make_shared<HeldPage>(HeldPage{page, 0});
		for (auto &partition : partitions_) {
			AppendLocked(partition, held);
		}
	}
	NotifyReaders();
}

void OutputBuffer::NotifyReaders() {
	std::vector<std::function<void()>> callbacks;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &partition : partitions_) {
			if (partition.on_change && !partition.closed) {
				callbacks.push_back(partition.on_change);
			}
		}
	}
	for (auto &callback : callbacks) {
		callback();
	}
}

void OutputBuffer::Finish() {
	{
		std::unique_lock<std::mutex> guard(mutex_);
		if (successor_) {
			auto successor = successor_;
			guard.unlock();
			successor->Finish();
			return;
		}
		if (finished_ || aborted_) {
			return;
		}
		finished_ = true;
	}
	NotifyReaders();
}

void OutputBuffer::Abort(const ErrorData &error) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (finished_ || aborted_) {
			return;
		}
		aborted_ = true;
		error_ = error;
		for (auto &partition : partitions_) {
			partition.pages.clear();
		}
		held_bytes_ = 0;
		full_ = false;
	}
	NotifyReaders();
	WakeWriter();
}

void OutputBuffer::SetReader(idx_t index, std::function<void()> on_change) {
	std::lock_guard<std::mutex> guard(mutex_);
	partitions_[index].on_change = std::move(on_change);
}

void OutputBuffer::ReleaseLocked(HeldPage &held) {
	if (--held.holders == 0) {
		held_bytes_ -= held.page->Bytes();
	}
}

bool OutputBuffer::TakeRoomLocked() {
	if (full_ && held_bytes_ <= capacity_bytes_ / 2) {
		full_ = false;
		return true;
	}
	return false;
}

OutputRead OutputBuffer::Read(idx_t index, bool take_page) {
	OutputRead result;
	bool wake = false;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto &partition = partitions_[index];
		if (partition.closed) {
			result.closed = true;
			return result;
		}
		if (aborted_) {
			result.failed = true;
			result.error = error_;
			return result;
		}
		if (partition.pages.empty()) {
			result.at_end = finished_;
			return result;
		}
		if (!take_page) {
			return result;
		}
		result.page = partition.pages.front()->page;
		ReleaseLocked(*partition.pages.front());
		partition.pages.pop_front();
		wake = TakeRoomLocked();
	}
	if (wake) {
		WakeWriter();
	}
	return result;
}

void OutputBuffer::ClosePartition(idx_t index) {
	bool wake;
	std::deque<std::shared_ptr<HeldPage>> dropped;
	std::function<void()> notify;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto &partition = partitions_[index];
		if (partition.closed) {
			return;
		}
		partition.closed = true;
		notify.swap(partition.on_change);
		open_partitions_--;
		dropped.swap(partition.pages);
		for (auto &page : dropped) {
			ReleaseLocked(*page);
		}
		wake = TakeRoomLocked() || open_partitions_ == 0;
	}
	if (notify) {
		notify();
	}
	if (wake) {
		WakeWriter();
	}
}

} // namespace skein
