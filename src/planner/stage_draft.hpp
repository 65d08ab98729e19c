#pragma once

#include "duckdb/planner/logical_operator.hpp"
#include "exchange/logical_exchange.hpp"
#include "plan/distributed_plan.hpp"

#include <memory>
#include <optional>

namespace skein {

//! An output of a stage that is being cut: its expressions are over the columns of the stage's root.
struct DraftOutput {
	SinkOutput sink;
	//! The consumer needs every task's rows in the order in which the stage's root returns them.
	bool in_order = false;
	//! The consumer; nullptr for the head.
	struct StageDraft *consumer = nullptr;
	//! Of a shared subplan: what the reader calls its columns, and how they come from those of the stage's root.
	duckdb::vector<duckdb::ColumnBinding> names;
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> columns;
};

//! What a stage that is being cut reads of another.
struct DraftInput {
	struct StageDraft *producer = nullptr;
	uint32_t output = 0;
	//! As EXPLAIN shows it, without the number of tasks.
	std::string name;
	std::string details;
	std::optional<uint64_t> estimated_bytes;
};

//! A stage between cutting and being sent: still a tree of operators.
struct StageDraft {
	uint32_t id = 0;
	uint32_t tasks = 1;
	bool in_session = false;
	duckdb::unique_ptr<duckdb::LogicalOperator> root;
	std::vector<DraftInput> inputs;
	std::vector<DraftOutput> outputs;
};

//! All stages of a query that is being cut, and the inputs of its head.
struct QueryDraft {
	//! Producers before their consumers.
	std::vector<std::unique_ptr<StageDraft>> stages;
	std::vector<DraftInput> head_inputs;
	//! Why parts of it run in one task.
	std::vector<std::string> reasons;
};

} // namespace skein
