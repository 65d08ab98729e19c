#pragma once

#include "duckdb/planner/bound_result_modifier.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "plan/exchange_kind.hpp"

#include <optional>

namespace skein {

//! A boundary between two stages while a plan is being made: its child belongs to the producers, it itself to the
//! consumer. Never executed or shipped; cutting replaces it by a sink and a source.
//!
//! Passes its child's columns on under the same bindings. `expressions` are the keys of a SHUFFLE (none: rows are dealt
//! in turn).
class LogicalExchange final : public duckdb::LogicalExtensionOperator {
public:
	LogicalExchange(ExchangeKind kind, duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys,
					duckdb::unique_ptr<duckdb::LogicalOperator> child);

	ExchangeKind kind;
	ReadOrder read_order = ReadOrder::ANY;
	//! For ReadOrder::MERGE: the order in which every producer task delivers its rows; columns of the child.
	duckdb::vector<duckdb::BoundOrderByNode> orders;
	//! Set when the producer is a shared subplan (a materialised CTE). The child is a CTE reference that names it, or
	//! filters and projections over one, which the producer computes for this reader.
	std::optional<duckdb::idx_t> shared_cte;
	//! Set when only rows are wanted whose `own_keys` occur among the `other_keys` of the rows of another boundary of
	//! the same stage, at the other side of a join. Keys are over the columns of each boundary's child.
	struct Filter {
		duckdb::reference<LogicalExchange> by;
		duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> own_keys;
		duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> other_keys;
	};
	std::optional<Filter> filter;
	//! Of a boundary below a join: the bytes that were expected to cross it when it was decided how they do.
	std::optional<uint64_t> estimated_bytes;

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override {
		return children[0]->GetColumnBindings();
	}
	duckdb::string GetName() const override;

	//! The exchange if `op` is one.
	static duckdb::optional_ptr<LogicalExchange> From(duckdb::LogicalOperator &op);

protected:
	void ResolveTypes() override {
		types = children[0]->types;
	}
};

} // namespace skein
