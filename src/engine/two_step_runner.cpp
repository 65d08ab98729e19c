#include "engine/two_step_runner.hpp"

#include "engine/aggregate_state.hpp"
#include "engine/plan_serializer.hpp"

#include "duckdb/parser/statement/logical_plan_statement.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_set_operation.hpp"

namespace skein {

using namespace duckdb;

namespace {

unique_ptr<QueryResult> RunSql(Connection &connection, const std::string &sql) {
	auto result = connection.Query(sql);
	if (result->HasError()) {
		throw InvalidInputException("%s in %s", result->GetErrorObject().RawMessage(), sql);
	}
	return result;
}

Groups ToGroups(QueryResult &result) {
	if (result.HasError()) {
		result.GetErrorObject().Throw();
	}
	Groups groups;
	auto value_column = result.ColumnCount() - 1;
	while (auto chunk = result.Fetch()) {
		for (idx_t row = 0; row < chunk->size(); row++) {
			auto group = value_column == 0 ? "<all>" : chunk->GetValue(0, row).ToString();
			if (!groups.emplace(group, chunk->GetValue(value_column, row)).second) {
				throw InvalidInputException("group %s comes twice", group);
			}
		}
	}
	return groups;
}

//! Calls `body` in a transaction of `connection`.
template <class BODY>
auto InTransaction(Connection &connection, BODY body) {
	connection.BeginTransaction();
	try {
		auto result = body(*connection.context);
		connection.Commit();
		return result;
	} catch (...) {
		connection.Rollback();
		throw;
	}
}

unique_ptr<LogicalOperator> &FindAggregate(unique_ptr<LogicalOperator> &plan) {
	if (plan->type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY) {
		return plan;
	}
	if (plan->children.empty()) {
		throw InvalidInputException("no aggregate in the plan");
	}
	return FindAggregate(plan->children[0]);
}

//! Puts a two-step plan together out of the plans of the slices.
//!
//!     Projection                 Projection
//!       Aggregate                  Aggregate[final]
//!         Scan             =>        Union
//!                                      Aggregate[partial]   (per slice)
//!                                        Scan[slice]
class TwoStepPlanner {
public:
	explicit TwoStepPlanner(Connection &connection) : connection_(connection), context_(*connection.context) {
	}

	unique_ptr<LogicalOperator> Plan(const AggregateQuery &query, const std::vector<int> &slices) {
		unique_ptr<LogicalOperator> plan;
		vector<unique_ptr<LogicalOperator>> partials;
		for (auto slice : slices) {
			plan = connection_.ExtractPlan(query.Sql("slice = " + std::to_string(slice)));
			partials.push_back(MakePartial(std::move(FindAggregate(plan)), plan));
		}
		*final_slot_ = MakeFinal(std::move(partials));
		plan->ResolveOperatorTypes();
		return plan;
	}

private:
	static constexpr idx_t UNION_INDEX = 1000;

	unique_ptr<LogicalOperator> MakePartial(unique_ptr<LogicalOperator> partial, unique_ptr<LogicalOperator> &plan) {
		auto &aggregate = partial->Cast<LogicalAggregate>();
		parts_.clear();
		group_types_.clear();
		group_index_ = aggregate.group_index;
		aggregate_index_ = aggregate.aggregate_index;
		for (auto &group : aggregate.groups) {
			group_types_.push_back(group->return_type);
		}
		for (auto &expression : aggregate.expressions) {
			std::string reason;
			auto parts = SplitAggregate(context_, expression->Cast<BoundAggregateExpression>(), reason);
			if (!parts) {
				throw InvalidInputException("not split: %s", reason);
			}
			expression = std::move(parts->partial);
			parts_.push_back(std::move(*parts));
		}
		partial->ResolveOperatorTypes();
		final_slot_ = FindEmpty(plan);
		return partial;
	}

	//! The place from which the aggregate was taken.
	static unique_ptr<LogicalOperator> *FindEmpty(unique_ptr<LogicalOperator> &plan) {
		return plan ? FindEmpty(plan->children[0]) : &plan;
	}

	unique_ptr<LogicalOperator> MakeFinal(vector<unique_ptr<LogicalOperator>> partials) {
		auto group_count = group_types_.size();
		vector<unique_ptr<Expression>> finals;
		for (idx_t i = 0; i < parts_.size(); i++) {
			finals.push_back(parts_[i].make_final(context_, Column(parts_[i].partial_type, group_count + i)));
		}
		auto result = make_uniq<LogicalAggregate>(group_index_, aggregate_index_, std::move(finals));
		for (idx_t i = 0; i < group_count; i++) {
			result->groups.push_back(Column(group_types_[i], i));
		}
		result->children.push_back(make_uniq<LogicalSetOperation>(
			UNION_INDEX, group_count + parts_.size(), std::move(partials), LogicalOperatorType::LOGICAL_UNION, true));
		return result;
	}

	static unique_ptr<Expression> Column(const LogicalType &type, idx_t index) {
		return make_uniq<BoundColumnRefExpression>(type, ColumnBinding(UNION_INDEX, index));
	}

	Connection &connection_;
	ClientContext &context_;
	std::vector<AggregateParts> parts_;
	vector<LogicalType> group_types_;
	idx_t group_index_ = 0;
	idx_t aggregate_index_ = 0;
	unique_ptr<LogicalOperator> *final_slot_ = nullptr;
};

//! Executes a plan as it is: without the optimizer, which may not touch a fragment.
Groups Execute(Connection &connection, unique_ptr<LogicalOperator> plan) {
	connection.context->config.enable_optimizer = false;
	auto result = connection.Query(make_uniq<LogicalPlanStatement>(std::move(plan)));
	connection.context->config.enable_optimizer = true;
	return ToGroups(*result);
}

} // namespace

std::string AggregateQuery::Sql(const std::string &slice_filter) const {
	auto columns = group.empty() ? aggregate : group + ", " + aggregate;
	auto sql = "SELECT " + columns + " FROM " + table + " WHERE (" + where + ") AND " + slice_filter;
	return group.empty() ? sql : sql + " GROUP BY " + group;
}

TwoStepRunner::Instance::Instance() : database(nullptr), connection(database) {
	RegisterAggregateState(*database.instance);
	RunSql(connection, "SET disabled_optimizers = 'compressed_materialization'");
}

TwoStepRunner::TwoStepRunner() = default;

void TwoStepRunner::Prepare(const std::string &sql) {
	RunSql(coordinator_.connection, sql);
	RunSql(worker_.connection, sql);
}

Groups TwoStepRunner::RunWhole(const AggregateQuery &query, const std::vector<int> &slices) {
	std::string numbers;
	for (auto slice : slices) {
		numbers += (numbers.empty() ? "" : ", ") + std::to_string(slice);
	}
	return ToGroups(*RunSql(coordinator_.connection, query.Sql("slice IN (" + numbers + ")")));
}

Groups TwoStepRunner::RunInTwoSteps(const AggregateQuery &query, const std::vector<int> &slices) {
	auto bytes = InTransaction(coordinator_.connection, [&](ClientContext &context) {
		return SerializePlan(context, *TwoStepPlanner(coordinator_.connection).Plan(query, slices));
	});
	return InTransaction(worker_.connection, [&](ClientContext &context) {
		auto binder = Binder::CreateBinder(context);
		return Execute(worker_.connection, DeserializePlan(context, bytes, *binder));
	});
}

Groups TwoStepRunner::RunInTwoStepsLocally(const AggregateQuery &query, const std::vector<int> &slices) {
	return InTransaction(coordinator_.connection, [&](ClientContext &) {
		return Execute(coordinator_.connection, TwoStepPlanner(coordinator_.connection).Plan(query, slices));
	});
}

std::string TwoStepRunner::ReasonAgainst(const std::string &aggregate) {
	std::string reason;
	WithAggregate({aggregate}, [&](ClientContext &context, const BoundAggregateExpression &expression) {
		auto parts = SplitAggregate(context, expression, reason);
		if (parts.has_value() != reason.empty()) {
			throw InvalidInputException("%s: a reason is for refusals, each has one", aggregate);
		}
	});
	return reason;
}

void TwoStepRunner::WithAggregate(const AggregateQuery &query,
								  const std::function<void(ClientContext &, const BoundAggregateExpression &)> &use) {
	InTransaction(coordinator_.connection, [&](ClientContext &context) {
		auto plan = coordinator_.connection.ExtractPlan(query.Sql("true"));
		use(context, FindAggregate(plan)->expressions[0]->Cast<BoundAggregateExpression>());
		return true;
	});
}

} // namespace skein
