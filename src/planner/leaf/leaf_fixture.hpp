#pragma once

#include "planner/leaf/scan_leaf.hpp"

#include "engine/fake_worker.hpp"
#include "engine/metadata_slice.hpp"
#include "engine/native_slice.hpp"
#include "engine/parquet_slice.hpp"
#include "engine/plan_serializer.hpp"
#include "engine/text_slice.hpp"

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
class LeafTest : public testing::Test {
protected:
	LeafTest() : start_(fs::current_path()), connection_(database_) {
		auto name = testing::UnitTest::GetInstance()->current_test_info()->name();
		folder_ = fs::temp_directory_path() / ("skein_leaf_" + std::to_string(getpid()) + "_" + name);
		fs::create_directories(folder_);
		fs::current_path(folder_);
		Query("SET threads=2");
		Query("SET disabled_optimizers='compressed_materialization,late_materialization'");
		for (auto instance : {database_.instance.get(), &worker_.Instance()}) {
			RegisterParquetSlice(*instance);
			RegisterTextSlices(*instance);
			RegisterMetadataSlice(*instance);
			RegisterNativeSlice(*instance);
		}
		worker_.Query("SET threads=4");
	}
	~LeafTest() override {
		fs::current_path(start_);
		fs::remove_all(folder_);
	}

	Rows Query(const std::string &sql) {
		return RowsOf(*connection_.Query(sql));
	}

	//! Has large files divided into ranges of `bytes`.
	void Divide(const std::string &bytes) {
		if (!divides_) {
			DBConfig::GetConfig(*database_.instance)
				.AddExtensionOption("skein_text_range_bytes", "of tests", LogicalType::VARCHAR);
			divides_ = true;
		}
		Query("SET skein_text_range_bytes = '" + bytes + "'");
	}

	//! Writes the rows of `select` to a Parquet file below the folder.
	void Write(const std::string &select, const std::string &path, const std::string &options = "") {
		if (fs::path(path).has_parent_path()) {
			fs::create_directories(fs::path(path).parent_path());
		}
		auto quoted = StringUtil::Replace(path, "'", "''");
		Query("COPY (" + select + ") TO '" + quoted + "' (FORMAT parquet" + options + ")");
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
			auto leaf = AnalyzeScan(context, get, reason);
			ASSERT_TRUE(leaf) << sql << ": " << reason;
			for (auto &units : DealUnits(leaf->units, tasks)) {
				auto slice = leaf->MakeVariant(context, get, units);
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
			EXPECT_FALSE(AnalyzeScan(context, get, reason)) << sql;
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

	fs::path start_;
	fs::path folder_;
	DuckDB database_{nullptr};
	Connection connection_;
	FakeWorker worker_;
	bool divides_ = false;
};

} // namespace skein
