#include "engine/slice_units.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

using namespace duckdb;

SliceUnits *SliceUnits::Of(optional_ptr<FunctionData> bind_data) {
	if (auto units = dynamic_cast<SliceUnits *>(bind_data.get())) {
		return units;
	}
	auto slice = dynamic_cast<MultiFileBindData *>(bind_data.get());
	return slice ? dynamic_cast<SliceUnits *>(slice->bind_data.get()) : nullptr;
}

SliceUnits *SliceUnits::OfScan(LogicalOperator &op) {
	return op.type == LogicalOperatorType::LOGICAL_GET ? Of(op.Cast<LogicalGet>().bind_data.get()) : nullptr;
}

} // namespace skein
