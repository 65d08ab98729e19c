#include "engine/adaptive_aggregate.hpp"

#include "duckdb/execution/operator/projection/physical_projection.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/main/settings.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! With more threads than this, which may all have the same groups, DuckDB merges them before they travel.
constexpr int32_t MAX_THREADS = 4;

//! Becomes a PhysicalAdaptiveAggregate. Has the columns of the aggregate that it was made of.
class LogicalAdaptiveAggregate final : public LogicalExtensionOperator {
public:
	explicit LogicalAdaptiveAggregate(unique_ptr<LogicalAggregate> aggregate)
		: groups_(aggregate->groups.size()), group_index_(aggregate->group_index),
		  aggregate_index_(aggregate->aggregate_index) {
		expressions = std::move(aggregate->groups);
		for (auto &expression : aggregate->expressions) {
			expressions.push_back(std::move(expression));
		}
		children = std::move(aggregate->children);
		estimated_cardinality = aggregate->estimated_cardinality;
		has_estimated_cardinality = aggregate->has_estimated_cardinality;
	}

	vector<ColumnBinding> GetColumnBindings() override {
		auto result = GenerateColumnBindings(group_index_, groups_);
		for (auto &binding : GenerateColumnBindings(aggregate_index_, expressions.size() - groups_)) {
			result.push_back(binding);
		}
		return result;
	}
	vector<idx_t> GetTableIndex() const override {
		return {group_index_, aggregate_index_};
	}
	string GetName() const override {
		return "ADAPTIVE_AGGREGATE";
	}

	PhysicalOperator &CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) override {
		auto &child = planner.CreatePlan(*children[0]);
		vector<unique_ptr<Expression>> inputs;
		vector<LogicalType> input_types;
		auto read = [&](unique_ptr<Expression> &expression) {
			input_types.push_back(expression->return_type);
			auto reference = make_uniq<BoundReferenceExpression>(expression->return_type, inputs.size());
			inputs.push_back(std::move(expression));
			return unique_ptr<Expression>(std::move(reference));
		};
		vector<unique_ptr<Expression>> aggregates;
		for (idx_t i = 0; i < expressions.size(); i++) {
			if (i < groups_) {
				read(expressions[i]);
				continue;
			}
			for (auto &input : expressions[i]->Cast<BoundAggregateExpression>().children) {
				input = read(input);
			}
			aggregates.push_back(std::move(expressions[i]));
		}
		auto &projection =
			planner.Make<PhysicalProjection>(input_types, std::move(inputs), child.estimated_cardinality);
		projection.children.push_back(child);
		auto &result = planner.Make<PhysicalAdaptiveAggregate>(types, std::move(input_types), groups_,
															   std::move(aggregates), estimated_cardinality);
		result.children.push_back(projection);
		return result;
	}

protected:
	void ResolveTypes() override {
		types.clear();
		for (auto &expression : expressions) {
			types.push_back(expression->return_type);
		}
	}

private:
	const idx_t groups_;
	const idx_t group_index_;
	const idx_t aggregate_index_;
};

//! Whether DuckDB may find groups by their values, without a hash table.
bool MayBePerfect(ClientContext &context, const LogicalAggregate &aggregate) {
	double values = 1;
	for (idx_t i = 0; i < aggregate.groups.size(); i++) {
		auto &type = aggregate.groups[i]->return_type;
		auto stats = i < aggregate.group_stats.size() ? aggregate.group_stats[i].get() : nullptr;
		if (stats && type.IsIntegral() && NumericStats::HasMinMax(*stats)) {
			values *= NumericStats::Max(*stats).GetValue<double>() - NumericStats::Min(*stats).GetValue<double>() + 2;
		} else if (TypeIsInteger(type.InternalType()) && GetTypeIdSize(type.InternalType()) <= 2) {
			values *= GetTypeIdSize(type.InternalType()) == 1 ? 256 : 65536;
		} else {
			return false;
		}
	}
	return values <= static_cast<double>(idx_t(1) << Settings::Get<PerfectHtThresholdSetting>(context));
}

bool CanAdapt(ClientContext &context, const LogicalAggregate &aggregate) {
	auto plain = std::all_of(aggregate.expressions.begin(), aggregate.expressions.end(), [](auto &expression) {
		auto &bound = expression->template Cast<BoundAggregateExpression>();
		return !bound.filter && !bound.order_bys && !bound.IsDistinct() && !bound.function.HasStateDestructorCallback();
	});
	auto one_set = aggregate.grouping_sets.size() < 2 && aggregate.grouping_functions.empty() &&
				   (aggregate.grouping_sets.empty() || aggregate.grouping_sets[0].size() == aggregate.groups.size());
	return plain && one_set && !aggregate.groups.empty() && !MayBePerfect(context, aggregate);
}

void Replace(ClientContext &context, unique_ptr<LogicalOperator> &op, const vector<const LogicalOperator *> &partials) {
	for (auto &child : op->children) {
		Replace(context, child, partials);
	}
	if (std::find(partials.begin(), partials.end(), op.get()) == partials.end()) {
		return;
	}
	if (CanAdapt(context, op->Cast<LogicalAggregate>())) {
		op = make_uniq<LogicalAdaptiveAggregate>(unique_ptr_cast<LogicalOperator, LogicalAggregate>(std::move(op)));
		op->ResolveOperatorTypes();
	}
}

} // namespace

void UseAdaptiveAggregates(ClientContext &context, unique_ptr<LogicalOperator> &plan,
						   const vector<const LogicalOperator *> &partials) {
	if (!partials.empty() && TaskScheduler::GetScheduler(context).NumberOfThreads() <= MAX_THREADS) {
		Replace(context, plan, partials);
	}
}

} // namespace skein
