#include "planner/leaf/unit_dealing.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace skein {
namespace {

using Units = duckdb::vector<ScanUnit>;

constexpr uint32_t CASES = 100000;

//! A number in [0, below), the same on every machine.
class Dice {
public:
	explicit Dice(uint32_t seed) : random_(seed) {
	}
	uint64_t Below(uint64_t below) {
		return random_() % below;
	}

private:
	std::mt19937_64 random_;
};

//! How heavy units are: alike, of any size up to a limit, mostly empty, growing, or one among small ones.
uint64_t RandomBytes(Dice &dice, uint64_t shape, uint64_t limit, size_t position) {
	switch (shape) {
	case 0:
		return limit;
	case 1:
		return dice.Below(limit + 1);
	case 2:
		return dice.Below(8) == 0 ? dice.Below(limit + 1) : 0;
	case 3:
		return limit * position / 16;
	case 4:
		return dice.Below(30) == 0 ? limit * 1000 : dice.Below(10);
	default:
		return 0;
	}
}

Units RandomUnits(Dice &dice) {
	Units units(dice.Below(4) == 0 ? dice.Below(4) : dice.Below(40));
	auto shape = dice.Below(6);
	auto limit = uint64_t(1) << dice.Below(40);
	auto units_per_file = 1 + dice.Below(5);
	size_t file = 0, row_group = 0;
	for (size_t i = 0; i < units.size(); i++) {
		if (i > 0 && dice.Below(units_per_file) == 0) {
			file++;
			row_group = 0;
		}
		// Row groups that filters rule out leave gaps.
		row_group += dice.Below(5) == 0;
		units[i] = {file, row_group++, dice.Below(1000), RandomBytes(dice, shape, limit, i)};
	}
	return units;
}

bool SameUnit(const ScanUnit &left, const ScanUnit &right) {
	return left.file == right.file && left.row_group == right.row_group && left.rows == right.rows &&
		   left.bytes == right.bytes;
}

bool SameDealing(const duckdb::vector<Units> &left, const duckdb::vector<Units> &right) {
	return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Units &a, const Units &b) {
		return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameUnit);
	});
}

//! What the tasks of a dealing weigh: by bytes, or by rows if no unit has bytes.
struct Weights {
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;
	uint64_t largest_unit = 0;
};

Weights WeighTasks(const Units &units, const duckdb::vector<Units> &dealt) {
	auto by_bytes = std::any_of(units.begin(), units.end(), [](auto &unit) { return unit.bytes > 0; });
	Weights result;
	for (auto &task : dealt) {
		uint64_t weight = 0;
		for (auto &unit : task) {
			auto of_unit = by_bytes ? unit.bytes : unit.rows;
			weight += of_unit;
			result.largest_unit = std::max(result.largest_unit, of_unit);
		}
		result.least = std::min(result.least, weight);
		result.most = std::max(result.most, weight);
	}
	return result;
}

//! Everything that is promised of one dealing; the empty text, or what is broken.
std::string Broken(const Units &units, size_t tasks, const duckdb::vector<Units> &dealt) {
	Units together;
	for (auto &task : dealt) {
		if (task.empty() && !units.empty()) {
			return "a task has nothing although there are units";
		}
		together.insert(together.end(), task.begin(), task.end());
	}
	if (dealt.size() != std::max<size_t>(1, std::min(tasks, units.size()))) {
		return "there are " + std::to_string(dealt.size()) + " tasks";
	}
	if (!std::equal(together.begin(), together.end(), units.begin(), units.end(), SameUnit)) {
		return "the tasks one after the other are not the units in order, each once";
	}
	auto weights = WeighTasks(units, dealt);
	if (weights.most - weights.least > weights.largest_unit) {
		return "two tasks differ by more than the largest unit";
	}
	return "";
}

TEST(DealingProperties, HoldForRandomUnits) {
	for (uint32_t seed = 0; seed < CASES; seed++) {
		Dice dice(seed);
		auto units = RandomUnits(dice);
		auto tasks = 1 + dice.Below(12);
		auto dealt = DealUnits(units, tasks);
		ASSERT_EQ(Broken(units, tasks, dealt), "") << "seed " << seed;
		if (seed % 10 == 0) {
			ASSERT_TRUE(SameDealing(dealt, DealUnits(units, tasks))) << "seed " << seed;
		}
	}
}

//! Counts of units, in ascending order.
duckdb::vector<size_t> Counts(const duckdb::vector<Units> &dealt) {
	duckdb::vector<size_t> result;
	for (auto &units : dealt) {
		result.push_back(units.size());
	}
	std::sort(result.begin(), result.end());
	return result;
}

TEST(DealingProperties, GroupsOfOneAndTwelveFilesAreDealtAsThirteen) {
	// A source that comes in two groups, of 1 and of 12 equal files, on 3 tasks that read 2 groups each.
	Units units;
	for (size_t file = 0; file < 13; file++) {
		units.push_back({file, 0, 1000, 1000000});
	}
	const duckdb::vector<size_t> expected{2, 2, 2, 2, 2, 3};
	EXPECT_EQ(Counts(DealUnits(units, 6)), expected);

	duckdb::vector<Units> groups;
	for (auto &task : DealUnits(units, 3)) {
		for (auto &group : DealUnits(task, 2)) {
			groups.push_back(group);
		}
	}
	EXPECT_EQ(Counts(groups), expected);
}

} // namespace
} // namespace skein
