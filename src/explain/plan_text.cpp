#include "explain/plan_text.hpp"

#include "duckdb/common/string_util.hpp"
#include "explain/visible_text.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *DASHES = " ── ";

string Milliseconds(uint64_t micros) {
	return StringUtil::Format("%.1f ms", static_cast<double>(micros) / 1000);
}

string Bytes(uint64_t bytes) {
	return StringUtil::BytesToHumanReadableString(bytes);
}

string Rows(const OperatorMetrics &metrics) {
	auto rows = StringUtil::Format("%llu rows", metrics.rows);
	if (metrics.rows_read) {
		rows += StringUtil::Format(" of %llu read", *metrics.rows_read);
	}
	if (metrics.row_groups_skipped.value_or(0) > 0) {
		rows += StringUtil::Format(", %llu of %llu row groups skipped", *metrics.row_groups_skipped,
								   *metrics.row_groups_skipped + metrics.row_groups_read.value_or(0));
	}
	return rows;
}

string Title(const PlannedStage &stage) {
	auto place = stage.in_session ? string("in the session") : StringUtil::Format("tasks=%u", stage.tasks);
	return StringUtil::Format("Stage %u ── %s", stage.id, place);
}

string Line(const PlannedOperator &op) {
	switch (op.kind) {
	case PlannedOperator::Kind::INPUT:
		return StringUtil::Format("[Stage %u] => %s: %sinput_tasks=%u", op.stage, op.name, op.details, op.input_tasks) +
			   (op.estimated_bytes ? StringUtil::Format(", estimated_bytes=%llu", *op.estimated_bytes) : "");
	case PlannedOperator::Kind::RUNTIME_FILTER:
		return StringUtil::Format("%s: %s, of stage %u", op.name, op.details, op.children[1].stage);
	case PlannedOperator::Kind::LEAF:
		return op.name + ":" + (op.replicated ? " read by every task" : op.details.empty() ? "" : " " + op.details);
	default:
		return op.details.empty() ? op.name : op.name + ": " + op.details;
	}
}

//! What follows behind the line of an operator of a stage with `tasks` tasks.
string Numbers(const PlannedOperator &op, uint32_t tasks) {
	if (op.measured.empty()) {
		return "";
	}
	auto total = op.Total();
	auto result = DASHES + Rows(total) + ", " + Milliseconds(total.micros);
	if (total.blocked_micros) {
		result += ", blocked " + Milliseconds(*total.blocked_micros);
	}
	if (op.measured.size() < tasks) {
		result += StringUtil::Format(", in %llu of %u tasks", op.measured.size(), tasks);
	}
	// Leaves and boundaries say so themselves.
	if (op.replicated && op.measured.size() > 1 && op.kind == PlannedOperator::Kind::OPERATOR) {
		result += StringUtil::Format(", the same in each of %llu tasks", op.measured.size());
	}
	if (op.measured.size() > 1) {
		auto slowest = std::max_element(op.measured.begin(), op.measured.end(), [](auto &left, auto &right) {
			return left.second.micros < right.second.micros;
		});
		result += StringUtil::Format(", slowest t%u %s", slowest->first, Milliseconds(slowest->second.micros));
	}
	return result;
}

class Printer {
public:
	explicit Printer(const PlanOutline &outline) : outline_(outline) {
	}
	explicit Printer(const PlanReport &report)
		: outline_(report.outline), reports_(&report.stages), retries_(report.retries) {
	}

	string Print() {
		auto title = StringUtil::Format("Distributed ── workers=%llu", outline_.workers);
		if (retries_ > 0) {
			title += StringUtil::Format("%sretries=%u", DASHES, retries_);
		}
		Box(title, outline_.head, nullptr, 0);
		return std::move(out_);
	}

private:
	//! `stage`: nullptr for the head.
	void Box(const string &title, const PlannedOperator &root, const PlannedStage *stage, size_t depth) {
		auto indent = string(depth * 2, ' ');
		out_ += indent + "┌───── " + title + "\n";
		prefix_ = indent + "│ ";
		tasks_ = stage ? stage->tasks : 1;
		vector<uint32_t> below;
		Tree(root, 0, below);
		if (stage && reports_) {
			Tasks((*reports_)[stage->id - 1]);
		}
		if (!stage) {
			for (auto &reason : outline_.reasons) {
				Print(0, "partly in one task: " + reason);
			}
		}
		out_ += indent + "└──────────────────────────────────────────────────\n";
		for (auto id : below) {
			if (std::find(printed_.begin(), printed_.end(), id) != printed_.end()) {
				continue;
			}
			printed_.push_back(id);
			auto &next = outline_.stages[id - 1];
			Box(Title(next) + Summary(next), next.root, &next, depth + 1);
		}
	}

	void Print(size_t level, const string &text) {
		out_ += prefix_ + string(level * 2, ' ') + VisibleText(text) + "\n";
	}

	void Tree(const PlannedOperator &op, size_t level, vector<uint32_t> &below) {
		Print(level, Line(op) + Boundary(op) + Numbers(op, tasks_));
		switch (op.kind) {
		case PlannedOperator::Kind::INPUT:
			below.push_back(op.stage);
			return;
		case PlannedOperator::Kind::RUNTIME_FILTER:
			Tree(op.children[0], level + 1, below);
			return;
		case PlannedOperator::Kind::LEAF:
			for (size_t piece = 0; piece < (op.replicated ? 1 : op.variants.size()); piece++) {
				Variant(op, piece, level + 1);
			}
			return;
		default:
			for (auto &child : op.children) {
				Tree(child, level + 1, below);
			}
		}
	}

	void Variant(const PlannedOperator &leaf, size_t piece, size_t level) {
		auto &variant = leaf.variants[piece];
		auto name = leaf.replicated ? string() : StringUtil::Format("t%llu: ", piece);
		string numbers;
		for (auto &[task, read] : leaf.pieces) {
			if (read == piece && !leaf.replicated) {
				auto &metrics = leaf.measured.at(task);
				numbers = DASHES + Rows(metrics) + ", " + Milliseconds(metrics.micros);
				if (metrics.units) {
					numbers += StringUtil::Format(", %llu units of %llu planned", *metrics.units, variant.units);
				}
			}
		}
		auto rows = variant.rows ? StringUtil::Format(" rows=%llu", *variant.rows) : string();
		Print(level, StringUtil::Format("%s%s%s bytes=%llu", name, variant.text, rows, variant.bytes) + numbers);
	}

	//! What went over a boundary.
	string Boundary(const PlannedOperator &op) const {
		if (op.kind != PlannedOperator::Kind::INPUT || !reports_) {
			return "";
		}
		auto &outputs = (*reports_)[op.stage - 1].outputs;
		if (op.output >= outputs.size()) {
			return "";
		}
		auto &sent = outputs[op.output];
		return StringUtil::Format("%ssent %llu rows, %s in %llu pages, %s over links", DASHES, sent.rows,
								  Bytes(sent.bytes), sent.pages, Bytes(sent.link_bytes));
	}

	string Summary(const PlannedStage &stage) const {
		if (!reports_) {
			return "";
		}
		auto &report = (*reports_)[stage.id - 1];
		auto sent = report.Sent();
		auto result = StringUtil::Format("%ssent %llu rows, %s", DASHES, sent.rows, Bytes(sent.bytes));
		OperatorMetrics sink;
		for (auto &entry : report.sink) {
			sink.Add(entry.second);
		}
		if (!report.sink.empty()) {
			result += " in " + Milliseconds(sink.micros);
		}
		if (sink.blocked_micros) {
			result += ", blocked " + Milliseconds(*sink.blocked_micros);
		}
		auto slowest = report.Slowest();
		if (slowest && !stage.in_session) {
			result += StringUtil::Format("; slowest task t%u %s, median %s", slowest->task,
										 Milliseconds(slowest->wall_micros), Milliseconds(report.MedianMicros()));
		}
		return result;
	}

	void Tasks(const StageReport &report) {
		for (auto &task : report.tasks) {
			if (task.worker.empty()) {
				continue;
			}
			auto sent = task.Sent();
			auto line = StringUtil::Format("t%u on %s: sent %llu rows, %s; %s", task.task, task.worker, sent.rows,
										   Bytes(sent.bytes), Milliseconds(task.wall_micros));
			line += ", of which " + Milliseconds(task.queue_micros) + " waiting";
			if (!task.operators.empty()) {
				line += ", " + Milliseconds(task.cpu_micros) + " of processors";
			}
			if (task.bytes_read > 0) {
				line += "; read " + Bytes(task.bytes_read) + " of files";
			}
			if (task.peak_temp_bytes > 0) {
				line += "; up to " + Bytes(task.peak_temp_bytes) + " in its worker's temporary files";
			}
			if (task.state != TaskState::FINISHED) {
				line += task.state == TaskState::CANCELLED ? "; cancelled" : "; failed";
			}
			Print(0, line);
		}
	}

	const PlanOutline &outline_;
	//! By stage; nullptr if nothing has run.
	const std::vector<StageReport> *reports_ = nullptr;
	const uint32_t retries_ = 0;
	vector<uint32_t> printed_;
	uint32_t tasks_ = 1;
	string prefix_;
	string out_;
};

} // namespace

string PlanText(const PlanOutline &outline) {
	return Printer(outline).Print();
}

string PlanText(const PlanReport &report) {
	return Printer(report).Print();
}

} // namespace skein
