#include "planner/leaf/unit_dealing.hpp"

#include <algorithm>

namespace skein {

namespace {

using Weight = unsigned __int128;

//! Divides a sequence of units into blocks whose weights differ by at most the largest unit.
//!
//! Such a division exists for every sequence: Barany and Grinberg, Block partitions of sequences, 2015. For a least
//! weight `low` of a block, let each block weigh between `low` and `low` plus the largest unit. Then the units that can
//! follow the j-th block are an interval, because a step of one unit never jumps over the room that a block leaves. The
//! greatest `low` whose intervals still reach the end is a solution; blocks are then cut from the end to the beginning.
class BlockPartition {
public:
	BlockPartition(const duckdb::vector<ScanUnit> &units, size_t blocks) : units_(units), blocks_(blocks) {
		AddUpWeights();
		Weight low = 0;
		for (Weight step = Highest(low + Total() / blocks); step > 0; step /= 2) {
			if (ReachesEnd(low + step)) {
				low += step;
			}
		}
		low_ = low;
	}

	//! The positions before which each block but the first begins.
	duckdb::vector<size_t> Cuts() const {
		auto ends = Ends(low_);
		duckdb::vector<size_t> cuts(blocks_ - 1);
		size_t end = units_.size();
		for (size_t block = blocks_ - 1; block > 0; block--) {
			// The block is the units from the cut to `end`; what lies before the cut must be reachable too.
			auto first = std::max(ends[block].first, FirstAtLeast(Minus(sums_[end], low_ + largest_)));
			auto last = std::min(ends[block].second, LastAtMost(Minus(sums_[end], low_)));
			end = BestCut(first, last, Total() * block / blocks_);
			cuts[block - 1] = end;
		}
		return cuts;
	}

private:
	//! Bytes decide; among equals the number of units, so that every block has one. Without bytes, rows decide.
	void AddUpWeights() {
		auto by_bytes = std::any_of(units_.begin(), units_.end(), [](auto &unit) { return unit.bytes > 0; });
		sums_.reserve(units_.size() + 1);
		sums_.push_back(0);
		for (auto &unit : units_) {
			auto weight = Weight(by_bytes ? unit.bytes : unit.rows) * (units_.size() + 2) + 1;
			largest_ = std::max(largest_, weight);
			sums_.push_back(sums_.back() + weight);
		}
	}

	Weight Total() const {
		return sums_.back();
	}
	static Weight Minus(Weight left, Weight right) {
		return left > right ? left - right : 0;
	}
	//! The highest power of two that is not above `limit`.
	static Weight Highest(Weight limit) {
		Weight result = 1;
		while (result <= limit / 2) {
			result *= 2;
		}
		return result;
	}
	size_t FirstAtLeast(Weight sum) const {
		return std::lower_bound(sums_.begin(), sums_.end(), sum) - sums_.begin();
	}
	size_t LastAtMost(Weight sum) const {
		return std::upper_bound(sums_.begin(), sums_.end(), sum) - sums_.begin() - 1;
	}

	//! For each number of blocks, the first and the last position at which that many blocks can end.
	duckdb::vector<std::pair<size_t, size_t>> Ends(Weight low) const {
		duckdb::vector<std::pair<size_t, size_t>> ends{{0, 0}};
		for (size_t block = 0; block < blocks_; block++) {
			auto first = FirstAtLeast(sums_[std::min(ends.back().first, units_.size())] + low);
			auto last = LastAtMost(sums_[ends.back().second] + low + largest_);
			ends.emplace_back(first, last);
			if (first > units_.size()) {
				break;
			}
		}
		return ends;
	}
	bool ReachesEnd(Weight low) const {
		return Ends(low).back().first <= units_.size();
	}

	//! The cut between `first` and `last` nearest to `ideal`. A cut between two files is preferred as long as it is not
	//! half a unit further away: then no task opens a file for a part of it.
	size_t BestCut(size_t first, size_t last, Weight ideal) const {
		size_t best = first;
		Weight best_cost = 0;
		for (size_t cut = first; cut <= last; cut++) {
			auto distance = Minus(sums_[cut], ideal) + Minus(ideal, sums_[cut]);
			auto splits_file = cut > 0 && cut < units_.size() && units_[cut - 1].file == units_[cut].file;
			auto cost = distance + (splits_file ? largest_ / 2 : 0);
			if (cut == first || cost < best_cost) {
				best = cut;
				best_cost = cost;
			}
		}
		return best;
	}

	const duckdb::vector<ScanUnit> &units_;
	size_t blocks_;
	//! Weight of the units before each position.
	duckdb::vector<Weight> sums_;
	Weight largest_ = 0;
	Weight low_ = 0;
};

} // namespace

duckdb::vector<duckdb::vector<ScanUnit>> DealUnits(const duckdb::vector<ScanUnit> &units, size_t tasks) {
	auto blocks = std::max<size_t>(1, std::min(tasks, units.size()));
	duckdb::vector<duckdb::vector<ScanUnit>> result;
	if (blocks == 1) {
		result.push_back(units);
		return result;
	}
	size_t begin = 0;
	auto cuts = BlockPartition(units, blocks).Cuts();
	cuts.push_back(units.size());
	for (auto end : cuts) {
		result.emplace_back(units.begin() + begin, units.begin() + end);
		begin = end;
	}
	return result;
}

} // namespace skein
