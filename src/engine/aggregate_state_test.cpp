#include "engine/aggregate_state.hpp"

#include "engine/two_step_runner.hpp"

#include "duckdb/common/serializer/binary_deserializer.hpp"
#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "duckdb/parser/statement/logical_plan_statement.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"

#include <gtest/gtest.h>

namespace skein {
namespace {

using namespace duckdb;

class AggregateStateTest : public testing::Test {
protected:
	AggregateStateTest() {
		runner.Prepare(
			"CREATE TABLE t AS SELECT 0 AS slice, i % 10 AS g, i % 3 AS n, 0.5 + i AS f FROM range(100) r(i)");
	}

	//! Wraps an aggregate of table t.
	StateAggregates Wrap(const std::string &aggregate) {
		StateAggregates result;
		runner.WithAggregate({aggregate}, [&](ClientContext &context, const BoundAggregateExpression &inner) {
			result = MakeStateAggregates(context, inner);
		});
		return result;
	}

	//! Runs an aggregate over a one-column query, ungrouped. `make` gets the column.
	Value RunOver(const std::string &sql,
				  const std::function<unique_ptr<Expression>(ClientContext &, unique_ptr<Expression>)> &make) {
		auto &connection = runner.CoordinatorConnection();
		connection.BeginTransaction();
		auto plan = connection.ExtractPlan(sql);
		plan->ResolveOperatorTypes();
		vector<unique_ptr<Expression>> aggregates;
		aggregates.push_back(make(*connection.context,
								  make_uniq<BoundColumnRefExpression>(plan->types[0], plan->GetColumnBindings()[0])));
		auto root = make_uniq<LogicalAggregate>(1000, 1001, std::move(aggregates));
		root->children.push_back(std::move(plan));
		root->ResolveOperatorTypes();
		auto result = connection.Query(make_uniq<LogicalPlanStatement>(std::move(root)));
		connection.Rollback();
		if (result->HasError()) {
			result->GetErrorObject().Throw();
		}
		return result->GetValue(0, 0);
	}

	static std::string Write(const Expression &expression) {
		MemoryStream stream;
		SerializationOptions options;
		options.serialization_compatibility = SerializationCompatibility::Latest();
		BinarySerializer::Serialize(expression, stream, options);
		return std::string(reinterpret_cast<const char *>(stream.GetData()), stream.GetPosition());
	}

	static unique_ptr<Expression> Read(ClientContext &context, std::string bytes) {
		MemoryStream stream(reinterpret_cast<data_ptr_t>(bytes.data()), bytes.size());
		bound_parameter_map_t parameters;
		return BinaryDeserializer::Deserialize<Expression>(stream, context, parameters);
	}

	TwoStepRunner runner;
};

TEST_F(AggregateStateTest, RegisteringTwiceDoesNothing) {
	auto &connection = runner.CoordinatorConnection();
	RegisterAggregateState(*connection.context->db);
	auto result = connection.Query("SELECT count(*) FROM duckdb_functions() WHERE function_name LIKE 'skein_%'");
	EXPECT_EQ(result->GetValue(0, 0).GetValue<int64_t>(), 4);
}

TEST_F(AggregateStateTest, SqlCannotCallTheStateFunctions) {
	for (auto sql : {"SELECT skein_partial_state(1)", "SELECT skein_final_state('x'::BLOB)",
					 "SELECT skein_final_of_lists([1], 2)"}) {
		auto result = runner.CoordinatorConnection().Query(sql);
		ASSERT_TRUE(result->HasError());
		EXPECT_NE(result->GetError().find("internal use only"), std::string::npos) << result->GetError();
	}
}

TEST_F(AggregateStateTest, SumCountsIsZeroWithoutInput) {
	auto result = runner.CoordinatorConnection().Query(
		"SELECT skein_sum_counts(n), skein_sum_counts(n) FILTER (n > 9), skein_sum_counts(NULL) FROM t");
	EXPECT_EQ(result->GetValue(0, 0).GetValue<int64_t>(), 99);
	EXPECT_EQ(result->GetValue(1, 0).GetValue<int64_t>(), 0);
	EXPECT_EQ(result->GetValue(2, 0).GetValue<int64_t>(), 0);
}

TEST_F(AggregateStateTest, StatesOfEqualInputsAreEqualBytes) {
	// A state with padding. Equal bytes everywhere mean that no byte shows what the memory held before.
	auto fsum = Wrap("fsum(1)");
	std::string state;
	for (auto attempt = 0; attempt < 3; attempt++) {
		auto value = RunOver("SELECT 7.0::DOUBLE", [&](ClientContext &, unique_ptr<Expression> column) {
			auto partial = fsum.partial->Copy();
			partial->Cast<BoundAggregateExpression>().children[0] = std::move(column);
			return partial;
		});
		ASSERT_EQ(value.type(), LogicalType::BLOB);
		auto bytes = StringValue::Get(value);
		EXPECT_TRUE(state.empty() || bytes == state);
		state = bytes;
	}
	EXPECT_EQ(state.substr(1, 7), std::string(7, '\0'));
}

TEST_F(AggregateStateTest, NoInputHasAStateToo) {
	auto average = Wrap("avg(f)");
	auto value = RunOver("SELECT 7.0::DOUBLE WHERE random() > 2", [&](ClientContext &, unique_ptr<Expression> column) {
		auto partial = average.partial->Copy();
		partial->Cast<BoundAggregateExpression>().children[0] = std::move(column);
		return partial;
	});
	EXPECT_FALSE(value.IsNull());
	auto result = RunOver("SELECT " + value.ToSQLString(), average.make_final);
	EXPECT_TRUE(result.IsNull());
}

TEST_F(AggregateStateTest, NullIsAnEmptyPart) {
	auto value = RunOver("SELECT NULL::BLOB FROM range(5000)", Wrap("approx_count_distinct(n)").make_final);
	EXPECT_EQ(value, Value::BIGINT(0));
}

TEST_F(AggregateStateTest, BytesOfAnotherSizeAreRefused) {
	auto average = Wrap("avg(n)");
	try {
		RunOver("SELECT 'abc'::BLOB", average.make_final);
		FAIL() << "no error";
	} catch (const std::exception &error) {
		EXPECT_NE(std::string(error.what()).find("Partial state of avg has 3 bytes"), std::string::npos)
			<< error.what();
	}
}

TEST_F(AggregateStateTest, PartsComeBackEqual) {
	for (auto aggregate :
		 {"avg(n)", "avg(n::DECIMAL(9, 3)) FILTER (f > 3)", "corr(f, n)", "approx_count_distinct(f)"}) {
		auto parts = Wrap(aggregate);
		auto &connection = runner.CoordinatorConnection();
		connection.BeginTransaction();
		auto partial = Read(*connection.context, Write(*parts.partial));
		EXPECT_TRUE(partial->Equals(*parts.partial)) << partial->ToString();
		auto column = make_uniq<BoundColumnRefExpression>(LogicalType::BLOB, ColumnBinding(1, 0));
		auto final = parts.make_final(*connection.context, std::move(column));
		auto final_again = Read(*connection.context, Write(*final));
		EXPECT_TRUE(final_again->Equals(*final)) << final_again->ToString();
		EXPECT_EQ(final_again->return_type, final->return_type);
		connection.Rollback();
	}
}

TEST_F(AggregateStateTest, DifferentInnerAggregatesDiffer) {
	auto average = Wrap("avg(n)").partial;
	EXPECT_TRUE(average->Equals(*Wrap("avg(n)").partial));
	EXPECT_FALSE(average->Equals(*Wrap("stddev(n)").partial));
	EXPECT_FALSE(Wrap("var_pop(f)").partial->Equals(*Wrap("var_samp(f)").partial));
	EXPECT_FALSE(Wrap("avg(1::DECIMAL(9, 2))").partial->Equals(*Wrap("avg(1::DECIMAL(9, 3))").partial));
}

TEST_F(AggregateStateTest, FunctionsOffTheListHaveNoFlatState) {
	for (auto aggregate : {"list(n)", "max(n)", "first(n)", "median(n)", "string_agg(n, ',')", "histogram(n)"}) {
		runner.WithAggregate({aggregate}, [&](ClientContext &, const BoundAggregateExpression &inner) {
			EXPECT_FALSE(HasFlatState(inner.function)) << aggregate;
		});
	}
}

TEST_F(AggregateStateTest, AFunctionOffTheListIsNotRead) {
	auto bytes = Write(*Wrap("avg(n)").partial);
	bytes.replace(bytes.find("avg"), 3, "max");
	auto &connection = runner.CoordinatorConnection();
	connection.BeginTransaction();
	EXPECT_THROW(Read(*connection.context, bytes), SerializationException);
	connection.Rollback();
}

} // namespace
} // namespace skein
