#pragma once

#include "skein/task_estimator.hpp"

#include <map>

namespace skein {

//! Values of some columns as a text: the same for equal values of the same types, another one for others. NULL is a
//! value.
using PartitionValue = std::string;

//! A leaf that can be dealt by value: each of its units has one value of some columns, so that all rows with a value
//! can be read by one task.
class PartitionedEstimate {
public:
	virtual ~PartitionedEstimate() = default;

	struct Column {
		duckdb::ColumnBinding binding;
		std::string name;
	};
	//! Those of the leaf; none if it cannot be dealt by value.
	virtual duckdb::vector<Column> PartitionColumns() const = 0;
	//! The bytes of the units with each value of these columns, which are positions among PartitionColumns(); their
	//! rows if no bytes are read.
	virtual std::map<PartitionValue, duckdb::idx_t> Weigh(const duckdb::vector<size_t> &columns) const = 0;
	//! Exactly `tasks` variants: each reads the rows of the values that `task_of` gives to it, in the order of the
	//! source.
	virtual std::vector<LeafVariant> MakeVariants(const duckdb::vector<size_t> &columns,
												  const std::map<PartitionValue, size_t> &task_of,
												  size_t tasks) const = 0;
};

} // namespace skein
