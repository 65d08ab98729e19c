#include "engine/parquet_pruning.hpp"

#include "duckdb/common/hive_partitioning.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/constant_filter.hpp"
#include "duckdb/storage/statistics/string_stats.hpp"

namespace duckdb {
namespace skein_parquet {

namespace {

//! As `filter.CheckStatistics`, with all of the footer's minimum and maximum instead of their first eight bytes.
FilterPropagateResult CheckStrings(BaseStatistics &statistics, const ChunkDigest &footer, const TableFilter &filter) {
	switch (filter.filter_type) {
	case TableFilterType::CONJUNCTION_AND:
		for (auto &child : filter.Cast<ConjunctionAndFilter>().child_filters) {
			if (CheckStrings(statistics, footer, *child) == FilterPropagateResult::FILTER_ALWAYS_FALSE) {
				return FilterPropagateResult::FILTER_ALWAYS_FALSE;
			}
		}
		return FilterPropagateResult::NO_PRUNING_POSSIBLE;
	case TableFilterType::CONSTANT_COMPARISON: {
		auto &comparison = filter.Cast<ConstantFilter>();
		return StringStats::CheckZonemap(const_data_ptr_cast(footer.min->c_str()), footer.min->size(),
										 const_data_ptr_cast(footer.max->c_str()), footer.max->size(),
										 comparison.comparison_type, StringValue::Get(comparison.constant));
	}
	default:
		return filter.CheckStatistics(statistics);
	}
}

bool CanPruneBy(const ParquetOptions &options, const ParquetColumnSchema &schema) {
	auto is_float = schema.type.id() == LogicalTypeId::FLOAT || schema.type.id() == LogicalTypeId::DOUBLE;
	if (is_float && options.can_have_nan) {
		return false;
	}
	return !schema.type.IsNested() && (schema.schema_type == ParquetColumnSchemaType::COLUMN ||
									   schema.schema_type == ParquetColumnSchemaType::FILE_ROW_NUMBER);
}

} // namespace

ScanPruner::ScanPruner(ClientContext &context, const LogicalGet &get, const MultiFileBindData &bind_data,
					   const ParquetOptionsSerialization &options)
	: context_(context), bind_data_(bind_data), options_(options),
	  row_number_schema_(ParquetColumnSchema::FileRowNumber()) {
	for (auto &entry : get.table_filters.filters) {
		FilteredColumn filtered{entry.first, *entry.second};
		if (IsFileColumn(bind_data, entry.first) || entry.first == MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER) {
			row_filters_.push_back(filtered);
		} else {
			file_filters_.push_back(filtered);
		}
	}
}

bool ScanPruner::ExcludesFile(const string &path, idx_t file_index) const {
	if (file_filters_.empty()) {
		return false;
	}
	auto &bind = bind_data_.reader_bind;
	auto partitions = HivePartitioning::Parse(path);
	for (auto &filtered : file_filters_) {
		if (bind.filename_idx.IsValid() && bind.filename_idx.GetIndex() == filtered.column) {
			if (ExcludesConstant(filtered.filter, Value(path))) {
				return true;
			}
		} else if (filtered.column == MultiFileReader::COLUMN_IDENTIFIER_FILE_INDEX) {
			if (ExcludesConstant(filtered.filter, Value::UBIGINT(file_index))) {
				return true;
			}
		}
		for (auto &partition : bind.hive_partitioning_indexes) {
			auto text = partitions.find(partition.value);
			if (partition.index == filtered.column && text != partitions.end() &&
				ExcludesConstant(filtered.filter, options_.file_options.GetHivePartitionValue(
													  text->second, partition.value, context_))) {
				return true;
			}
		}
	}
	return false;
}

bool ScanPruner::ExcludesConstant(const TableFilter &filter, const Value &value) const {
	BoundConstantExpression constant(value);
	auto condition = filter.ToExpression(constant);
	Value result;
	return condition->IsFoldable() && ExpressionExecutor::TryEvaluateScalar(context_, *condition, result) &&
		   (result.IsNull() || !result.GetValue<bool>());
}

optional_ptr<const ParquetColumnSchema> ScanPruner::SchemaOf(const ParquetFileSchema &file, column_t column) const {
	if (IsVirtualColumn(column)) {
		return row_number_schema_;
	}
	auto &global = GlobalColumns(bind_data_)[column];
	auto index = FindColumn(file.columns, global, bind_data_.reader_bind.mapping);
	if (!index.IsValid()) {
		return nullptr;
	}
	// DuckDB would cast the filter; leave these files to it.
	auto &schema = file.root.children[index.GetIndex()];
	return schema.type == global.type && CanPruneBy(options_.parquet_options, schema) ? &schema : nullptr;
}

bool ScanPruner::ExcludesRowGroup(const ParquetDigest &file, idx_t row_group) const {
	for (auto &filtered : row_filters_) {
		auto schema = SchemaOf(*file.schema, filtered.column);
		if (!schema) {
			continue;
		}
		auto statistics = StatisticsOf(file, row_group, *schema, options_.parquet_options);
		if (!statistics) {
			continue;
		}
		auto result = FilterPropagateResult::NO_PRUNING_POSSIBLE;
		if (schema->type.id() == LogicalTypeId::VARCHAR) {
			auto &footer = file.Chunk(row_group, schema->column_index);
			if (footer.min && footer.max && !footer.old_names) {
				result = CheckStrings(*statistics, footer, filtered.filter);
			}
		} else {
			result = filtered.filter.CheckStatistics(*statistics);
		}
		if (result == FilterPropagateResult::FILTER_ALWAYS_FALSE) {
			return true;
		}
	}
	return false;
}

} // namespace skein_parquet
} // namespace duckdb
