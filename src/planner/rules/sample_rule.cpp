#include "duckdb/function/function_binder.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "duckdb/planner/operator/logical_sample.hpp"
#include "duckdb/planner/operator/logical_top_n.hpp"
#include "plan/columns.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! The largest sample of so many rows that is taken in parts: DuckDB, too, sorts all rows where more than these are
//! among the first.
constexpr idx_t MAX_ROWS_IN_PARTS = 5000;

//! A sample that decides for each row alone runs where the rows are. One of a fixed number of rows draws a lot for each
//! row: those with the least of all are among the least of their task.
//!
//!     Sample[10 rows]          TopN[lot, 10]
//!       ...              =>      NetworkCoalesce
//!                                  TopN[lot, 10]
//!                                    Project[..., random() AS lot]
//!                                      ...
//!
//! With a seed it takes the same rows each time: those that DuckDB takes of the same rows in the same order, and,
//! unless it looks at each row alone, in the same chunks, so that nothing below it is distributed.
class SampleRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_SAMPLE;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &sample = *op->Cast<LogicalSample>().sample_options;
		auto has_seed = sample.repeatable || sample.seed.IsValid();
		auto by_row = sample.is_percentage && sample.method == SampleMethod::BERNOULLI_SAMPLE;
		if (has_seed && !by_row) {
			placement.AddReason("a sample with a seed depends on how its rows are read");
			auto result = Distribution::Single();
			result.session = true;
			result.in_order = true;
			return result;
		}
		if (sample.is_percentage && sample.method != SampleMethod::RESERVOIR_SAMPLE && !has_seed) {
			return placement.Place(op->children[0], keep_order);
		}
		if (has_seed) {
			return placement.PlaceInOneTask(op, true, "a sample with a seed reads its rows in their order");
		}
		auto below = placement.Place(op->children[0], false);
		// DuckDB's TopN of no rows crashes.
		auto rows = sample.is_percentage ? 0 : sample.sample_size.GetValue<idx_t>();
		if (below.IsSpread() && !below.pinned && rows > 0 && rows <= MAX_ROWS_IN_PARTS) {
			return DrawLots(placement, op, below, rows);
		}
		placement.AddReason("a sample of so many rows is taken in one task");
		auto result = placement.BringTogether(*op, {below});
		result.replicable = false;
		return result;
	}

private:
	//! A random number. Unlike one that the query asks for, it may be drawn by any worker.
	static unique_ptr<Expression> Lot(ClientContext &context) {
		ErrorData error;
		auto result = FunctionBinder(context).BindScalarFunction(DEFAULT_SCHEMA, "random", {}, error);
		if (!result) {
			error.Throw();
		}
		result->Cast<BoundFunctionExpression>().function.SetStability(FunctionStability::CONSISTENT);
		return result;
	}

	static unique_ptr<LogicalOperator> Least(const BoundOrderByNode &by_lot, idx_t rows,
											 unique_ptr<LogicalOperator> child) {
		vector<BoundOrderByNode> orders;
		orders.push_back(by_lot.Copy());
		auto result = make_uniq<LogicalTopN>(std::move(orders), rows, 0);
		result->SetEstimatedCardinality(rows);
		result->children.push_back(std::move(child));
		result->ResolveOperatorTypes();
		return result;
	}

	static Distribution DrawLots(Placement &placement, unique_ptr<LogicalOperator> &op, const Distribution &below,
								 idx_t rows) {
		auto child = std::move(op->children[0]);
		child->ResolveOperatorTypes();
		auto names = child->GetColumnBindings();
		auto expressions = AllColumns(*child, child->types);
		expressions.push_back(Lot(placement.Context()));
		AddProjection(child, placement.NewTableIndex(), std::move(expressions));
		auto columns = child->GetColumnBindings();
		BoundOrderByNode by_lot(OrderType::ASCENDING, OrderByNullType::NULLS_LAST,
								make_uniq<BoundColumnRefExpression>("lot", LogicalType::DOUBLE, columns.back()));
		columns.pop_back();
		child = Least(by_lot, rows, std::move(child));
		auto result = placement.Coalesce(child, below);
		op = Least(by_lot, rows, std::move(child));
		result.in_order = false;
		result.replicable = false;
		return placement.Project(op, columns, names, std::move(result));
	}
};

} // namespace

unique_ptr<PlacementRule> MakeSampleRule() {
	return make_uniq<SampleRule>();
}

} // namespace skein
