#include "exchange/exchange_input.hpp"

#include "exchange/exchange_service.hpp"
#include "wire/messages/error_codec.hpp"

#include <utility>

namespace skein {

using namespace duckdb;

namespace {

size_t CreditOfEach(size_t credit_bytes, size_t producers) {
	auto share = MOST_AHEAD_BYTES / std::max<size_t>(producers, 1);
	return std::min(credit_bytes, std::max(share, LEAST_AHEAD_BYTES));
}

} // namespace

ExchangeInput::ExchangeInput(ExchangeService &service, std::vector<Producer> producers, size_t credit_bytes,
							 OnConsequence on_consequence)
	: service_(service), credit_bytes_(CreditOfEach(credit_bytes, producers.size())), on_consequence_(on_consequence),
	  producers_(std::move(producers)), channels_(producers_.size()) {
}

void ExchangeInput::AllowRestart(std::function<void()> on_first_read) {
	std::lock_guard<std::mutex> guard(mutex_);
	restartable_ = true;
	on_first_read_ = std::move(on_first_read);
}

void ExchangeInput::SetFirstPage(FirstPage first_page) {
	std::lock_guard<std::mutex> guard(mutex_);
	first_page_ = first_page;
}

void ExchangeInput::Open() {
	std::vector<Reading> readings;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (opened_ || closed_) {
			return;
		}
		opened_ = true;
		if (rewound_) {
			// Restart() subscribes.
			return;
		}
		for (size_t i = 0; i < channels_.size(); i++) {
			channels_[i].id = service_.NewChannelId();
			readings.push_back({producers_[i], channels_[i].id});
		}
	}
	Subscribe(readings);
}

void ExchangeInput::Subscribe(const std::vector<Reading> &readings) {
	for (size_t i = 0; i < readings.size(); i++) {
		service_.Subscribe(readings[i].producer, readings[i].channel, shared_from_this(), i, credit_bytes_);
		bool outdated;
		{
			std::lock_guard<std::mutex> guard(mutex_);
			outdated = closed_ || channels_[i].id != readings[i].channel;
		}
		if (outdated) {
			service_.Unsubscribe(readings[i].channel);
		}
	}
}

bool ExchangeInput::Rewind() {
	std::vector<uint64_t> outdated;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (!restartable_ || failed_) {
			return false;
		}
		for (auto &channel : channels_) {
			outdated.push_back(channel.id);
			channel = Channel();
		}
		ended_ = 0;
		waiting_bytes_ = 0;
		begun_ = false;
		rewound_ = true;
	}
	for (auto channel : outdated) {
		service_.Unsubscribe(channel);
	}
	return true;
}

void ExchangeInput::Restart(std::vector<Producer> producers) {
	D_ASSERT(producers.size() == channels_.size());
	std::vector<Reading> readings;
	bool closed;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		producers_ = producers;
		rewound_ = false;
		closed = closed_;
		for (size_t i = 0; opened_ && !closed_ && !failed_ && i < channels_.size(); i++) {
			channels_[i].id = service_.NewChannelId();
			readings.push_back({producers_[i], channels_[i].id});
		}
	}
	Subscribe(readings);
	if (closed) {
		for (auto &producer : producers) {
			service_.Discard(producer);
		}
	}
}

void ExchangeInput::ThrowIfFailedLocked() {
	if (failed_) {
		error_.Throw();
	}
}

bool ExchangeInput::MayBeginLocked() const {
	if (rewound_) {
		return false;
	}
	if (ended_ == channels_.size()) {
		return true;
	}
	auto has_page = [](const Channel &channel) { return !channel.pages.empty(); };
	switch (first_page_) {
	case FirstPage::AT_ONCE:
		return std::any_of(channels_.begin(), channels_.end(), has_page);
	case FirstPage::IN_ORDER: {
		auto first =
			std::find_if(channels_.begin(), channels_.end(), [&](auto &it) { return has_page(it) || !it.ended; });
		return first != channels_.end() && has_page(*first);
	}
	case FirstPage::OF_EVERY_PRODUCER:
		return std::all_of(channels_.begin(), channels_.end(), [&](auto &it) { return has_page(it) || it.ended; });
	default:
		return std::any_of(channels_.begin(), channels_.end(),
						   [&](auto &it) { return it.arrived_bytes >= credit_bytes_; });
	}
}

bool ExchangeInput::HasBegunLocked() {
	begun_ = begun_ || !restartable_ || MayBeginLocked();
	return begun_;
}

std::function<void()> ExchangeInput::SeenLocked() {
	restartable_ = false;
	begun_ = true;
	return std::exchange(on_first_read_, nullptr);
}

size_t ExchangeInput::TakeLocked(Channel &channel, SharedBytes &page) {
	page = std::move(channel.pages.front());
	channel.pages.pop_front();
	waiting_bytes_ -= page.size;
	channel.taken_bytes += page.size;
	if (channel.ended || channel.taken_bytes < credit_bytes_ / 2) {
		return 0;
	}
	auto credit = channel.taken_bytes;
	channel.taken_bytes = 0;
	return credit;
}

InputState ExchangeInput::Next(SharedBytes &page, size_t least_waiting) {
	size_t credit = 0;
	bool found;
	Reading reading{};
	std::function<void()> seen;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ThrowIfFailedLocked();
		if (!closed_ && !HasBegunLocked()) {
			return InputState::WAIT;
		}
		size_t producer = 0;
		size_t tried = waiting_bytes_ < least_waiting ? channels_.size() : 0;
		for (; tried < channels_.size(); tried++) {
			producer = (next_ + tried) % channels_.size();
			if (!channels_[producer].pages.empty()) {
				break;
			}
		}
		found = tried < channels_.size();
		if (!found && ended_ < channels_.size() && !closed_) {
			return InputState::WAIT;
		}
		seen = SeenLocked();
		if (found) {
			next_ = producer + 1;
			credit = TakeLocked(channels_[producer], page);
			reading = {producers_[producer], channels_[producer].id};
		}
	}
	if (seen) {
		seen();
	}
	if (credit > 0) {
		service_.GiveCredit(reading.producer, reading.channel, credit);
	}
	return found ? InputState::PAGE : InputState::END;
}

InputState ExchangeInput::NextFrom(size_t producer, SharedBytes &page) {
	size_t credit = 0;
	bool found;
	Reading reading{};
	std::function<void()> seen;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ThrowIfFailedLocked();
		if (!closed_ && !HasBegunLocked()) {
			return InputState::WAIT;
		}
		auto &channel = channels_[producer];
		found = !channel.pages.empty();
		if (!found && !channel.ended && !closed_) {
			return InputState::WAIT;
		}
		seen = SeenLocked();
		if (found) {
			credit = TakeLocked(channel, page);
			reading = {producers_[producer], channel.id};
		}
	}
	if (seen) {
		seen();
	}
	if (credit > 0) {
		service_.GiveCredit(reading.producer, reading.channel, credit);
	}
	return found ? InputState::PAGE : InputState::END;
}

bool ExchangeInput::IsReady(size_t least_waiting) {
	std::lock_guard<std::mutex> guard(mutex_);
	if (failed_ || closed_) {
		return true;
	}
	if (!HasBegunLocked()) {
		return false;
	}
	if (ended_ == channels_.size()) {
		return true;
	}
	return waiting_bytes_ >= std::max<size_t>(least_waiting, 1);
}

bool ExchangeInput::IsReadyFrom(size_t producer) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto &channel = channels_[producer];
	return failed_ || closed_ || (HasBegunLocked() && (channel.ended || !channel.pages.empty()));
}

void ExchangeInput::SetWaker(std::function<void()> waker) {
	std::lock_guard<std::mutex> guard(waker_mutex_);
	waker_.swap(waker);
}

void ExchangeInput::Wake() {
	std::function<void()> waker;
	{
		std::lock_guard<std::mutex> guard(waker_mutex_);
		waker = waker_;
	}
	if (waker) {
		waker();
	}
}

void ExchangeInput::Close() {
	std::vector<uint64_t> read;
	std::vector<Producer> unfinished;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (closed_) {
			return;
		}
		closed_ = true;
		for (size_t i = 0; i < channels_.size(); i++) {
			if (opened_) {
				read.push_back(channels_[i].id);
			}
			// Between Rewind() and Restart() there is nobody to tell; Restart() will.
			if (!channels_[i].ended && !failed_ && !rewound_) {
				unfinished.push_back(producers_[i]);
			}
			channels_[i].pages.clear();
		}
		waiting_bytes_ = 0;
	}
	for (auto channel : read) {
		service_.Unsubscribe(channel);
	}
	for (auto &producer : unfinished) {
		service_.Discard(producer);
	}
	Wake();
}

void ExchangeInput::Fail(const ErrorData &error, bool consequence) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (failed_ || closed_) {
			return;
		}
		failed_ = true;
		consequence_ = consequence;
		error_ = error;
	}
	Wake();
}

bool ExchangeInput::FailedAsConsequence() {
	std::lock_guard<std::mutex> guard(mutex_);
	return failed_ && consequence_;
}

void ExchangeInput::OnPage(size_t producer, uint64_t channel, SharedBytes page) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto &target = channels_[producer];
		if (closed_ || failed_ || target.id != channel) {
			return;
		}
		target.arrived_bytes += page.size;
		waiting_bytes_ += page.size;
		target.pages.push_back(std::move(page));
	}
	Wake();
}

void ExchangeInput::OnEnd(size_t producer, uint64_t channel) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto &target = channels_[producer];
		if (target.id == channel && !target.ended) {
			target.ended = true;
			ended_++;
		}
	}
	Wake();
}

void ExchangeInput::OnError(size_t producer, uint64_t channel, const ErrorData &error, bool consequence) {
	if (on_consequence_ == OnConsequence::LEAVE_TO_OWNER && (consequence || !LostWorkerOf(error).empty())) {
		return;
	}
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (channels_[producer].id != channel) {
			return;
		}
	}
	Fail(error, consequence);
}

} // namespace skein
