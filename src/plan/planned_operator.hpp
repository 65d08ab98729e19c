#pragma once

#include "engine/operator_metrics.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skein {

//! What one task reads of a DistributedLeaf, as EXPLAIN shows it.
struct PlannedVariant {
	//! As in `READ_PARQUET files=[a.parquet row_groups=0..3]`.
	std::string text;
	//! Not set if they are not known before they are read.
	std::optional<uint64_t> rows;
	uint64_t bytes = 0;
	//! How many operators stand for the leaf in the task's plan.
	size_t operators = 1;
	uint64_t units = 0;
};

//! A child of a union that a task runs, and which piece of the child's leaves it reads.
struct PlannedPart {
	size_t child = 0;
	size_t piece = 0;

	bool operator==(const PlannedPart &) const = default;
};

//! An operator of a stage, or of the head, as the planner has left it: what reports show, and where the numbers of the
//! tasks are added up. A value, shared by all tasks of the stage; which of it a task runs depends on its kind.
struct PlannedOperator {
	enum class Kind {
		//! Every task runs it and its children.
		OPERATOR,
		//! A DistributedLeaf: a task runs the variant of its piece.
		LEAF,
		//! A ChildrenIsolatorUnion: a task runs its own parts.
		UNION,
		//! A boundary: what another stage sends.
		INPUT,
		//! Above `children[0]`; `children[1]` is the INPUT of the key hashes.
		RUNTIME_FILTER
	};

	Kind kind = Kind::OPERATOR;
	//! `AGGREGATE`, and what follows after a colon.
	std::string name;
	std::string details;
	std::vector<PlannedOperator> children;
	//! Every task that runs it has the same rows there: a LEAF that each reads whole, a broadcast, and what only reads
	//! such. The rows of all its tasks are that many times those of the query.
	bool replicated = false;
	//! LEAF: by piece. Of one that is replicated all are alike.
	std::vector<PlannedVariant> variants;
	//! UNION: by task.
	std::vector<std::vector<PlannedPart>> parts;
	//! INPUT: which output of which stage, and how many tasks that has.
	uint32_t stage = 0;
	uint32_t output = 0;
	uint32_t input_tasks = 0;
	//! INPUT: of a join's side, what was expected to cross it when it was decided how it does.
	std::optional<uint64_t> estimated_bytes;

	//! By task, what it did there; only of those that ran it.
	std::map<uint32_t, OperatorMetrics> measured;
	//! LEAF: by task, the piece that it read.
	std::map<uint32_t, size_t> pieces;

	OperatorMetrics Total() const {
		OperatorMetrics total;
		for (auto &entry : measured) {
			total.Add(entry.second);
		}
		return total;
	}
};

//! A stage as the planner has left it.
struct PlannedStage {
	uint32_t id = 0;
	uint32_t tasks = 1;
	bool in_session = false;
	//! What its sink stands on.
	PlannedOperator root;
};

//! A distributed plan as EXPLAIN shows it.
struct PlanOutline {
	size_t workers = 0;
	PlannedOperator head;
	//! By id, from 1.
	std::vector<PlannedStage> stages;
	//! Why parts of the plan run in one task.
	std::vector<std::string> reasons;
};

} // namespace skein
