#include "engine/dynamic_filters.hpp"

#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/table_filter.hpp"

namespace skein {

using namespace duckdb;

namespace {

bool HoldsDynamicFilter(const TableFilter &filter) {
	switch (filter.filter_type) {
	case TableFilterType::DYNAMIC_FILTER:
	case TableFilterType::BLOOM_FILTER:
		return true;
	case TableFilterType::OPTIONAL_FILTER: {
		auto &child = filter.Cast<OptionalFilter>().child_filter;
		return child && HoldsDynamicFilter(*child);
	}
	case TableFilterType::CONJUNCTION_AND:
		for (auto &child : filter.Cast<ConjunctionAndFilter>().child_filters) {
			if (HoldsDynamicFilter(*child)) {
				return true;
			}
		}
		return false;
	case TableFilterType::CONJUNCTION_OR:
		for (auto &child : filter.Cast<ConjunctionOrFilter>().child_filters) {
			if (HoldsDynamicFilter(*child)) {
				return true;
			}
		}
		return false;
	default:
		return false;
	}
}

//! `filter` without its optional dynamic parts; null if nothing is left.
unique_ptr<TableFilter> WithoutDynamic(unique_ptr<TableFilter> filter) {
	if (filter->filter_type == TableFilterType::OPTIONAL_FILTER && HoldsDynamicFilter(*filter)) {
		return nullptr;
	}
	if (filter->filter_type != TableFilterType::CONJUNCTION_AND) {
		return filter;
	}
	vector<unique_ptr<TableFilter>> kept;
	auto &children = filter->Cast<ConjunctionAndFilter>().child_filters;
	for (auto &child : children) {
		if (auto remaining = WithoutDynamic(std::move(child))) {
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

} // namespace

void DropDynamicFilters(TableFilterSet &filters) {
	for (auto entry = filters.filters.begin(); entry != filters.filters.end();) {
		entry->second = WithoutDynamic(std::move(entry->second));
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

} // namespace skein
