#include "planner/placement.hpp"

#include "duckdb/function/cast/default_casts.hpp"
#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "duckdb/common/type_visitor.hpp"
#include "duckdb/function/lambda_functions.hpp"
#include "duckdb/optimizer/optimizer.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/expression/list.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/expression_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/planner/filter/struct_filter.hpp"
#include "duckdb/planner/operator/logical_cteref.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "plan/columns.hpp"
#include "plan/plan_checker.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Sessions differ in what these return, or they change the session: only the session itself may call them.
bool IsSessionFunction(const string &name) {
	static const unordered_set<string> NAMES{"nextval",
											 "currval",
											 "setseed",
											 "txid_current",
											 "current_connection_id",
											 "current_query_id",
											 "current_transaction_id",
											 "in_search_path",
											 "current_query",
											 "write_log"};
	return NAMES.count(name) > 0;
}

//! A guess of the bytes that one value takes.
double ValueBytes(const LogicalType &type) {
	switch (type.InternalType()) {
	case PhysicalType::VARCHAR:
		return 24;
	case PhysicalType::STRUCT: {
		double sum = 0;
		for (auto &child : StructType::GetChildTypes(type)) {
			sum += ValueBytes(child.second);
		}
		return sum;
	}
	case PhysicalType::LIST:
	case PhysicalType::ARRAY:
		return 64;
	default:
		return static_cast<double>(GetTypeIdSize(type.InternalType()));
	}
}

//! Whether `op` is one of ours, which stand in a plan only while it is made.
bool IsPlanningNode(const LogicalOperator &op) {
	return dynamic_cast<const LogicalDistributedLeaf *>(&op) || dynamic_cast<const LogicalExchange *>(&op) ||
		   dynamic_cast<const LogicalChildrenIsolatorUnion *>(&op);
}

//! The leaves of a subtree that every task may as well read for itself; false if there is anything else in it.
bool CollectSmallLeaves(LogicalOperator &op, idx_t limit, vector<reference<LogicalDistributedLeaf>> &leaves) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_FILTER:
	case LogicalOperatorType::LOGICAL_PROJECTION:
	case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
		break;
	case LogicalOperatorType::LOGICAL_DUMMY_SCAN:
	case LogicalOperatorType::LOGICAL_EXPRESSION_GET:
	case LogicalOperatorType::LOGICAL_CHUNK_GET:
	case LogicalOperatorType::LOGICAL_EMPTY_RESULT:
		break;
	case LogicalOperatorType::LOGICAL_EXTENSION_OPERATOR: {
		auto leaf = dynamic_cast<LogicalDistributedLeaf *>(&op);
		if (!leaf || leaf->total_bytes > limit || !leaf->can_replicate) {
			return false;
		}
		leaves.push_back(*leaf);
		return true;
	}
	default:
		return false;
	}
	for (auto &child : op.children) {
		if (!CollectSmallLeaves(*child, limit, leaves)) {
			return false;
		}
	}
	return true;
}

} // namespace

bool IsSourceLeaf(const LogicalOperator &op) {
	if (!op.children.empty()) {
		return false;
	}
	return op.type == LogicalOperatorType::LOGICAL_GET ||
		   (op.type == LogicalOperatorType::LOGICAL_EXTENSION_OPERATOR && !IsPlanningNode(op));
}

Placement::Placement(OptimizerExtensionInput &input, const PlannerOptions &options,
					 unique_ptr<LogicalOperator> &statement)
	: context_(input.context), optimizer_(input.optimizer), options_(options), rules_(PlacementRules()),
	  under_way_({UnderWay{statement, {}}}) {
}

idx_t Placement::NewTableIndex() {
	return optimizer_.binder.GenerateTableIndex();
}

Distribution Placement::Place(unique_ptr<LogicalOperator> &op, bool keep_order, vector<ColumnBinding> preferred) {
	under_way_.push_back({op, std::move(preferred)});
	auto result = PlaceByRule(op, keep_order);
	under_way_.pop_back();
	return result;
}

Distribution Placement::PlaceByRule(unique_ptr<LogicalOperator> &op, bool keep_order) {
	string reason;
	if (!CanTravel(*op, reason)) {
		auto result = PlaceInOneTask(op, keep_order, reason);
		result.session = true;
		return result;
	}
	for (auto &rule : rules_) {
		if (rule->Matches(*op)) {
			auto result = rule->Place(*this, op, keep_order);
			CheckOperator(*op);
			result.in_order = result.in_order && keep_order;
			return Restrict(std::move(result), op->GetColumnBindings());
		}
	}
	return PlaceInOneTask(op, keep_order, LogicalOperatorToString(op->type) + " is not distributed");
}

Distribution Placement::PlaceInOneTask(unique_ptr<LogicalOperator> &op, bool keep_order, const string &reason) {
	vector<Distribution> places;
	for (auto &child : op->children) {
		places.push_back(Place(child, keep_order));
	}
	auto result = BringTogether(*op, places);
	// Nothing is known of the operator.
	result.replicable = false;
	AddReason(reason);
	return result;
}

Distribution Placement::BringTogether(LogicalOperator &op, const vector<Distribution> &places) {
	auto result = Distribution::Single();
	result.in_order = true;
	result.replicable = true;
	for (idx_t i = 0; i < places.size(); i++) {
		auto place = Coalesce(op.children[i], places[i]);
		result.session = result.session || place.session;
		result.pinned = result.pinned || place.pinned;
		result.replicable = result.replicable && place.replicable;
		result.in_order = result.in_order && place.in_order;
	}
	return result;
}

void Placement::AddReason(const string &reason) {
	if (std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end()) {
		reasons_.push_back(reason);
	}
}

unique_ptr<LogicalExchange> Placement::MakeExchange(ExchangeKind kind, vector<unique_ptr<Expression>> keys,
													unique_ptr<LogicalOperator> child) {
	has_exchange_ = true;
	// Rows that are dealt in turn, as those of a shared subplan or of the session, can as well go where they are wanted
	// at once.
	if (auto exchange = LogicalExchange::From(*child)) {
		if (exchange->kind == ExchangeKind::SHUFFLE && exchange->expressions.empty()) {
			auto merged = unique_ptr_cast<LogicalOperator, LogicalExchange>(std::move(child));
			merged->kind = kind;
			merged->expressions = std::move(keys);
			return merged;
		}
	}
	return make_uniq<LogicalExchange>(kind, std::move(keys), std::move(child));
}

Distribution Placement::Coalesce(unique_ptr<LogicalOperator> &op, const Distribution &distribution) {
	if (distribution.IsSingle()) {
		return distribution;
	}
	if (distribution.pinned) {
		throw InternalException("A boundary above the duplicate-eliminated side of a delim join");
	}
	auto result = Distribution::Single();
	if (distribution.kind == DistributionKind::REPLICATED) {
		// The task that runs the parent has all the rows; a stage of its own is needed only if there is more than one.
		return result;
	}
	auto exchange = MakeExchange(ExchangeKind::COALESCE, {}, std::move(op));
	if (distribution.in_order && options_.preserve_order) {
		exchange->read_order = ReadOrder::BY_TASK;
		result.in_order = true;
	}
	op = std::move(exchange);
	return result;
}

Distribution Placement::CoalesceSorted(unique_ptr<LogicalOperator> &op, const vector<BoundOrderByNode> &orders) {
	auto exchange = MakeExchange(ExchangeKind::COALESCE, {}, std::move(op));
	exchange->read_order = ReadOrder::MERGE;
	for (auto &order : orders) {
		exchange->orders.push_back(order.Copy());
		auto &column = exchange->orders.back().expression->Cast<BoundColumnRefExpression>();
		if (column.GetAlias().empty()) {
			column.SetAlias(ColumnName(*exchange->children[0], column.binding));
		}
	}
	op = std::move(exchange);
	auto result = Distribution::Single();
	result.in_order = true;
	return result;
}

Distribution Placement::Shuffle(unique_ptr<LogicalOperator> &op, vector<unique_ptr<Expression>> keys) {
	vector<EquivalentColumns> columns;
	for (auto &key : keys) {
		if (key->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
			columns.push_back({key->Cast<BoundColumnRefExpression>().binding});
		}
	}
	auto all_columns = columns.size() == keys.size();
	auto exchange = MakeExchange(ExchangeKind::SHUFFLE, std::move(keys), std::move(op));
	auto result = all_columns ? Distribution::Hash(std::move(columns)) : Distribution::Arbitrary();
	if (all_columns) {
		result.boundary = *exchange;
	}
	op = std::move(exchange);
	return result;
}

Distribution Placement::Deal(unique_ptr<LogicalOperator> &op) {
	op = MakeExchange(ExchangeKind::SHUFFLE, {}, std::move(op));
	return Distribution::Arbitrary();
}

Distribution Placement::Broadcast(unique_ptr<LogicalOperator> &op, const Distribution &distribution) {
	if (distribution.kind == DistributionKind::REPLICATED || distribution.replicable) {
		return Distribution::Replicated();
	}
	if (IsReadByEveryTask(*op)) {
		vector<reference<LogicalDistributedLeaf>> leaves;
		CollectSmallLeaves(*op, options_.replicate_limit, leaves);
		for (auto &leaf : leaves) {
			leaf.get().replicated = true;
		}
		return Distribution::Replicated();
	}
	op = MakeExchange(ExchangeKind::BROADCAST, {}, std::move(op));
	return Distribution::Replicated();
}

bool Placement::IsReadByEveryTask(LogicalOperator &op) const {
	vector<reference<LogicalDistributedLeaf>> leaves;
	return options_.join != JoinStrategy::SHUFFLE && CollectSmallLeaves(op, options_.replicate_limit, leaves);
}

Distribution Placement::Project(unique_ptr<LogicalOperator> &op, const vector<ColumnBinding> &columns,
								const vector<ColumnBinding> &names, Distribution distribution) {
	op->ResolveOperatorTypes();
	auto bindings = op->GetColumnBindings();
	vector<unique_ptr<Expression>> expressions;
	for (auto &column : columns) {
		auto position = std::find(bindings.begin(), bindings.end(), column) - bindings.begin();
		auto &type = op->types[static_cast<idx_t>(position)];
		expressions.push_back(make_uniq<BoundColumnRefExpression>(ColumnName(*op, column), type, column));
	}
	AddProjection(op, NewTableIndex(), std::move(expressions));
	auto new_names = op->GetColumnBindings();
	for (auto &above : under_way_) {
		auto &place = above.place.get();
		if (&place != &op && place) {
			ReplaceColumns(*place, names, new_names);
			above.preferred = Renamed(above.preferred, names, new_names, /*keep_others=*/true);
		}
	}
	return Rename(std::move(distribution), columns, new_names);
}

bool Placement::IsReadAbove(const ColumnBinding &column) const {
	auto found = false;
	for (idx_t i = 0; i + 1 < under_way_.size(); i++) {
		auto &place = under_way_[i].place.get();
		if (!place) {
			continue;
		}
		LogicalOperatorVisitor::EnumerateExpressions(*place, [&](unique_ptr<Expression> *expression) {
			if (*expression) {
				ExpressionIterator::EnumerateExpression(*expression, [&](Expression &part) {
					found = found || (part.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF &&
									  part.Cast<BoundColumnRefExpression>().binding == column);
				});
			}
		});
	}
	return found;
}

idx_t Placement::Share(unique_ptr<LogicalOperator> &op, Distribution distribution, const string &name) {
	auto index = NewTableIndex();
	op->ResolveOperatorTypes();
	shared[index] = {std::move(op), std::move(distribution), name};
	return index;
}

unique_ptr<LogicalOperator> Placement::ReadShared(idx_t index) {
	auto &plan = *shared.at(index).plan;
	vector<string> names;
	for (idx_t i = 0; i < plan.types.size(); i++) {
		names.push_back("c" + std::to_string(i));
	}
	auto result = make_uniq<LogicalCTERef>(NewTableIndex(), index, plan.types, std::move(names));
	if (plan.has_estimated_cardinality) {
		result->SetEstimatedCardinality(plan.estimated_cardinality);
	}
	result->ResolveOperatorTypes();
	return result;
}

bool Placement::ExpressionTravels(Expression &expression, string &reason) {
	if (expression.HasParameter()) {
		reason = "a parameter has no value yet";
		return false;
	}
	if (expression.GetExpressionClass() == ExpressionClass::BOUND_FUNCTION) {
		auto &function = expression.Cast<BoundFunctionExpression>().function;
		// error() is volatile so that it is not computed while planning; it returns nothing in any place.
		auto is_volatile = function.GetStability() == FunctionStability::VOLATILE && function.name != "error";
		if (is_volatile || IsSessionFunction(function.name)) {
			reason = function.name + "() has another value on another machine";
			return false;
		}
		if (!HaveFunction(CatalogType::SCALAR_FUNCTION_ENTRY, function.name, reason)) {
			return false;
		}
		// The body of a lambda is no child.
		auto &bind_info = expression.Cast<BoundFunctionExpression>().bind_info;
		if (function.HasBindLambdaCallback() && bind_info) {
			auto &lambda = bind_info->Cast<ListLambdaBindData>().lambda_expr;
			if (lambda && !ExpressionTravels(*lambda, reason)) {
				return false;
			}
		}
	}
	if (expression.GetExpressionClass() == ExpressionClass::BOUND_CAST) {
		// A worker without the type's own casts would cast what the values are made of, to other values.
		auto is_unknown = [&](const LogicalType &type) {
			return type.HasAlias() && !HaveFunction(CatalogType::TYPE_ENTRY, type.GetAlias(), reason);
		};
		auto &cast = expression.Cast<BoundCastExpression>();
		if (cast.bound_cast.function == DefaultCasts::TryVectorNullCast && !cast.try_cast) {
			// It fails with the first value, which DuckDB does not compute if the other side of a join is empty.
			reason = "there is no cast from " + cast.source_type().ToString() + " to " + cast.return_type.ToString();
			return false;
		}
		if (TypeVisitor::Contains(cast.source_type(), is_unknown) ||
			TypeVisitor::Contains(cast.return_type, is_unknown)) {
			return false;
		}
	}
	if (expression.GetExpressionClass() == ExpressionClass::BOUND_AGGREGATE &&
		!HaveFunction(CatalogType::AGGREGATE_FUNCTION_ENTRY, expression.Cast<BoundAggregateExpression>().function.name,
					  reason)) {
		return false;
	}
	if (expression.GetExpressionClass() == ExpressionClass::BOUND_WINDOW) {
		auto &window = expression.Cast<BoundWindowExpression>();
		if (window.aggregate && !HaveFunction(CatalogType::AGGREGATE_FUNCTION_ENTRY, window.aggregate->name, reason)) {
			return false;
		}
	}
	bool travels = true;
	ExpressionIterator::EnumerateChildren(
		expression, [&](Expression &child) { travels = travels && ExpressionTravels(child, reason); });
	return travels;
}

bool Placement::FilterTravels(TableFilter &filter, string &reason) {
	switch (filter.filter_type) {
	case TableFilterType::EXPRESSION_FILTER:
		return ExpressionTravels(*filter.Cast<ExpressionFilter>().expr, reason);
	case TableFilterType::CONJUNCTION_AND:
	case TableFilterType::CONJUNCTION_OR: {
		auto &children = static_cast<ConjunctionFilter &>(filter).child_filters;
		return std::all_of(children.begin(), children.end(),
						   [&](auto &child) { return FilterTravels(*child, reason); });
	}
	case TableFilterType::STRUCT_EXTRACT:
		return FilterTravels(*filter.Cast<StructFilter>().child_filter, reason);
	case TableFilterType::OPTIONAL_FILTER: {
		auto &child = filter.Cast<OptionalFilter>().child_filter;
		return !child || FilterTravels(*child, reason);
	}
	default:
		return true;
	}
}

bool Placement::HaveFunction(CatalogType type, const string &name, string &reason) {
	if (!worker_functions_) {
		worker_functions_ = options_.worker_functions();
	}
	if (worker_functions_->HasFunction(context_, type, name)) {
		return true;
	}
	reason = name + (type == CatalogType::TYPE_ENTRY ? " is a type that only this session has"
													 : "() is a function that only this session has");
	return false;
}

bool Placement::CanTravel(LogicalOperator &op, string &reason) {
	if (op.type == LogicalOperatorType::LOGICAL_GET && !op.children.empty() &&
		!HaveFunction(CatalogType::TABLE_FUNCTION_ENTRY, op.Cast<LogicalGet>().function.name, reason)) {
		return false;
	}
	if (op.type == LogicalOperatorType::LOGICAL_GET) {
		for (auto &entry : op.Cast<LogicalGet>().table_filters.filters) {
			if (!FilterTravels(*entry.second, reason)) {
				return false;
			}
		}
	}
	bool travels = true;
	LogicalOperatorVisitor::EnumerateExpressions(op, [&](unique_ptr<Expression> *expression) {
		if (!travels || !*expression) {
			return;
		}
		travels = ExpressionTravels(**expression, reason);
		if (!travels) {
			return;
		}
		try {
			MemoryStream stream(Allocator::Get(context_));
			BinarySerializer::Serialize(**expression, stream);
		} catch (const std::exception &ex) {
			travels = false;
			reason = (*expression)->ToString() + " cannot be sent to a worker: " + ErrorData(ex).RawMessage();
		}
	});
	return travels;
}

const EstimatedLeaf &Placement::Estimate(LogicalOperator &leaf) {
	auto entry = estimates_.find(&leaf);
	if (entry == estimates_.end()) {
		entry = estimates_.emplace(&leaf, EstimateLeaf(context_, leaf, options_)).first;
	}
	return entry->second;
}

double Placement::EstimateBytes(LogicalOperator &op) {
	double width = 0;
	for (auto &type : op.types) {
		width += ValueBytes(type);
	}
	return static_cast<double>(op.EstimateCardinality(context_)) * std::max(width, 1.0);
}

} // namespace skein
