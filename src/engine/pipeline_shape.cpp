#include "engine/pipeline_shape.hpp"

#include "duckdb/execution/operator/helper/physical_result_collector.hpp"

namespace skein {

using namespace duckdb;

bool TakesAllRowsFirst(Pipeline &pipeline) {
	for (auto &op : pipeline.GetIntermediateOperators()) {
		if (op.get().type == PhysicalOperatorType::STREAMING_LIMIT) {
			return false;
		}
	}
	auto sink = pipeline.GetSink();
	if (!sink) {
		return false;
	}
	switch (sink->type) {
	case PhysicalOperatorType::UNGROUPED_AGGREGATE:
	case PhysicalOperatorType::HASH_GROUP_BY:
	case PhysicalOperatorType::PERFECT_HASH_GROUP_BY:
	case PhysicalOperatorType::PARTITIONED_AGGREGATE:
	case PhysicalOperatorType::ORDER_BY:
	case PhysicalOperatorType::TOP_N:
	case PhysicalOperatorType::WINDOW:
	case PhysicalOperatorType::INSERT:
	case PhysicalOperatorType::BATCH_INSERT:
	case PhysicalOperatorType::DELETE_OPERATOR:
	case PhysicalOperatorType::UPDATE:
	case PhysicalOperatorType::MERGE_INTO:
	case PhysicalOperatorType::CREATE_TABLE_AS:
	case PhysicalOperatorType::BATCH_CREATE_TABLE_AS:
	case PhysicalOperatorType::COPY_TO_FILE:
	case PhysicalOperatorType::BATCH_COPY_TO_FILE:
		return true;
	case PhysicalOperatorType::RESULT_COLLECTOR:
		return !sink->Cast<PhysicalResultCollector>().IsStreaming();
	default:
		return false;
	}
}

} // namespace skein
