#include "engine/unit_supply.hpp"

#include <algorithm>

namespace skein {

uint64_t UnitsToGive(uint64_t left, UnitPaces paces) {
	// Half of the unit in progress is still to be read.
	auto until_done = [&](uint64_t given) {
		auto taker = given == 0 ? 0 : (static_cast<double>(given) + paces.taker_has) * paces.taker;
		return std::max(taker, (static_cast<double>(left - given) + 0.5) * paces.owner);
	};
	auto even =
		((static_cast<double>(left) + 0.5) * paces.owner - paces.taker_has * paces.taker) / (paces.owner + paces.taker);
	auto fewer = std::min(left, static_cast<uint64_t>(std::max(even, 0.0)));
	auto more = std::min(left, fewer + 1);
	return until_done(more) < until_done(fewer) ? more : fewer;
}

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

UnitRange UnitSupply::Release(uint64_t at_least, UnitPaces paces) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto left = next_ < end_ ? end_ - next_ : 0;
	if (closed_ || left == 0 || left < at_least) {
		return {};
	}
	UnitRange result{end_ - UnitsToGive(left, paces), end_};
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
