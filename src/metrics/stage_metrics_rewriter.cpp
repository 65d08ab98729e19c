#include "metrics/stage_metrics_rewriter.hpp"

#include "duckdb/common/exception.hpp"

namespace skein {

namespace {

//! One task's way through the stage.
class TaskWalk {
public:
	TaskWalk(uint32_t task, const std::vector<OperatorMetrics> &operators) : task_(task), operators_(operators) {
	}

	//! `piece`: what the task reads of the leaves under `op`.
	void Visit(PlannedOperator &op, size_t piece) {
		switch (op.kind) {
		case PlannedOperator::Kind::LEAF:
			VisitLeaf(op, piece);
			return;
		case PlannedOperator::Kind::UNION:
			op.measured[task_] = Next();
			if (piece >= op.parts.size()) {
				ThrowMismatch();
			}
			for (auto &part : op.parts[piece]) {
				Visit(op.children[part.child], part.piece);
			}
			return;
		default:
			op.measured[task_] = Next();
			for (auto &child : op.children) {
				Visit(child, piece);
			}
		}
	}

	void End() const {
		if (next_ != operators_.size()) {
			ThrowMismatch();
		}
	}

private:
	void VisitLeaf(PlannedOperator &op, size_t piece) {
		if (piece >= op.variants.size()) {
			ThrowMismatch();
		}
		// Rows are those of the variant's root, time is that of all of it.
		OperatorMetrics metrics;
		for (size_t i = 0; i < op.variants[piece].operators; i++) {
			auto &part = Next();
			auto rows = i == 0 ? part.rows : metrics.rows;
			metrics.Add(part);
			metrics.rows = rows;
		}
		op.measured[task_] = metrics;
		op.pieces[task_] = piece;
	}

	const OperatorMetrics &Next() {
		if (next_ == operators_.size()) {
			ThrowMismatch();
		}
		return operators_[next_++];
	}

	[[noreturn]] void ThrowMismatch() const {
		throw duckdb::SerializationException("task %d reported %d operators, which are not those of its stage", task_,
											 operators_.size());
	}

	const uint32_t task_;
	const std::vector<OperatorMetrics> &operators_;
	size_t next_ = 0;
};

} // namespace

void StageMetricsRewriter::AddTask(uint32_t task, const std::vector<OperatorMetrics> &operators) {
	if (operators.empty()) {
		return;
	}
	TaskWalk walk(task, operators);
	walk.Visit(root_, task);
	walk.End();
}

} // namespace skein
