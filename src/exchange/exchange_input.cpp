#include "exchange/exchange_input.hpp"

#include "exchange/exchange_service.hpp"

namespace skein {

using namespace duckdb;

ExchangeInput::ExchangeInput(ExchangeService &service, std::vector<Producer> producers, size_t credit_bytes,
							 OnConsequence on_consequence)
	: service_(service), producers_(std::move(producers)), credit_bytes_(credit_bytes), on_consequence_(on_consequence),
	  channels_(producers_.size()) {
}

void ExchangeInput::Open() {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (opened_ || closed_) {
			return;
		}
		opened_ = true;
		for (auto &channel : channels_) {
			channel.id = service_.NewChannelId();
		}
	}
	for (size_t i = 0; i < producers_.size(); i++) {
		service_.Subscribe(producers_[i], channels_[i].id, shared_from_this(), i, credit_bytes_);
	}
}

void ExchangeInput::ThrowIfFailedLocked() {
	if (failed_) {
		error_.Throw();
	}
}

size_t ExchangeInput::TakeLocked(Channel &channel, SharedBytes &page) {
	page = std::move(channel.pages.front());
	channel.pages.pop_front();
	channel.taken_bytes += page.size;
	if (channel.ended || channel.taken_bytes < credit_bytes_ / 2) {
		return 0;
	}
	auto credit = channel.taken_bytes;
	channel.taken_bytes = 0;
	return credit;
}

InputState ExchangeInput::Next(SharedBytes &page) {
	size_t producer = 0;
	size_t credit;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ThrowIfFailedLocked();
		size_t tried = 0;
		for (; tried < channels_.size(); tried++) {
			producer = (next_ + tried) % channels_.size();
			if (!channels_[producer].pages.empty()) {
				break;
			}
		}
		if (tried == channels_.size()) {
			return ended_ == channels_.size() || closed_ ? InputState::END : InputState::WAIT;
		}
		next_ = producer + 1;
		credit = TakeLocked(channels_[producer], page);
	}
	if (credit > 0) {
		service_.GiveCredit(producers_[producer], channels_[producer].id, credit);
	}
	return InputState::PAGE;
}

InputState ExchangeInput::NextFrom(size_t producer, SharedBytes &page) {
	size_t credit;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		ThrowIfFailedLocked();
		auto &channel = channels_[producer];
		if (channel.pages.empty()) {
			return channel.ended || closed_ ? InputState::END : InputState::WAIT;
		}
		credit = TakeLocked(channel, page);
	}
	if (credit > 0) {
		service_.GiveCredit(producers_[producer], channels_[producer].id, credit);
	}
	return InputState::PAGE;
}

bool ExchangeInput::IsReady() {
	std::lock_guard<std::mutex> guard(mutex_);
	if (failed_ || closed_ || ended_ == channels_.size()) {
		return true;
	}
	for (auto &channel : channels_) {
		if (!channel.pages.empty()) {
			return true;
		}
	}
	return false;
}

bool ExchangeInput::IsReadyFrom(size_t producer) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto &channel = channels_[producer];
	return failed_ || closed_ || channel.ended || !channel.pages.empty();
}

void ExchangeInput::SetWaker(std::function<void()> waker) {
	std::lock_guard<std::mutex> guard(waker_mutex_);
	waker_ = std::move(waker);
}

void ExchangeInput::Wake() {
	std::lock_guard<std::mutex> guard(waker_mutex_);
	if (waker_) {
		waker_();
	}
}

void ExchangeInput::Close() {
	bool was_open;
	std::vector<bool> ended(channels_.size());
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (closed_) {
			return;
		}
		closed_ = true;
		was_open = opened_;
		for (size_t i = 0; i < channels_.size(); i++) {
			ended[i] = channels_[i].ended || failed_;
			channels_[i].pages.clear();
		}
	}
	for (size_t i = 0; i < producers_.size(); i++) {
		if (was_open) {
			service_.Unsubscribe(channels_[i].id);
		}
		if (!ended[i]) {
			service_.Discard(producers_[i]);
		}
	}
	Wake();
}

void ExchangeInput::Fail(const ErrorData &error, bool consequence) {
	if (consequence && on_consequence_ == OnConsequence::LEAVE_TO_OWNER) {
		return;
	}
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

void ExchangeInput::OnPage(size_t producer, SharedBytes page) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (closed_ || failed_) {
			return;
		}
		channels_[producer].pages.push_back(std::move(page));
	}
	Wake();
}

void ExchangeInput::OnEnd(size_t producer) {
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (!channels_[producer].ended) {
			channels_[producer].ended = true;
			ended_++;
		}
	}
	Wake();
}

} // namespace skein
