#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace skein {

//! Consecutive units of a slice, by their positions in it.
struct UnitRange {
	uint64_t begin = 0;
	//! The first unit after the range.
	uint64_t end = 0;

	uint64_t Count() const {
		return end - begin;
	}
};

//! How long two tasks take for a unit, on any scale.
struct UnitPaces {
	double owner = 1;
	double taker = 1;
	//! What the taker is still to read before what it gets.
	double taker_has = 0;
};

//! How many of `left` units the owner, which is in the middle of another one, gives away so that both are done soonest.
uint64_t UnitsToGive(uint64_t left, UnitPaces paces);

//! The units of one slice that nobody has begun to read.
//!
//! Whoever reads the slice claims them, about from the first to the last; whoever gives units to another task releases
//! some from the end. Thread-safe.
//! Invariants: no unit is both claimed and released; units that are released follow on those that are left.
class UnitSupply {
public:
	explicit UnitSupply(uint64_t units);

	//! Begins a unit. False if it was released, or if the supply is closed: it must not be read then. Units before it
	//! are not released any more; they may still be claimed.
	bool Claim(uint64_t position);
	//! Takes UnitsToGive() of what is left from the end; nothing if less than `at_least` units are left.
	UnitRange Release(uint64_t at_least, UnitPaces paces = {});
	//! Nothing is claimed or released any more.
	void Close();
	//! Whether unit `position` can still be claimed.
	bool Has(uint64_t position);
	uint64_t Left();
	//! As Left() == 0, without a lock: for whoever asks often.
	bool IsEmpty() const {
		return empty_;
	}
	uint64_t Claimed();
	//! A unit that was claimed has rows: statistics and filters have not ruled it out.
	void NoteRead() {
		read_++;
	}
	uint64_t Read() const {
		return read_;
	}

private:
	//! Under mutex_.
	void NoteLeft() {
		empty_ = next_ >= end_;
	}

	std::mutex mutex_;
	//! The first unit of those that no later one has been claimed of, and the first that was released.
	uint64_t next_ = 0;
	uint64_t end_;
	uint64_t claimed_ = 0;
	bool closed_ = false;
	std::atomic<bool> empty_;
	std::atomic<uint64_t> read_{0};
};

} // namespace skein
