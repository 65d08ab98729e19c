#include "planner/stage_cutter.hpp"

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_cteref.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "plan/columns.hpp"
#include "planner/leaf_shares.hpp"
#include "planner/rules/aggregate_steps.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Whether the subtree reads something that only the session can read, so that it has to run there.
bool ReadsSession(Placement &placement, LogicalOperator &op) {
	string reason;
	if (IsSourceLeaf(op) || !placement.CanTravel(op, reason)) {
		return true;
	}
	if (op.type == LogicalOperatorType::LOGICAL_EXTENSION_OPERATOR) {
		// A boundary ends the subtree; a distributed leaf can be read anywhere.
		return false;
	}
	for (auto &child : op.children) {
		if (ReadsSession(placement, *child)) {
			return true;
		}
	}
	return false;
}

vector<SortColumn> SortColumns(const vector<BoundOrderByNode> &orders, const vector<ColumnBinding> &bindings) {
	vector<SortColumn> result;
	for (auto &order : orders) {
		auto &binding = order.expression->Cast<BoundColumnRefExpression>().binding;
		auto position = std::find(bindings.begin(), bindings.end(), binding) - bindings.begin();
		result.push_back({static_cast<idx_t>(position), OrderModifiers(order.type, order.null_order)});
	}
	return result;
}

string Details(const LogicalExchange &exchange) {
	string result;
	if (exchange.kind == ExchangeKind::SHUFFLE) {
		if (exchange.expressions.empty()) {
			return "in turn, ";
		}
		for (auto &key : exchange.expressions) {
			result += (result.empty() ? "keys=[" : ", ") + key->GetName();
		}
		return result + "], ";
	}
	if (exchange.read_order == ReadOrder::MERGE) {
		for (auto &order : exchange.orders) {
			result +=
				(result.empty() ? "merge=[" : ", ") + order.expression->GetName() + " " + order.GetOrderModifier();
		}
		return result + "], ";
	}
	return exchange.read_order == ReadOrder::BY_TASK ? "in order, " : "";
}

//! Where `wanted` stands under `op`; nullptr if it does not.
optional_ptr<unique_ptr<LogicalOperator>> PlaceOf(const LogicalOperator &wanted, unique_ptr<LogicalOperator> &op) {
	if (op.get() == &wanted) {
		return op;
	}
	if (!op) {
		// The boundary that is being cut.
		return nullptr;
	}
	for (auto &child : op->children) {
		if (auto place = PlaceOf(wanted, child)) {
			return place;
		}
	}
	return nullptr;
}

//! The lowest place under `op` where rows can be filtered by `keys`, which are translated to it: below projections and
//! partial aggregates, above everything else.
unique_ptr<LogicalOperator> &FilterPlace(unique_ptr<LogicalOperator> &op, vector<unique_ptr<Expression>> &keys) {
	vector<ColumnBinding> own, below;
	if (!PassesColumns(*op, own, below)) {
		return op;
	}
	for (auto &key : keys) {
		auto is_column = key->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF;
		if (!is_column ||
			std::find(own.begin(), own.end(), key->Cast<BoundColumnRefExpression>().binding) == own.end()) {
			return op;
		}
	}
	for (auto &key : keys) {
		ReplaceColumns(key, own, below);
	}
	return FilterPlace(op->children[0], keys);
}

//! What the filters and projections of an exchange over a shared subplan make of the subplan's columns `own`.
struct ChosenRows {
	vector<ColumnBinding> names;
	vector<unique_ptr<Expression>> columns;
	vector<unique_ptr<Expression>> filters;
	//! As EXPLAIN shows it.
	string details;
};

ChosenRows ChooseRows(LogicalOperator &op, const vector<ColumnBinding> &own, const vector<LogicalType> &types) {
	ChosenRows result;
	if (op.type == LogicalOperatorType::LOGICAL_CTE_REF) {
		for (idx_t i = 0; i < own.size(); i++) {
			result.columns.push_back(make_uniq<BoundColumnRefExpression>(types[i], own[i]));
		}
		result.names = op.GetColumnBindings();
		return result;
	}
	auto below = ChooseRows(*op.children[0], own, types);
	result.filters = std::move(below.filters);
	result.details = std::move(below.details);
	result.names = op.GetColumnBindings();
	if (op.type == LogicalOperatorType::LOGICAL_PROJECTION) {
		for (auto &column : op.expressions) {
			result.columns.push_back(column->Copy());
			SubstituteColumns(result.columns.back(), below.names, below.columns);
		}
		return result;
	}
	for (auto &filter : op.expressions) {
		result.details += (result.details.empty() ? "" : " AND ") + filter->GetName();
		result.filters.push_back(filter->Copy());
		SubstituteColumns(result.filters.back(), below.names, below.columns);
	}
	for (auto &name : result.names) {
		auto position = std::find(below.names.begin(), below.names.end(), name) - below.names.begin();
		result.columns.push_back(below.columns[static_cast<idx_t>(position)]->Copy());
	}
	return result;
}

//! Whether these are all the columns of an operator, as they are.
bool AreAllColumns(const vector<unique_ptr<Expression>> &columns, const vector<ColumnBinding> &own) {
	return std::equal(columns.begin(), columns.end(), own.begin(), own.end(), [](auto &column, auto &binding) {
		return column->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF &&
			   column->template Cast<BoundColumnRefExpression>().binding == binding;
	});
}

//! Lets the output of a shared subplan whose root is `producer` compute what its reader wants of each row; returns how
//! EXPLAIN shows that.
string ChooseForReader(LogicalExchange &exchange, LogicalOperator &producer, DraftOutput &output) {
	auto own = producer.GetColumnBindings();
	auto chosen = ChooseRows(*exchange.children[0], own, producer.types);
	for (auto &key : output.sink.keys) {
		SubstituteColumns(key, chosen.names, chosen.columns);
	}
	output.sink.filters = std::move(chosen.filters);
	if (!AreAllColumns(chosen.columns, own)) {
		output.sink.columns = CopyAll(chosen.columns);
	}
	output.names = std::move(chosen.names);
	output.columns = std::move(chosen.columns);
	return chosen.details.empty() ? string() : "where=[" + chosen.details + "], ";
}

} // namespace

StageCutter::StageCutter(Placement &placement, MakeHeadSource make_head_source)
	: placement_(placement), make_head_source_(std::move(make_head_source)) {
}

QueryDraft StageCutter::Cut(unique_ptr<LogicalOperator> &plan) {
	head_ = plan;
	CutBelow(plan, nullptr);
	return std::move(draft_);
}

void StageCutter::CutBelow(unique_ptr<LogicalOperator> &op, StageDraft *consumer) {
	if (LogicalExchange::From(*op)) {
		CutExchange(op, consumer);
		return;
	}
	for (auto &child : op->children) {
		CutBelow(child, consumer);
	}
}

StageDraft &StageCutter::MakeStage(unique_ptr<LogicalOperator> root) {
	auto stage = std::make_unique<StageDraft>();
	stage->in_session = ReadsSession(placement_, *root);
	stage->root = std::move(root);
	CutBelow(stage->root, stage->in_session ? nullptr : stage.get());
	stage->id = static_cast<uint32_t>(draft_.stages.size() + 1);
	draft_.stages.push_back(std::move(stage));
	return *draft_.stages.back();
}

StageDraft &StageCutter::ProducerOf(LogicalExchange &exchange) {
	if (!exchange.shared_cte) {
		return MakeStage(std::move(exchange.children[0]));
	}
	auto &stage = shared_stages_[*exchange.shared_cte];
	if (!stage) {
		stage = &MakeStage(std::move(placement_.shared.at(*exchange.shared_cte).plan));
	}
	return *stage;
}

void StageCutter::CutExchange(unique_ptr<LogicalOperator> &op, StageDraft *consumer) {
	auto exchange = unique_ptr_cast<LogicalOperator, LogicalExchange>(std::move(op));
	auto bindings = exchange->GetColumnBindings();
	exchange->ResolveOperatorTypes();
	auto types = exchange->types;
	auto cardinality = exchange->EstimateCardinality(placement_.Context());
	auto sort_columns = SortColumns(exchange->orders, bindings);
	DraftInput input;
	input.name = exchange->GetName();
	input.details = Details(*exchange);
	input.estimated_bytes = exchange->estimated_bytes;
	if (exchange->filter) {
		// Producers come before their consumers.
		CutFirst(exchange->filter->by, consumer);
	}
	auto &producer = ProducerOf(*exchange);
	DraftOutput output;
	output.sink.kind = exchange->kind;
	output.in_order = exchange->read_order != ReadOrder::ANY;
	output.consumer = consumer;
	output.sink.keys = std::move(exchange->expressions);
	if (exchange->shared_cte) {
		input.details += ChooseForReader(*exchange, *producer.root, output);
	}
	if (exchange->filter) {
		AddRuntimeFilter(*exchange, producer);
	}
	input.producer = &producer;
	input.output = static_cast<uint32_t>(producer.outputs.size());
	producer.outputs.push_back(std::move(output));
	cut_[exchange.get()] = {&producer, input.output};

	auto &inputs = consumer ? consumer->inputs : draft_.head_inputs;
	auto number = inputs.size();
	inputs.push_back(std::move(input));
	if (consumer) {
		op = make_uniq<LogicalExchangeSource>(number, exchange->read_order, bindings, types, std::move(sort_columns));
	} else {
		op = make_head_source_(number, exchange->read_order, bindings, types, std::move(sort_columns));
	}
	op->SetEstimatedCardinality(cardinality);
	op->ResolveOperatorTypes();
}

void StageCutter::CutFirst(LogicalExchange &exchange, StageDraft *consumer) {
	auto place = PlaceOf(exchange, consumer ? consumer->root : *head_);
	if (place) {
		CutExchange(*place, consumer);
	}
}

void StageCutter::AddRuntimeFilter(LogicalExchange &exchange, StageDraft &producer) {
	auto found = cut_.find(&exchange.filter->by.get());
	// A shared stage has other readers, and may be read by the stage that would filter it.
	if (exchange.shared_cte || producer.in_session || found == cut_.end()) {
		return;
	}
	auto &source = found->second;
	DraftOutput output;
	output.sink.kind = ExchangeKind::KEY_HASHES;
	output.consumer = &producer;
	auto &rows = source.producer->outputs[source.output];
	output.sink.filters = CopyAll(rows.sink.filters);
	for (auto &key : exchange.filter->other_keys) {
		SubstituteColumns(key, rows.names, rows.columns);
		output.sink.keys.push_back(std::move(key));
	}
	DraftInput input;
	input.name = "NetworkKeyHashes";
	input.producer = source.producer;
	input.output = static_cast<uint32_t>(source.producer->outputs.size());
	auto number = producer.inputs.size();
	producer.inputs.push_back(std::move(input));
	source.producer->outputs.push_back(std::move(output));

	auto &keys = exchange.filter->own_keys;
	auto &place = FilterPlace(producer.root, keys);
	vector<LogicalType> types{LogicalType::HASH};
	vector<ColumnBinding> bindings{{placement_.NewTableIndex(), 0}};
	auto hashes = make_uniq<LogicalExchangeSource>(number, ReadOrder::ANY, std::move(bindings), std::move(types),
												   vector<SortColumn>());
	auto filter = make_uniq<LogicalRuntimeFilter>(std::move(keys));
	filter->SetEstimatedCardinality(place->EstimateCardinality(placement_.Context()));
	filter->children.push_back(std::move(place));
	filter->children.push_back(std::move(hashes));
	filter->ResolveOperatorTypes();
	place = std::move(filter);
}

void CountTasks(QueryDraft &draft, const PlannerOptions &options) {
	for (auto &stage : draft.stages) {
		auto tasks = WantedTasks(*stage->root, options);
		for (auto &input : stage->inputs) {
			auto kind = input.producer->outputs[input.output].sink.kind;
			if (kind == ExchangeKind::COALESCE) {
				// Everything of this stage is in one task.
				tasks = 1;
				break;
			}
			if (kind == ExchangeKind::SHUFFLE) {
				auto spread = options.mode == Mode::FORCE || input.producer->in_session ? options.max_tasks
																						: idx_t(input.producer->tasks);
				tasks = std::max(tasks, spread);
			}
		}
		stage->tasks = stage->in_session ? 1 : static_cast<uint32_t>(tasks);
		ScaleLeaves(*stage->root, stage->tasks);
	}
}

} // namespace skein
