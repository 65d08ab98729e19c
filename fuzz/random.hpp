#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skein::fuzz {

//! Numbers that follow from a seed, the same ones on every machine (SplitMix64; Steele, Lea, Flood 2014).
class Random {
public:
	//! `stream` gives one seed several independent sequences.
	explicit Random(uint64_t seed, uint64_t stream = 0) : state_(seed * 0xD1342543DE82EF95ULL + stream) {
		Next();
	}

	uint64_t Next() {
		state_ += 0x9E3779B97F4A7C15ULL;
		auto mixed = state_;
		mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
		mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
		return mixed ^ (mixed >> 31);
	}
	//! A number below `bound`, which is not 0.
	size_t Below(size_t bound) {
		return static_cast<size_t>(Next() % bound);
	}
	//! A number from `least` to `most`, both included.
	int64_t Between(int64_t least, int64_t most) {
		return least + static_cast<int64_t>(Next() % static_cast<uint64_t>(most - least + 1));
	}
	//! True in `percent` of a hundred cases.
	bool Chance(unsigned percent) {
		return Next() % 100 < percent;
	}
	template <class T>
	const T &Pick(const std::vector<T> &values) {
		return values[Below(values.size())];
	}
	//! One of the texts given.
	const char *Text(std::initializer_list<const char *> values) {
		return values.begin()[Below(values.size())];
	}

private:
	uint64_t state_;
};

} // namespace skein::fuzz
