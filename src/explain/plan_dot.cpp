#include "explain/plan_dot.hpp"

#include "duckdb/common/string_util.hpp"
#include "explain/visible_text.hpp"

#include <algorithm>
#include <cmath>

namespace skein {

using namespace duckdb;

namespace {

//! Of the widest edge, in points.
constexpr double MAX_WIDTH = 8;

string Quoted(const string &text) {
	string result = "\"";
	for (auto character : VisibleText(text)) {
		if (character == '"' || character == '\\') {
			result += '\\';
		}
		result += character;
	}
	return result + "\"";
}

//! Joined by line ends, as a label.
string Label(const std::vector<string> &lines) {
	string result;
	for (auto &line : lines) {
		auto quoted = Quoted(line);
		result += (result.empty() ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
	}
	return "\"" + result + "\"";
}

class DotWriter {
public:
	DotWriter(const PlanOutline &outline, const std::vector<StageReport> *reports)
		: outline_(outline), reports_(reports) {
		for (size_t i = 0; reports && i < reports->size(); i++) {
			for (auto &output : (*reports)[i].outputs) {
				most_bytes_ = std::max(most_bytes_, output.bytes);
			}
		}
	}

	string Write() {
		out_ = "digraph plan {\n  rankdir=BT;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n"
			   "  edge [fontname=\"monospace\", fontsize=9];\n";
		Cluster(0, "Head, in the session", outline_.head);
		for (auto &stage : outline_.stages) {
			auto place = stage.in_session ? string("in the session") : StringUtil::Format("tasks=%u", stage.tasks);
			Cluster(stage.id, StringUtil::Format("Stage %u, %s", stage.id, place), stage.root);
		}
		return out_ + edges_ + "}\n";
	}

private:
	void Cluster(uint32_t stage, const string &title, const PlannedOperator &root) {
		out_ += StringUtil::Format("  subgraph cluster_%u {\n    label=%s;\n", stage, Quoted(title));
		next_ = 0;
		Node(stage, root);
		out_ += "  }\n";
	}

	//! Returns the node's name. A stage's root is number 0.
	string Node(uint32_t stage, const PlannedOperator &op) {
		auto name = StringUtil::Format("s%u_%llu", stage, next_++);
		out_ += StringUtil::Format("    %s [label=%s];\n", name, Label(LinesOf(op)));
		if (op.kind == PlannedOperator::Kind::INPUT) {
			Boundary(op, name);
		}
		for (auto &child : op.children) {
			auto below = Node(stage, child);
			edges_ += "  " + below + " -> " + name + ";\n";
		}
		return name;
	}

	std::vector<string> LinesOf(const PlannedOperator &op) const {
		std::vector<string> lines{op.name};
		auto details = op.details;
		if (op.kind == PlannedOperator::Kind::INPUT) {
			details = StringUtil::Format("%sinput_tasks=%u", details, op.input_tasks);
		}
		if (!details.empty()) {
			lines.push_back(details);
		}
		if (op.kind == PlannedOperator::Kind::LEAF) {
			// All of them would hide the graph: one of each kind stands for the others.
			lines.push_back(op.variants.empty() ? "nothing" : op.variants[0].text);
			if (op.replicated) {
				lines.push_back("read by every task");
			} else if (op.variants.size() > 1) {
				lines.push_back(StringUtil::Format("and %llu other variants", op.variants.size() - 1));
			}
		}
		if (!op.measured.empty()) {
			auto total = op.Total();
			lines.push_back(
				StringUtil::Format("%llu rows, %.1f ms", total.rows, static_cast<double>(total.micros) / 1000));
		}
		return lines;
	}

	void Boundary(const PlannedOperator &op, const string &name) {
		string attributes = "style=bold";
		if (reports_ && op.output < (*reports_)[op.stage - 1].outputs.size()) {
			auto &sent = (*reports_)[op.stage - 1].outputs[op.output];
			auto share = most_bytes_ == 0 ? 0 : static_cast<double>(sent.bytes) / static_cast<double>(most_bytes_);
			attributes = StringUtil::Format(
				"label=%s, penwidth=%.1f",
				Label({StringUtil::Format("%llu rows", sent.rows), StringUtil::BytesToHumanReadableString(sent.bytes)}),
				1 + (MAX_WIDTH - 1) * std::sqrt(share));
		}
		edges_ += StringUtil::Format("  s%u_0 -> %s [%s];\n", op.stage, name, attributes);
	}

	const PlanOutline &outline_;
	//! By stage; nullptr if nothing has run.
	const std::vector<StageReport> *reports_;
	uint64_t most_bytes_ = 0;
	size_t next_ = 0;
	string out_;
	string edges_;
};

} // namespace

string PlanDot(const PlanOutline &outline) {
	return DotWriter(outline, nullptr).Write();
}

string PlanDot(const PlanReport &report) {
	return DotWriter(report.outline, &report.stages).Write();
}

} // namespace skein
