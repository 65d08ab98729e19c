#include "explain/plan_outline.hpp"

#include "duckdb/common/render_tree.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_order.hpp"
#include "duckdb/planner/operator/logical_top_n.hpp"
#include "engine/slice_units.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "planner/head_source.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr size_t MAX_LINE_BYTES = 160;

//! One line of at most `max_bytes`, cut between characters.
string Shorten(string text, size_t max_bytes = MAX_LINE_BYTES) {
	text = StringUtil::Replace(text, "\n", ", ");
	if (text.size() <= max_bytes) {
		return text;
	}
	auto is_inside_character = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
	while (max_bytes > 0 && is_inside_character(max_bytes)) {
		max_bytes--;
	}
	return text.substr(0, max_bytes) + "...";
}

template <class LIST>
string Join(const LIST &expressions) {
	string result;
	for (auto &expression : expressions) {
		result += (result.empty() ? "" : ", ") + expression->GetName();
	}
	return result;
}

string JoinOrders(const vector<BoundOrderByNode> &orders) {
	string result;
	for (auto &order : orders) {
		result += (result.empty() ? "" : ", ") + order.expression->GetName() + " " + order.GetOrderModifier();
	}
	return result;
}

//! What follows the operator's name.
string DetailsOf(const LogicalOperator &op) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY: {
		auto &aggregate = op.Cast<LogicalAggregate>();
		return "groups=[" + Join(aggregate.groups) + "], [" + Join(aggregate.expressions) + "]";
	}
	case LogicalOperatorType::LOGICAL_ORDER_BY:
		return JoinOrders(op.Cast<LogicalOrder>().orders);
	case LogicalOperatorType::LOGICAL_TOP_N: {
		auto &top = op.Cast<LogicalTopN>();
		return StringUtil::Format("%s, limit=%llu, offset=%llu", JoinOrders(top.orders), top.limit, top.offset);
	}
	case LogicalOperatorType::LOGICAL_FILTER:
		return Join(op.expressions);
	default:
		break;
	}
	string details;
	for (auto &entry : op.ParamsToString()) {
		if (entry.first == RenderTreeNode::ESTIMATED_CARDINALITY || entry.second.empty()) {
			continue;
		}
		auto label = entry.first == "Expressions" ? string() : StringUtil::Lower(entry.first) + "=";
		details += (details.empty() ? "" : ", ") + label + entry.second;
	}
	return details;
}

size_t CountOperators(const LogicalOperator &op) {
	size_t count = 1;
	for (auto &child : op.children) {
		count += CountOperators(*child);
	}
	return count;
}

PlannedOperator DescribeInput(const DraftInput &input) {
	PlannedOperator result;
	result.kind = PlannedOperator::Kind::INPUT;
	result.name = input.name;
	result.details = input.details;
	result.stage = input.producer->id;
	result.output = input.output;
	result.input_tasks = input.producer->tasks;
	result.replicated = input.producer->outputs[input.output].sink.kind == ExchangeKind::BROADCAST;
	result.estimated_bytes = input.estimated_bytes;
	return result;
}

PlannedOperator DescribeLeaf(const LogicalDistributedLeaf &leaf) {
	PlannedOperator result;
	result.kind = PlannedOperator::Kind::LEAF;
	result.name = leaf.GetName();
	result.replicated = leaf.replicated;
	if (!leaf.dealt_by.empty() && !leaf.replicated) {
		result.details = "dealt by [" + StringUtil::Join(leaf.dealt_by, ", ") + "]";
	}
	for (size_t piece = 0; piece < leaf.summaries.size(); piece++) {
		auto &summary = leaf.summaries[piece];
		PlannedVariant variant{Shorten(summary.text), std::nullopt, summary.bytes,
							   CountOperators(*leaf.variants[piece])};
		if (auto slice = SliceUnits::OfScan(*leaf.variants[piece])) {
			variant.units = slice->UnitCount();
		}
		if (summary.rows.IsValid()) {
			variant.rows = summary.rows.GetIndex();
		}
		result.variants.push_back(std::move(variant));
	}
	return result;
}

void DescribeParts(const LogicalChildrenIsolatorUnion &node, PlannedOperator &result) {
	result.kind = PlannedOperator::Kind::UNION;
	result.details = node.Describe();
	for (size_t task = 0; task < node.parts.size(); task++) {
		result.parts.emplace_back();
		for (auto &part : node.PartsOf(task)) {
			auto isolated = std::find(node.isolated.begin(), node.isolated.end(), part.child) != node.isolated.end();
			result.parts.back().push_back({part.child, isolated ? part.share : task});
		}
	}
}

//! The stage that operators are in, or the head.
struct Surroundings {
	const std::vector<DraftInput> &inputs;
	const std::vector<DraftInput> &head_inputs;
	uint32_t tasks = 1;
};

bool IsConstant(const LogicalOperator &op) {
	return op.type == LogicalOperatorType::LOGICAL_CHUNK_GET || op.type == LogicalOperatorType::LOGICAL_DUMMY_SCAN ||
		   op.type == LogicalOperatorType::LOGICAL_EMPTY_RESULT;
}

//! Whether every task that runs `op`, described as `planned`, has the same rows there.
bool IsReplicated(const LogicalOperator &op, const PlannedOperator &planned) {
	auto &children = planned.children;
	return IsConstant(op) || (!children.empty() && planned.kind != PlannedOperator::Kind::UNION &&
							  std::all_of(children.begin(), children.end(),
										  [](const PlannedOperator &child) { return child.replicated; }));
}

PlannedOperator Describe(const LogicalOperator &op, const Surroundings &around) {
	if (auto source = dynamic_cast<const LogicalExchangeSource *>(&op)) {
		return DescribeInput(around.inputs[source->Input()]);
	}
	if (auto source = dynamic_cast<const HeadSource *>(&op)) {
		return DescribeInput(around.head_inputs[source->Input()]);
	}
	if (auto leaf = dynamic_cast<const LogicalDistributedLeaf *>(&op)) {
		return DescribeLeaf(*leaf);
	}
	PlannedOperator result;
	result.name = op.GetName();
	if (auto filter = dynamic_cast<const LogicalRuntimeFilter *>(&op)) {
		result.kind = PlannedOperator::Kind::RUNTIME_FILTER;
		result.details = "keys=[" + Join(filter->expressions) + "]";
	} else if (auto node = dynamic_cast<const LogicalChildrenIsolatorUnion *>(&op)) {
		DescribeParts(*node, result);
	} else {
		auto separator = string(": ").size();
		auto name = std::min(MAX_LINE_BYTES - separator, result.name.size());
		result.details = Shorten(DetailsOf(op), MAX_LINE_BYTES - name - separator);
	}
	for (auto &child : op.children) {
		result.children.push_back(Describe(*child, around));
	}
	result.replicated = around.tasks > 1 && IsReplicated(op, result);
	return result;
}

} // namespace

PlanOutline OutlineOf(const QueryDraft &draft, const LogicalOperator &head, size_t workers) {
	PlanOutline result;
	result.workers = workers;
	result.reasons = draft.reasons;
	result.head = Describe(head, {draft.head_inputs, draft.head_inputs});
	for (auto &stage : draft.stages) {
		auto &inputs = stage->in_session ? draft.head_inputs : stage->inputs;
		result.stages.push_back({stage->id, stage->tasks, stage->in_session,
								 Describe(*stage->root, {inputs, draft.head_inputs, stage->tasks})});
	}
	return result;
}

} // namespace skein
