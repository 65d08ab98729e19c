#pragma once

#include "duckdb/common/enums/join_type.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "planner/distribution.hpp"

namespace skein {

//! Whether a join of this type may see all rows of its right (left) side in every task: it does not return rows for the
//! lack of a match there.
bool MayBroadcastRight(duckdb::JoinType type);
bool MayBroadcastLeft(duckdb::JoinType type);
//! Whether a join of this type returns nothing for a row of its left side that has no match, so that such rows may be
//! left out before.
bool MayFilterLeft(duckdb::JoinType type);
//! ... of its right side.
bool MayFilterRight(duckdb::JoinType type);
//! Whether a join of this type may look at one hash partition of each side alone. A MARK join may not: its result
//! depends on whether the whole right side is empty or holds a NULL.
bool MayPartition(duckdb::JoinType type);

//! The conditions of a join by which equal rows can be brought together: both sides have the same type, so the same
//! hash.
struct EquiKeys {
	duckdb::vector<duckdb::reference<const duckdb::Expression>> left;
	duckdb::vector<duckdb::reference<const duckdb::Expression>> right;

	bool Empty() const {
		return left.empty();
	}
	//! For each key of `distribution`, the number of the condition whose left (right) side it is; nothing if one key is
	//! none, or if it is not HASH.
	duckdb::optional_idx Find(const EquivalentColumns &key, bool on_left) const;
	bool Match(const Distribution &distribution, bool on_left, duckdb::vector<duckdb::idx_t> &conditions) const;
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> CopyRight(const duckdb::vector<duckdb::idx_t> &which) const;
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> CopyLeft(const duckdb::vector<duckdb::idx_t> &which) const;
	duckdb::vector<duckdb::idx_t> All() const;
};

EquiKeys EquiKeysOf(duckdb::LogicalOperator &join);
duckdb::JoinType JoinTypeOf(const duckdb::LogicalOperator &join);

} // namespace skein
