#pragma once

#include "planner/leaf/leaf_fixture.hpp"
#include "planner/leaf/parquet_leaf.hpp"

namespace skein {

//! With Parquet files.
class ParquetLeafTest : public LeafTest {
protected:
	//! Calls `use` with the first scan of `sql` and what planning knows about it.
	void Analyze(const std::string &sql, const std::function<void(ClientContext &, LogicalGet &, ParquetLeaf &)> &use) {
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			auto scan = FirstScan(plan);
			ASSERT_TRUE(scan) << sql;
			auto &get = (*scan)->Cast<LogicalGet>();
			std::string reason;
			auto leaf = AnalyzeParquetScan(context, get, reason, nullptr);
			ASSERT_TRUE(leaf) << sql << ": " << reason;
			use(context, get, *leaf);
		});
	}

	//! Three files of 5, 1 and 4 row groups.
	void WriteFacts() {
		const std::string columns =
			"SELECT range AS k, range % 7 AS g, (range * 7919) % 10007 AS v, 'name ' || (range % 1000) AS s, "
			"CASE WHEN range % 5 = 0 THEN NULL ELSE range / 3 END AS n, DATE '2020-01-01' + (range / 100)::INT AS d, "
			"{'a': range % 11, 'b': [range, range + 1]} AS st FROM ";
		Write(columns + "range(0, 10240)", "facts/1.parquet", ", ROW_GROUP_SIZE 2048");
		Write(columns + "range(10240, 11000)", "facts/2.parquet");
		Write(columns + "range(11000, 19192)", "facts/3.parquet", ", ROW_GROUP_SIZE 2048");
	}
};

} // namespace skein
