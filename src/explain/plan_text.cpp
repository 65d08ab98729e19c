#include "explain/plan_text.hpp"

#include "duckdb/common/render_tree.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_order.hpp"
#include "duckdb/planner/operator/logical_top_n.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "planner/head_source.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr idx_t MAX_DETAIL_LENGTH = 160;

string Shorten(string text) {
	text = StringUtil::Replace(text, "\n", ", ");
	if (text.size() > MAX_DETAIL_LENGTH) {
		text.resize(MAX_DETAIL_LENGTH);
		text += "...";
	}
	return text;
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

string Line(const LogicalOperator &op) {
	auto name = op.GetName();
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY: {
		auto &aggregate = op.Cast<LogicalAggregate>();
		return Shorten(name + ": groups=[" + Join(aggregate.groups) + "], [" + Join(aggregate.expressions) + "]");
	}
	case LogicalOperatorType::LOGICAL_ORDER_BY:
		return Shorten(name + ": " + JoinOrders(op.Cast<LogicalOrder>().orders));
	case LogicalOperatorType::LOGICAL_TOP_N: {
		auto &top = op.Cast<LogicalTopN>();
		return Shorten(
			StringUtil::Format("%s: %s, limit=%llu, offset=%llu", name, JoinOrders(top.orders), top.limit, top.offset));
	}
	case LogicalOperatorType::LOGICAL_FILTER:
		return Shorten(name + ": " + Join(op.expressions));
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
	return Shorten(details.empty() ? name : name + ": " + details);
}

class Printer {
public:
	explicit Printer(const QueryDraft &draft) : draft_(draft) {
	}

	void Box(const string &title, const LogicalOperator &root, const std::vector<DraftInput> &inputs, idx_t depth) {
		auto indent = string(depth * 2, ' ');
		out_ += indent + "┌───── " + title + "\n";
		prefix_ = indent + "│ ";
		inputs_ = &inputs;
		vector<const StageDraft *> below;
		Tree(root, 0, below);
		out_ += indent + "└──────────────────────────────────────────────────\n";
		for (auto stage : below) {
			if (std::find(printed_.begin(), printed_.end(), stage) != printed_.end()) {
				continue;
			}
			printed_.push_back(stage);
			auto place = stage->in_session ? string("in the session") : StringUtil::Format("tasks=%u", stage->tasks);
			Box(StringUtil::Format("Stage %u ── %s", stage->id, place), *stage->root,
				stage->in_session ? draft_.head_inputs : stage->inputs, depth + 1);
		}
	}

	string Take() {
		return std::move(out_);
	}

private:
	void Print(idx_t level, const string &text) {
		out_ += prefix_ + string(level * 2, ' ') + text + "\n";
	}

	void Tree(const LogicalOperator &op, idx_t level, vector<const StageDraft *> &below) {
		if (auto source = dynamic_cast<const LogicalExchangeSource *>(&op)) {
			Input((*inputs_)[source->Input()], level, below);
			return;
		}
		if (auto source = dynamic_cast<const HeadSource *>(&op)) {
			Input(draft_.head_inputs[source->Input()], level, below);
			return;
		}
		if (auto filter = dynamic_cast<const LogicalRuntimeFilter *>(&op)) {
			auto &hashes = static_cast<const LogicalExchangeSource &>(*op.children[1]);
			Print(level, StringUtil::Format("RuntimeFilter: keys=[%s], of stage %u", Join(filter->expressions),
											(*inputs_)[hashes.Input()].producer->id));
			Tree(*op.children[0], level + 1, below);
			return;
		}
		if (auto leaf = dynamic_cast<const LogicalDistributedLeaf *>(&op)) {
			Print(level, leaf->replicated ? "DistributedLeaf: read by every task" : "DistributedLeaf:");
			for (idx_t task = 0; task < leaf->summaries.size(); task++) {
				auto &summary = leaf->summaries[task];
				if (leaf->replicated && task > 0) {
					break;
				}
				auto name = leaf->replicated ? string() : StringUtil::Format("t%llu: ", task);
				auto rows =
					summary.rows.IsValid() ? StringUtil::Format(" rows=%llu", summary.rows.GetIndex()) : string();
				Print(level + 1,
					  StringUtil::Format("%s%s%s bytes=%llu", name, Shorten(summary.text), rows, summary.bytes));
			}
			return;
		}
		if (auto node = dynamic_cast<const LogicalChildrenIsolatorUnion *>(&op)) {
			Print(level, "DistributedUnion: " + node->Describe());
		} else {
			Print(level, Line(op));
		}
		for (auto &child : op.children) {
			Tree(*child, level + 1, below);
		}
	}

	void Input(const DraftInput &input, idx_t level, vector<const StageDraft *> &below) {
		Print(level, StringUtil::Format("[Stage %u] => %s: %sinput_tasks=%u", input.producer->id, input.name,
										input.details, input.producer->tasks));
		below.push_back(input.producer);
	}

	const QueryDraft &draft_;
	const std::vector<DraftInput> *inputs_ = nullptr;
	vector<const StageDraft *> printed_;
	string prefix_;
	string out_;
};

} // namespace

string PlanText(const QueryDraft &draft, const LogicalOperator &head, idx_t workers) {
	Printer printer(draft);
	printer.Box("Distributed ── workers=" + std::to_string(workers), head, draft.head_inputs, 0);
	return printer.Take();
}

} // namespace skein
