#pragma once

#include "planner/leaf/parquet_leaf.hpp"

#include "engine/fake_worker.hpp"
#include "engine/parquet_slice.hpp"
#include "engine/plan_serializer.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace skein {

using namespace duckdb;
namespace fs = std::filesystem;
using Rows = std::vector<std::string>;

//! The first scan of `plan` in pre-order: of a join, its probe side.
inline unique_ptr<LogicalOperator> *FirstScan(unique_ptr<LogicalOperator> &plan) {
	if (plan->type == LogicalOperatorType::LOGICAL_GET) {
		return &plan;
	}
	for (auto &child : plan->children) {
		if (auto found = FirstScan(child)) {
			return found;
		}
	}
	return nullptr;
}

template <class OPERATOR>
OPERATOR *Find(LogicalOperator &plan, LogicalOperatorType type) {
	if (plan.type == type) {
		return &plan.Cast<OPERATOR>();
	}
	for (auto &child : plan.children) {
		if (auto found = Find<OPERATOR>(*child, type)) {
			return found;
		}
	}
	return nullptr;
}

inline Rows Sorted(Rows rows) {
	std::sort(rows.begin(), rows.end());
	return rows;
}

//! Plans in one instance, in a folder of its own, and executes the variants in another, in another folder.
class ParquetLeafTest : public testing::Test {
protected:
	ParquetLeafTest() : start_(fs::current_path()), connection_(database_) {
		auto name = testing::UnitTest::GetInstance()->current_test_info()->name();
		folder_ = fs::temp_directory_path() / ("skein_parquet_leaf_" + std::to_string(getpid()) + "_" + name);
		fs::create_directories(folder_);
		fs::current_path(folder_);
		Query("SET threads=2");
		Query("SET disabled_optimizers='compressed_materialization,late_materialization'");
		RegisterParquetSlice(*database_.instance);
		RegisterParquetSlice(worker_.Instance());
		worker_.Query("SET threads=4");
	}
	~ParquetLeafTest() override {
		fs::current_path(start_);
		fs::remove_all(folder_);
	}

	Rows Query(const std::string &sql) {
		return RowsOf(*connection_.Query(sql));
	}

	//! Writes the rows of `select` to `path` below the folder.
	void Write(const std::string &select, const std::string &path, const std::string &options = "") {
		if (fs::path(path).has_parent_path()) {
			fs::create_directories(fs::path(path).parent_path());
		}
		auto quoted = StringUtil::Replace(path, "'", "''");
		Query("COPY (" + select + ") TO '" + quoted + "' (FORMAT parquet" + options + ")");
	}

	//! Calls `use` with the first scan of `sql` and what planning knows about it.
	void Analyze(const std::string &sql, const std::function<void(ClientContext &, LogicalGet &, ParquetLeaf &)> &use) {
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			auto scan = FirstScan(plan);
			ASSERT_TRUE(scan) << sql;
			auto &get = (*scan)->Cast<LogicalGet>();
			std::string reason;
			auto leaf = AnalyzeParquetScan(context, get, reason);
			ASSERT_TRUE(leaf) << sql << ": " << reason;
			use(context, get, *leaf);
		});
	}

	//! The plan of `sql` once per task, with the first scan replaced by the task's slice.
	std::vector<std::string> Variants(const std::string &sql, size_t tasks) {
		std::vector<std::string> variants;
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			auto scan = FirstScan(plan);
			ASSERT_TRUE(scan) << sql;
			auto original = std::move(*scan);
			auto &get = original->Cast<LogicalGet>();
			std::string reason;
			auto leaf = AnalyzeParquetScan(context, get, reason);
			ASSERT_TRUE(leaf) << sql << ": " << reason;
			for (auto &units : DealUnits(leaf->units, tasks)) {
				auto slice = MakeParquetSlice(context, get, *leaf, units);
				ASSERT_EQ(slice->GetColumnBindings(), get.GetColumnBindings());
				*scan = std::move(slice);
				variants.push_back(SerializePlan(context, *plan));
			}
			*scan = std::move(original);
		});
		return variants;
	}

	//! The rows of all variants, in the order of the tasks.
	Rows RunVariants(const std::vector<std::string> &variants,
					 const std::function<void(LogicalOperator &)> &inspect = nullptr) {
		fs::current_path("/");
		Rows rows;
		try {
			for (auto &variant : variants) {
				auto part = worker_.Run(variant, inspect);
				rows.insert(rows.end(), part.begin(), part.end());
			}
		} catch (...) {
			fs::current_path(folder_);
			throw;
		}
		fs::current_path(folder_);
		return rows;
	}

	//! The tasks' rows, one task after the other, must be the rows of the whole scan in DuckDB's order.
	void ExpectSameRows(const std::string &sql) {
		auto expected = Query(sql);
		for (size_t tasks : {1, 2, 3, 7}) {
			EXPECT_EQ(RunVariants(Variants(sql, tasks)), expected) << tasks << " tasks: " << sql;
		}
	}

	std::string ReasonAgainst(const std::string &sql) {
		std::string reason;
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			auto &get = (*FirstScan(plan))->Cast<LogicalGet>();
			EXPECT_FALSE(AnalyzeParquetScan(context, get, reason)) << sql;
		});
		return reason;
	}

	//! The message of the IOException that the variants end with.
	std::string IOErrorOf(const std::vector<std::string> &variants) {
		try {
			RunVariants(variants);
		} catch (std::exception &ex) {
			ErrorData error(ex);
			EXPECT_EQ(error.Type(), ExceptionType::IO) << error.Message();
			return error.Message();
		}
		ADD_FAILURE() << "no error";
		return "";
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

	fs::path start_;
	fs::path folder_;
	DuckDB database_{nullptr};
	Connection connection_;
	FakeWorker worker_;
};

} // namespace skein
