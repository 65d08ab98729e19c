#pragma once

#include "duckdb/planner/column_binding.hpp"
#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/logical_operator.hpp"

#include <string>

namespace duckdb {
class LogicalAggregate;
} // namespace duckdb

namespace skein {

//! Lets every reference to the column `from[i]` in an expression refer to `to[i]`.
void ReplaceColumns(duckdb::unique_ptr<duckdb::Expression> &expression,
					const duckdb::vector<duckdb::ColumnBinding> &from, const duckdb::vector<duckdb::ColumnBinding> &to);

//! The same in all expressions of one operator, not of those below it.
void ReplaceColumns(duckdb::LogicalOperator &op, const duckdb::vector<duckdb::ColumnBinding> &from,
					const duckdb::vector<duckdb::ColumnBinding> &to);

//! Puts a copy of `to[i]` in the place of every reference to the column `from[i]` in an expression.
void SubstituteColumns(duckdb::unique_ptr<duckdb::Expression> &expression,
					   const duckdb::vector<duckdb::ColumnBinding> &from,
					   const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> &to);

//! Copies of all of them, in their order.
duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>
CopyAll(const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> &expressions);

//! References to all columns of `op`, which have these types.
duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> AllColumns(duckdb::LogicalOperator &op,
																  const duckdb::vector<duckdb::LogicalType> &types);

//! The columns of those that are nothing else.
duckdb::vector<duckdb::ColumnBinding>
Columns(const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> &expressions);

//! Whether an aggregate has other grouping sets than the one of all its groups, or GROUPING().
bool HasGroupingSets(const duckdb::LogicalAggregate &aggregate);

//! Of a projection, or of the groups of an aggregate, the columns that are nothing but columns of its child: by their
//! own names and by the child's, appended to both. False if `op` is neither, or an aggregate with other grouping sets.
bool PassesColumns(const duckdb::LogicalOperator &op, duckdb::vector<duckdb::ColumnBinding> &own,
				   duckdb::vector<duckdb::ColumnBinding> &below);

//! Puts a projection above `op` that returns these expressions under `table_index`, with types resolved.
void AddProjection(duckdb::unique_ptr<duckdb::LogicalOperator> &op, duckdb::idx_t table_index,
				   duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> expressions);

//! Puts a DISTINCT of these targets, all columns of `op`, above it.
void AddDistinct(duckdb::unique_ptr<duckdb::LogicalOperator> &op,
				 duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> targets, duckdb::idx_t estimated_cardinality);

//! How EXPLAIN shows a column of `op`; empty if it is computed by an operator whose columns have no names.
std::string ColumnName(const duckdb::LogicalOperator &op, const duckdb::ColumnBinding &column);

} // namespace skein
