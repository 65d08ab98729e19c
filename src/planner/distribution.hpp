#pragma once

#include "duckdb/planner/column_binding.hpp"
#include "duckdb/planner/logical_operator.hpp"

#include <memory>

namespace skein {

class LogicalExchange;
class PartitionDealing;
struct PartitionedLeaf;

enum class DistributionKind : uint8_t {
	//! All rows in one task.
	SINGLE,
	//! Every row in exactly one of the tasks, any one.
	ARBITRARY,
	//! Every row in the task that the hash of its keys chooses.
	HASH,
	//! All rows with the same keys in one task; which, the dealing of the leaves says.
	BY_VALUE,
	//! All rows in every task.
	REPLICATED
};

//! Columns that hold the same value in every row of an operator's output, by whichever a row was hashed.
using EquivalentColumns = duckdb::vector<duckdb::ColumnBinding>;

//! Columns by whose values a leaf can be dealt instead, as long as nobody has moved its rows.
struct PartitionOffer {
	struct Column {
		//! Among the leaf's partition columns.
		size_t number;
		//! None is empty.
		EquivalentColumns names;
	};
	//! nullptr: nothing is offered.
	std::shared_ptr<PartitionedLeaf> leaf;
	duckdb::vector<Column> columns;
};

//! Where the rows of an operator's output are.
struct Distribution {
	DistributionKind kind = DistributionKind::SINGLE;
	//! For HASH: the keys in the order in which they were hashed; none is empty. For BY_VALUE: those of the dealing.
	duckdb::vector<EquivalentColumns> keys;
	//! For HASH, if known: a boundary below that hashed the rows by these keys, so that no row has keys which none of
	//! the rows that crossed it has.
	duckdb::optional_ptr<LogicalExchange> boundary;
	//! For BY_VALUE: rows that two distributions with the same one have for equal keys are in the same task.
	std::shared_ptr<PartitionDealing> dealing;
	//! For ARBITRARY: what it could be instead.
	PartitionOffer offer;
	//! For SINGLE: only the session that asked can compute it (it reads the session's tables, or is volatile).
	bool session = false;
	//! For SINGLE: made of constants alone; every task may compute it for itself and gets the same.
	bool replicable = false;
	//! The rows are in the order in which DuckDB alone would return them: task by task, within a task as they come.
	bool in_order = false;
	//! Reads the duplicate-eliminated side of a delim join further up: no boundary may lie above it up to that join.
	bool pinned = false;

	static Distribution Single() {
		return {};
	}
	static Distribution Arbitrary() {
		Distribution result;
		result.kind = DistributionKind::ARBITRARY;
		return result;
	}
	static Distribution Hash(duckdb::vector<EquivalentColumns> keys) {
		Distribution result;
		result.kind = DistributionKind::HASH;
		result.keys = std::move(keys);
		return result;
	}
	static Distribution ByValue(duckdb::vector<EquivalentColumns> keys, std::shared_ptr<PartitionDealing> dealing) {
		auto result = Hash(std::move(keys));
		result.kind = DistributionKind::BY_VALUE;
		result.dealing = std::move(dealing);
		return result;
	}
	static Distribution Replicated() {
		Distribution result;
		result.kind = DistributionKind::REPLICATED;
		return result;
	}

	bool IsSingle() const {
		return kind == DistributionKind::SINGLE;
	}
	//! Neither in one task nor in all: every row is in exactly one of several tasks.
	bool IsSpread() const {
		return kind == DistributionKind::ARBITRARY || IsPartitioned();
	}
	//! All rows with the same keys are in one of several tasks.
	bool IsPartitioned() const {
		return kind == DistributionKind::HASH || kind == DistributionKind::BY_VALUE;
	}
	//! Rows are where they are, by no keys that anybody may rely on.
	void ForgetKeys();
};

//! The distribution after an operator that keeps rows where they are and has the output columns `bindings`: keys that
//! are no longer there are forgotten.
Distribution Restrict(Distribution distribution, const duckdb::vector<duckdb::ColumnBinding> &bindings);

//! The distribution under new names: `from[i]` is now called `to[i]`; other keys are forgotten.
Distribution Rename(Distribution distribution, const duckdb::vector<duckdb::ColumnBinding> &from,
					const duckdb::vector<duckdb::ColumnBinding> &to);

//! The columns under new names: `from[i]` is now called `to[i]`; others are left out, or kept.
duckdb::vector<duckdb::ColumnBinding> Renamed(const duckdb::vector<duckdb::ColumnBinding> &columns,
											  const duckdb::vector<duckdb::ColumnBinding> &from,
											  const duckdb::vector<duckdb::ColumnBinding> &to,
											  bool keep_others = false);

//! Those of `columns` that `preferred` names, in its order; all of them if it names none.
duckdb::vector<duckdb::ColumnBinding> Prefer(const duckdb::vector<duckdb::ColumnBinding> &columns,
											 const duckdb::vector<duckdb::ColumnBinding> &preferred);

} // namespace skein
