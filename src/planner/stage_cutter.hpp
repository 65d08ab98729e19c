#pragma once

#include "planner/placement.hpp"
#include "planner/stage_draft.hpp"

namespace skein {

//! Cuts a placed plan at its boundaries: every producer becomes a stage, every boundary in a stage a
//! LogicalExchangeSource.
//!
//! What is left of `plan` is the head. Its boundaries become operators made by `make_head_source`.
class StageCutter {
public:
	//! Makes the operator by which the head reads its input number `input`.
	using MakeHeadSource = std::function<duckdb::unique_ptr<duckdb::LogicalOperator>(
		duckdb::idx_t input, ReadOrder order, duckdb::vector<duckdb::ColumnBinding> bindings,
		duckdb::vector<duckdb::LogicalType> types, duckdb::vector<SortColumn> sort_columns)>;

	StageCutter(Placement &placement, MakeHeadSource make_head_source);

	QueryDraft Cut(duckdb::unique_ptr<duckdb::LogicalOperator> &plan);

private:
	//! Replaces the boundaries in `op`, which runs in `consumer` (nullptr: the head, or a stage in the session).
	void CutBelow(duckdb::unique_ptr<duckdb::LogicalOperator> &op, StageDraft *consumer);
	void CutExchange(duckdb::unique_ptr<duckdb::LogicalOperator> &op, StageDraft *consumer);
	//! Cuts a boundary of the same stage, if that has not been done yet.
	void CutFirst(LogicalExchange &exchange, StageDraft *consumer);
	StageDraft &ProducerOf(LogicalExchange &exchange);
	//! Lets `producer` leave out the rows that the filter of `exchange` does not want.
	void AddRuntimeFilter(LogicalExchange &exchange, StageDraft &producer);
	StageDraft &MakeStage(duckdb::unique_ptr<duckdb::LogicalOperator> root);

	Placement &placement_;
	const MakeHeadSource make_head_source_;
	//! The root of the head.
	duckdb::optional_ptr<duckdb::unique_ptr<duckdb::LogicalOperator>> head_;
	QueryDraft draft_;
	std::map<duckdb::idx_t, StageDraft *> shared_stages_;
	//! A boundary that is cut already: who produces its rows, and which output it is.
	struct CutBoundary {
		StageDraft *producer;
		uint32_t output;
	};
	std::map<const LogicalExchange *, CutBoundary> cut_;
};

//! Decides how many tasks each stage has: as many as its leaves want and the cluster allows, one where rows are brought
//! together.
void CountTasks(QueryDraft &draft, const PlannerOptions &options);

} // namespace skein
