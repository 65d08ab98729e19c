#include "engine/unit_supply.hpp"

#include <algorithm>

namespace skein {

UnitSupply::UnitSupply(uint64_t units) : end_(units), empty_(units == 0) {
}

bool UnitSupply::Claim(uint64_t position) {
	std::lock_guard<std::mutex> guard(mutex_);
	if (closed_ || position >= end_) {
		return false;
	}
	next_ = std::max(next_, position + 1);
	claimed_++;
	NoteLeft();
	return true;
}

UnitRange UnitSupply::Release(uint64_t at_least) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto left = next_ < end_ ? end_ - next_ : 0;
	if (closed_ || left == 0 || left < at_least) {
		return {};
	}
	UnitRange result{end_ - std::max<uint64_t>(1, left / 2), end_};
	end_ = result.begin;
	NoteLeft();
	return result;
}

void UnitSupply::Close() {
	std::lock_guard<std::mutex> guard(mutex_);
	closed_ = true;
	next_ = std::max(next_, end_);
	NoteLeft();
}

bool UnitSupply::Has(uint64_t position) {
	std::lock_guard<std::mutex> guard(mutex_);
	return !closed_ && position < end_;
}

uint64_t UnitSupply::Left() {
	std::lock_guard<std::mutex> guard(mutex_);
	return next_ < end_ ? end_ - next_ : 0;
}

uint64_t UnitSupply::Claimed() {
	std::lock_guard<std::mutex> guard(mutex_);
	return claimed_;
}

} // namespace skein
