#include "planner/stage_cutter.hpp"

#include "duckdb/planner/operator/logical_cteref.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "plan/columns.hpp"
#include "planner/leaf_shares.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Whether the subtree reads something that only the session can read, so that it has to run there.
bool ReadsSession(Placement &placement, LogicalOperator &op) {
	string reason;
	auto is_leaf = op.type == LogicalOperatorType::LOGICAL_GET && op.children.empty();
	if (is_leaf || !placement.CanTravel(op, reason)) {
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

} // namespace

StageCutter::StageCutter(Placement &placement, MakeHeadSource make_head_source)
	: placement_(placement), make_head_source_(std::move(make_head_source)) {
}

QueryDraft StageCutter::Cut(unique_ptr<LogicalOperator> &plan) {
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
	auto &producer = ProducerOf(*exchange);
	DraftOutput output;
	output.sink.kind = exchange->kind;
	output.in_order = exchange->read_order != ReadOrder::ANY;
	output.consumer = consumer;
	auto own_bindings = producer.root->GetColumnBindings();
	for (auto &key : exchange->expressions) {
		// A reference to a shared stage calls its columns by names of its own.
		ReplaceColumns(key, bindings, own_bindings);
		output.sink.keys.push_back(std::move(key));
	}
	input.producer = &producer;
	input.output = static_cast<uint32_t>(producer.outputs.size());
	producer.outputs.push_back(std::move(output));

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
