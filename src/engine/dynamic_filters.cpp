#include "engine/dynamic_filters.hpp"

#include "duckdb/execution/operator/join/join_filter_pushdown.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/dynamic_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/table_filter.hpp"

#include <functional>

namespace skein {

using namespace duckdb;

namespace {

using FilterTest = std::function<bool(const TableFilter &)>;

//! Whether `filter` or a part of it is a dynamic filter of which `test` is true.
bool HoldsDynamicFilter(const TableFilter &filter, const FilterTest &test) {
	switch (filter.filter_type) {
	case TableFilterType::DYNAMIC_FILTER:
	case TableFilterType::BLOOM_FILTER:
		return test(filter);
	case TableFilterType::OPTIONAL_FILTER: {
		auto &child = filter.Cast<OptionalFilter>().child_filter;
		return child && HoldsDynamicFilter(*child, test);
	}
	case TableFilterType::CONJUNCTION_AND:
		for (auto &child : filter.Cast<ConjunctionAndFilter>().child_filters) {
			if (HoldsDynamicFilter(*child, test)) {
				return true;
			}
		}
		return false;
	case TableFilterType::CONJUNCTION_OR:
		for (auto &child : filter.Cast<ConjunctionOrFilter>().child_filters) {
			if (HoldsDynamicFilter(*child, test)) {
				return true;
			}
		}
		return false;
	default:
		return false;
	}
}

//! `filter` without its optional parts that hold such a dynamic filter; null if nothing is left.
unique_ptr<TableFilter> WithoutDynamic(unique_ptr<TableFilter> filter, const FilterTest &test) {
	if (filter->filter_type == TableFilterType::OPTIONAL_FILTER && HoldsDynamicFilter(*filter, test)) {
		return nullptr;
	}
	if (filter->filter_type != TableFilterType::CONJUNCTION_AND) {
		return filter;
	}
	vector<unique_ptr<TableFilter>> kept;
	auto &children = filter->Cast<ConjunctionAndFilter>().child_filters;
	for (auto &child : children) {
		if (auto remaining = WithoutDynamic(std::move(child), test)) {
			kept.push_back(std::move(remaining));
		}
	}
	if (kept.empty()) {
		return nullptr;
	}
	if (kept.size() == 1) {
		return std::move(kept[0]);
	}
	children = std::move(kept);
	return filter;
}

bool Always(const TableFilter &) {
	return true;
}

const LogicalType &TypeOfScanned(const LogicalGet &get, column_t column) {
	for (auto &index : get.GetColumnIds()) {
		if (index.GetPrimaryIndex() == column) {
			return get.GetColumnType(index);
		}
	}
	return get.GetColumnType(ColumnIndex(column));
}

void DropMistypedDynamicFilters(LogicalGet &get) {
	auto &filters = get.table_filters.filters;
	for (auto entry = filters.begin(); entry != filters.end();) {
		auto &type = TypeOfScanned(get, entry->first);
		auto is_mistyped = [&](const TableFilter &filter) {
			if (filter.filter_type != TableFilterType::DYNAMIC_FILTER) {
				return false;
			}
			auto &data = filter.Cast<DynamicFilter>().filter_data;
			return data && data->filter && data->filter->constant.type() != type;
		};
		entry->second = WithoutDynamic(std::move(entry->second), is_mistyped);
		entry = entry->second ? std::next(entry) : filters.erase(entry);
	}
}

//! Whether a filter for one value of this type may skip row groups that have it. DuckDB looks for the text of a BLOB in
//! a Bloom filter that was made of its bytes, and for one of the zeros, or one of the NaNs, where the others are equal.
bool MayMissRows(const LogicalType &type) {
	return type.id() == LogicalTypeId::BLOB || type.id() == LogicalTypeId::FLOAT || type.id() == LogicalTypeId::DOUBLE;
}

} // namespace

void DropDynamicFilters(TableFilterSet &filters) {
	for (auto entry = filters.filters.begin(); entry != filters.filters.end();) {
		entry->second = WithoutDynamic(std::move(entry->second), Always);
		entry = entry->second ? std::next(entry) : filters.filters.erase(entry);
	}
}

void DropDynamicFilters(LogicalOperator &plan) {
	if (plan.type == LogicalOperatorType::LOGICAL_GET) {
		DropDynamicFilters(plan.Cast<LogicalGet>().table_filters);
	}
	for (auto &child : plan.children) {
		DropDynamicFilters(*child);
	}
}

void DropJoinFiltersThatMissRows(LogicalOperator &plan) {
	for (auto &child : plan.children) {
		DropJoinFiltersThatMissRows(*child);
	}
	if (plan.type != LogicalOperatorType::LOGICAL_COMPARISON_JOIN) {
		return;
	}
	auto &join = plan.Cast<LogicalComparisonJoin>();
	auto &filters = join.filter_pushdown;
	for (auto i = filters ? filters->join_condition.size() : 0; i > 0; i--) {
		auto position = static_cast<std::ptrdiff_t>(i - 1);
		auto &probes = filters->probe_info;
		auto misses = MayMissRows(join.conditions[filters->join_condition[i - 1]].left->return_type) ||
					  std::any_of(probes.begin(), probes.end(),
								  [&](auto &probe) { return MayMissRows(probe.columns[i - 1].storage_type); });
		if (!misses) {
			continue;
		}
		filters->join_condition.erase(filters->join_condition.begin() + position);
		// The minimum and the maximum of each.
		auto aggregate = filters->min_max_aggregates.begin() + 2 * position;
		filters->min_max_aggregates.erase(aggregate, aggregate + 2);
		for (auto &probe : probes) {
			probe.columns.erase(probe.columns.begin() + position);
		}
	}
	if (filters && filters->join_condition.empty()) {
		filters.reset();
	}
}

void DropMistypedDynamicFilters(LogicalOperator &plan) {
	if (plan.type == LogicalOperatorType::LOGICAL_GET) {
		DropMistypedDynamicFilters(plan.Cast<LogicalGet>());
	}
	for (auto &child : plan.children) {
		DropMistypedDynamicFilters(*child);
	}
}

} // namespace skein
