#include "engine/plan_serializer.hpp"

#include "engine/fake_worker.hpp"

#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_top_n.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

//! Two Parquet tables and two instances: one that plans and one that executes.
class PlanSerializerTest : public testing::Test {
protected:
	PlanSerializerTest() : folder_(MakeFolder()), connection_(database_) {
		Query("SET threads=2");
		Query("SET disabled_optimizers='compressed_materialization,late_materialization'");
		Query("COPY (SELECT range AS k, range % 7 AS g, (range * 7919) % 100003 AS v, 'name ' || range % 1000 AS s "
			  "FROM range(200000)) TO '" +
			  File("fact") + "' (ROW_GROUP_SIZE 20480)");
		Query("COPY (SELECT range AS k, range % 10 AS d FROM range(0, 200000, 50)) TO '" + File("dim") + "'");
	}
	~PlanSerializerTest() override {
		std::filesystem::remove_all(folder_);
	}

	static std::string MakeFolder() {
		auto name = testing::UnitTest::GetInstance()->current_test_info()->name();
		auto folder =
			std::filesystem::temp_directory_path() / ("skein_plan_serializer_" + std::to_string(getpid()) + "_" + name);
		std::filesystem::create_directories(folder);
		return folder.string();
	}

	std::string File(const std::string &table) const {
		return folder_ + "/" + table + ".parquet";
	}

	std::vector<std::string> Query(const std::string &sql) {
		return RowsOf(*connection_.Query(sql));
	}

	std::string Serialize(const std::string &sql) {
		std::string bytes;
		WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
			bytes = SerializePlan(context, *plan);
		});
		return bytes;
	}

	std::string folder_;
	DuckDB database_{nullptr};
	Connection connection_;
	FakeWorker worker_;
};

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

std::vector<idx_t> Cardinalities(LogicalOperator &plan) {
	std::vector<idx_t> result{plan.has_estimated_cardinality ? plan.estimated_cardinality : DConstants::INVALID_INDEX};
	for (auto &child : plan.children) {
		auto below = Cardinalities(*child);
		result.insert(result.end(), below.begin(), below.end());
	}
	return result;
}

TEST_F(PlanSerializerTest, PlansGiveTheSameRowsInAnotherInstance) {
	auto fact = "'" + File("fact") + "'";
	auto dim = "'" + File("dim") + "'";
	const std::string queries[] = {
		"SELECT g, sum(v), count(*), avg(v) FROM " + fact + " GROUP BY g ORDER BY g",
		"SELECT f.s, d.d FROM " + fact + " f JOIN " + dim + " d USING (k) WHERE d.d < 3 ORDER BY f.k",
		"SELECT k, v FROM " + fact + " ORDER BY v, k LIMIT 10 OFFSET 5",
		"SELECT k, row_number() OVER (PARTITION BY g ORDER BY v, k) AS r FROM " + fact + " QUALIFY r <= 3 ORDER BY ALL",
		"SELECT DISTINCT ON (g) g, k FROM " + fact + " ORDER BY g, v DESC, k",
		"SELECT count(*) FROM " + fact + " WHERE k NOT IN (SELECT k FROM " + dim + ")",
		"SELECT g, (SELECT max(d) FROM " + dim + " x WHERE x.d = f.g) FROM " + fact + " f WHERE k < 20 ORDER BY f.k",
		"WITH c AS MATERIALIZED (SELECT g, sum(v) AS t FROM " + fact +
			" GROUP BY g) SELECT a.g, b.t FROM c a JOIN c b ON a.g = b.g + 1 ORDER BY ALL",
		"SELECT 1 AS one UNION ALL SELECT d FROM " + dim + " WHERE k < 200 ORDER BY ALL",
		"SELECT g, s FROM " + fact + " WHERE s LIKE 'name 99%' AND v BETWEEN 10 AND 2000 ORDER BY k",
	};
	for (auto &sql : queries) {
		EXPECT_EQ(worker_.Run(Serialize(sql)), Query(sql)) << sql;
	}
}

TEST_F(PlanSerializerTest, CardinalitiesTravel) {
	auto sql = "SELECT f.s FROM '" + File("fact") + "' f JOIN '" + File("dim") + "' d USING (k) WHERE d.d < 3";
	std::vector<idx_t> sent;
	std::string bytes;
	WithOptimizedPlan(connection_, sql, [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
		sent = Cardinalities(*plan);
		bytes = SerializePlan(context, *plan);
	});
	std::vector<idx_t> received;
	worker_.Run(bytes, [&](LogicalOperator &plan) { received = Cardinalities(plan); });
	EXPECT_EQ(received, sent);
	EXPECT_GT(sent.size(), 3u);
}

TEST_F(PlanSerializerTest, AnEstimateBeyondAllNumbersTravels) {
	std::string bytes;
	WithOptimizedPlan(connection_, "SELECT count(*) FROM '" + File("dim") + "'",
					  [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
						  plan->SetEstimatedCardinality(DConstants::INVALID_INDEX);
						  bytes = SerializePlan(context, *plan);
					  });
	std::vector<idx_t> received;
	auto rows = worker_.Run(bytes, [&](LogicalOperator &plan) { received = Cardinalities(plan); });
	EXPECT_EQ(received[0], DConstants::INVALID_INDEX - 1);
	EXPECT_EQ(rows, std::vector<std::string>{"4000|"});
}

TEST_F(PlanSerializerTest, GroupStatisticsTravel) {
	// One file with statistics: DuckDB plans a perfect hash aggregate from them.
	auto bytes = Serialize("SELECT g, sum(v) FROM '" + File("fact") + "' GROUP BY g");
	worker_.Run(bytes, [&](LogicalOperator &plan) {
		auto aggregate = Find<LogicalAggregate>(plan, LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY);
		ASSERT_TRUE(aggregate);
		ASSERT_EQ(aggregate->group_stats.size(), 1u);
		ASSERT_TRUE(aggregate->group_stats[0]);
		EXPECT_EQ(NumericStats::Max(*aggregate->group_stats[0]), Value::BIGINT(6));
	});
}

TEST_F(PlanSerializerTest, TheBinderIsPastThePlansTableIndices) {
	auto bytes = Serialize("SELECT f.s FROM '" + File("fact") + "' f JOIN '" + File("dim") + "' d USING (k)");
	Connection reader(database_);
	reader.BeginTransaction();
	auto binder = Binder::CreateBinder(*reader.context);
	auto plan = DeserializePlan(*reader.context, bytes, *binder);
	auto next = binder->GenerateTableIndex();
	std::function<void(LogicalOperator &)> check = [&](LogicalOperator &op) {
		for (auto index : op.GetTableIndex()) {
			EXPECT_LT(index, next);
		}
		for (auto &child : op.children) {
			check(*child);
		}
	};
	check(*plan);
	reader.Rollback();
}

TEST_F(PlanSerializerTest, AnIndexThatIsNotUsedDoesNotCount) {
	auto sql = "SELECT g, sum(v) FROM '" + File("fact") + "' GROUP BY g";
	WithOptimizedPlan(connection_, sql, [](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
		auto aggregate = Find<LogicalAggregate>(*plan, LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY);
		ASSERT_TRUE(aggregate);
		aggregate->groupings_index = DConstants::INVALID_INDEX;
		auto binder = Binder::CreateBinder(context);
		AdvancePastTableIndices(*binder, *plan);
		EXPECT_LT(binder->GenerateTableIndex(), 1000u);
	});
}

TEST_F(PlanSerializerTest, RefusesWhatIsNotAPlan) {
	auto bytes = Serialize("SELECT 1");
	EXPECT_THROW(worker_.Run(""), SerializationException);
	EXPECT_THROW(worker_.Run("something else entirely"), SerializationException);
	EXPECT_THROW(worker_.Run(bytes.substr(0, bytes.size() / 2)), SerializationException);
}

TEST_F(PlanSerializerTest, TopNGetsItsDynamicFilterBack) {
	auto sql = "SELECT * FROM '" + File("fact") + "' ORDER BY k LIMIT 5";
	auto rows = worker_.Run(Serialize(sql), [](LogicalOperator &plan) {
		auto top_n = Find<LogicalTopN>(plan, LogicalOperatorType::LOGICAL_TOP_N);
		ASSERT_TRUE(top_n);
		EXPECT_TRUE(top_n->dynamic_filter);
		auto get = Find<LogicalGet>(plan, LogicalOperatorType::LOGICAL_GET);
		ASSERT_TRUE(get);
		ASSERT_EQ(get->table_filters.filters.size(), 1u);
		EXPECT_EQ(get->table_filters.filters.begin()->second->ToString("k"), "optional: Dynamic Filter (k)");
	});
	EXPECT_EQ(rows, Query(sql));
}

TEST_F(PlanSerializerTest, TopNFiltersNoColumnOfAnotherType) {
	Query("COPY (SELECT (7 + range % 50)::INTEGER AS c FROM range(1000)) TO '" + File("narrow") + "'");
	Query("COPY (SELECT 4294967297 + range AS c FROM range(300)) TO '" + File("wide") + "'");
	auto sql = "SELECT c FROM (SELECT c FROM '" + File("wide") + "' UNION ALL SELECT c FROM '" + File("narrow") +
			   "') ORDER BY c LIMIT 3";
	auto rows = worker_.Run(Serialize(sql), [](LogicalOperator &plan) {
		auto text = plan.ToString();
		auto first = text.find("Dynamic Filter");
		EXPECT_NE(first, std::string::npos) << text;
		EXPECT_EQ(text.find("Dynamic Filter", first + 1), std::string::npos) << text;
	});
	Query("SET disabled_optimizers='top_n'");
	EXPECT_EQ(rows, Query(sql));
}

TEST_F(PlanSerializerTest, TopNKeepsTheFiltersOfTheQuery) {
	auto sql = "SELECT * FROM '" + File("fact") + "' WHERE k > 1000 ORDER BY k NULLS FIRST LIMIT 5";
	auto rows = worker_.Run(Serialize(sql), [](LogicalOperator &plan) {
		auto get = Find<LogicalGet>(plan, LogicalOperatorType::LOGICAL_GET);
		ASSERT_TRUE(get);
		auto text = get->table_filters.filters.at(0)->ToString("k");
		EXPECT_NE(text.find("k>1000"), std::string::npos) << text;
		EXPECT_NE(text.find("Dynamic Filter (k)"), std::string::npos) << text;
	});
	EXPECT_EQ(rows, Query(sql));
}

TEST_F(PlanSerializerTest, JoinsGetTheirFilterPushdownBack) {
	auto sql = "SELECT f.k, f.s FROM '" + File("fact") + "' f JOIN (SELECT k FROM '" + File("dim") +
			   "' ORDER BY d, k LIMIT 20) d USING (k) ORDER BY f.k";
	auto rows = worker_.Run(Serialize(sql), [](LogicalOperator &plan) {
		auto join = Find<LogicalComparisonJoin>(plan, LogicalOperatorType::LOGICAL_COMPARISON_JOIN);
		ASSERT_TRUE(join);
		ASSERT_TRUE(join->filter_pushdown);
		EXPECT_EQ(join->filter_pushdown->probe_info.size(), 1u);
	});
	EXPECT_EQ(rows, Query(sql));
}

//! Stands for an exchange: hides what its child does.
class LogicalFakeSource final : public LogicalExtensionOperator {
public:
	explicit LogicalFakeSource(unique_ptr<LogicalOperator> child) {
		children.push_back(std::move(child));
	}
	vector<ColumnBinding> GetColumnBindings() override {
		return children[0]->GetColumnBindings();
	}
	PhysicalOperator &CreatePlan(ClientContext &, PhysicalPlanGenerator &) override {
		throw InternalException("never executed");
	}

protected:
	void ResolveTypes() override {
		types = children[0]->types;
	}
};

TEST_F(PlanSerializerTest, TheWorkerAddsNoFiltersThatTheSessionHasDisabled) {
	auto sql = "SELECT f.s FROM '" + File("fact") + "' f JOIN '" + File("dim") + "' d USING (k)";
	auto has_filters = [&]() {
		auto result = false;
		worker_.Run(Serialize(sql), [&](LogicalOperator &plan) {
			auto join = Find<LogicalComparisonJoin>(plan, LogicalOperatorType::LOGICAL_COMPARISON_JOIN);
			result = join && join->filter_pushdown != nullptr;
		});
		return result;
	};
	EXPECT_TRUE(has_filters());
	Query("SET disabled_optimizers = 'join_filter_pushdown'");
	EXPECT_FALSE(has_filters());
}

TEST_F(PlanSerializerTest, ABuildSideFromAnExchangeCountsAsFiltered) {
	auto sql = "SELECT f.s FROM '" + File("fact") + "' f JOIN '" + File("dim") + "' d USING (k)";
	WithOptimizedPlan(connection_, sql, [](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
		auto binder = Binder::CreateBinder(context);
		AdvancePastTableIndices(*binder, *plan);
		auto join = Find<LogicalComparisonJoin>(*plan, LogicalOperatorType::LOGICAL_COMPARISON_JOIN);
		ASSERT_TRUE(join);
		RestoreRunTimeHelp(*binder, context, plan);
		EXPECT_FALSE(join->filter_pushdown->build_side_has_filter);
		join->children[1] = make_uniq<LogicalFakeSource>(std::move(join->children[1]));
		RestoreRunTimeHelp(*binder, context, plan);
		EXPECT_TRUE(join->filter_pushdown->build_side_has_filter);
		join->children[1] = std::move(join->children[1]->children[0]);
	});
}

TEST_F(PlanSerializerTest, TheShapeOfThePlanStays) {
	// A limit that DuckDB sorts completely for must not become a top-n on the worker.
	auto sql = "SELECT k FROM '" + File("fact") + "' ORDER BY v, k LIMIT 50000";
	auto rows = worker_.Run(Serialize(sql), [](LogicalOperator &plan) {
		plan.estimated_cardinality = 0;
		EXPECT_TRUE(Find<LogicalLimit>(plan, LogicalOperatorType::LOGICAL_LIMIT));
		EXPECT_FALSE(Find<LogicalTopN>(plan, LogicalOperatorType::LOGICAL_TOP_N));
	});
	EXPECT_EQ(rows, Query(sql));
}

} // namespace
} // namespace skein
