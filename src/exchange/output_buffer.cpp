#include "exchange/output_buffer.hpp"

namespace skein {

using namespace duckdb;

OutputBuffer::OutputBuffer(idx_t partitions, idx_t capacity_bytes)
	: capacity_bytes_(capacity_bytes), partitions_(partitions), open_partitions_(partitions) {
}

void OutputBuffer::SetWriterWaker(std::function<void()> waker) {
	std::lock_guard<std::mutex> guard(waker_mutex_);
	writer_waker_ = std::move(waker);
}

void OutputBuffer::WakeWriter() {
	std::lock_guard<std::mutex> guard(waker_mutex_);
	if (writer_waker_) {
		writer_waker_();
	}
}

bool OutputBuffer::IsFull() const {
	std::lock_guard<std::mutex> guard(mutex_);
	return full_;
}

bool OutputBuffer::IsAbandoned() const {
	std::lock_guard<std::mutex> guard(mutex_);
	return open_partitions_ == 0;
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
}

void OutputBuffer::Append(idx_t index, std::shared_ptr<Page> page) {
	std::function<void()> notify;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (aborted_) {
			return;
		}
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
		std::lock_guard<std::mutex> guard(mutex_);
		if (aborted_) {
			return;
		}
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
		std::lock_guard<std::mutex> guard(mutex_);
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
