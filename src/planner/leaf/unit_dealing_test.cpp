#include "planner/leaf/unit_dealing.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace skein {
namespace {

using Units = duckdb::vector<ScanUnit>;

Units EqualFiles(size_t files, size_t row_groups) {
	Units units;
	for (size_t file = 0; file < files; file++) {
		for (size_t row_group = 0; row_group < row_groups; row_group++) {
			units.push_back({file, row_group, 1000, 1000000});
		}
	}
	return units;
}

duckdb::vector<size_t> Counts(const duckdb::vector<Units> &dealt) {
	duckdb::vector<size_t> counts;
	for (auto &task : dealt) {
		counts.push_back(task.size());
	}
	std::sort(counts.begin(), counts.end());
	return counts;
}

void CheckDealing(const Units &units, size_t tasks) {
	auto dealt = DealUnits(units, tasks);
	ASSERT_EQ(dealt.size(), std::max<size_t>(1, std::min(tasks, units.size())));
	size_t next = 0;
	duckdb::idx_t least = -1, most = 0, largest = 0;
	for (auto &task : dealt) {
		ASSERT_TRUE(!task.empty() || units.empty());
		duckdb::idx_t bytes = 0;
		for (auto &unit : task) {
			ASSERT_LT(next, units.size());
			ASSERT_EQ(unit.file, units[next].file);
			ASSERT_EQ(unit.row_group, units[next].row_group);
			bytes += unit.bytes;
			largest = std::max(largest, unit.bytes);
			next++;
		}
		least = std::min(least, bytes);
		most = std::max(most, bytes);
	}
	ASSERT_EQ(next, units.size());
	ASSERT_LE(most - least, largest);
}

TEST(UnitDealing, TwelveEqualFilesOnFiveTasks) {
	EXPECT_EQ(Counts(DealUnits(EqualFiles(12, 1), 5)), (duckdb::vector<size_t>{2, 2, 2, 3, 3}));
}

TEST(UnitDealing, ThirteenEqualFilesOnSixTasks) {
	EXPECT_EQ(Counts(DealUnits(EqualFiles(13, 1), 6)), (duckdb::vector<size_t>{2, 2, 2, 2, 2, 3}));
}

TEST(UnitDealing, FewerUnitsThanTasksGiveFewerTasks) {
	EXPECT_EQ(Counts(DealUnits(EqualFiles(3, 1), 7)), (duckdb::vector<size_t>{1, 1, 1}));
}

TEST(UnitDealing, NoUnitsGiveOneEmptyTask) {
	EXPECT_EQ(Counts(DealUnits({}, 4)), (duckdb::vector<size_t>{0}));
}

TEST(UnitDealing, OneHugeUnitHasATaskOfItsOwn) {
	Units units = EqualFiles(9, 1);
	units[4].bytes = 100000000;
	auto dealt = DealUnits(units, 3);
	ASSERT_EQ(Counts(dealt), (duckdb::vector<size_t>{1, 4, 4}));
	EXPECT_EQ(dealt[1][0].file, 4u);
}

TEST(UnitDealing, FilesStayWhole) {
	// 3 files of 10 row groups on 3 tasks.
	for (auto &task : DealUnits(EqualFiles(3, 10), 3)) {
		EXPECT_EQ(task.front().file, task.back().file);
	}
}

TEST(UnitDealing, ACutMovesToTheNearestFile) {
	// Unequal files whose even share lies within half a unit of their end.
	Units units;
	for (size_t row_group = 0; row_group < 10; row_group++) {
		units.push_back({0, row_group, 1, 1000});
	}
	for (size_t row_group = 0; row_group < 10; row_group++) {
		units.push_back({1, row_group, 1, 1090});
	}
	auto dealt = DealUnits(units, 2);
	EXPECT_EQ(dealt[0].back().file, 0u);
	EXPECT_EQ(dealt[1].front().file, 1u);
}

TEST(UnitDealing, WithoutBytesRowsAreDealt) {
	Units units = EqualFiles(4, 1);
	for (auto &unit : units) {
		unit.bytes = 0;
	}
	units[0].rows = 3000;
	auto dealt = DealUnits(units, 2);
	EXPECT_EQ(dealt[0].size(), 1u);
	EXPECT_EQ(dealt[1].size(), 3u);
}

TEST(UnitDealing, RandomUnitsDifferByAtMostTheLargest) {
	for (uint32_t seed = 0; seed < 3000; seed++) {
		SCOPED_TRACE("seed " + std::to_string(seed));
		std::mt19937 random(seed);
		Units units(random() % 60);
		// Ranges from nearly equal to very unequal, with units of no bytes among them.
		auto spread = 1u << (random() % 25);
		size_t file = 0, row_group = 0;
		for (auto &unit : units) {
			if (random() % 3 == 0) {
				file++;
				row_group = 0;
			}
			unit = {file, row_group++, random() % 1000, random() % 8 == 0 ? 0 : random() % spread};
		}
		CheckDealing(units, 1 + random() % 20);
		if (HasFatalFailure()) {
			return;
		}
	}
}

TEST(UnitDealing, ManyUnitsOnManyTasks) {
	std::mt19937_64 random(7);
	Units units(100000);
	for (size_t i = 0; i < units.size(); i++) {
		units[i] = {i / 3, i % 3, 1000, random() % (duckdb::idx_t(1) << 40)};
	}
	for (auto tasks : {2, 64, 1000, 99999}) {
		CheckDealing(units, tasks);
	}
}

} // namespace
} // namespace skein
