#include "planner/variant_checker.hpp"

#include "engine/plan_serializer.hpp"
#include "engine/scan_units.hpp"

#include <map>

namespace skein {

using namespace duckdb;

namespace {

bool ReadsNothing(const LeafVariant &variant) {
	return variant.plan->type == LogicalOperatorType::LOGICAL_EMPTY_RESULT || (variant.rows && *variant.rows == 0);
}

} // namespace

void VariantChecker::Refuse(const string &what) const {
	throw InvalidInputException("the task estimator \"%s\" cannot be followed for %s: %s", estimator_, leaf_.GetName(),
								what);
}

void VariantChecker::CheckVariants(const std::vector<LeafVariant> &variants, size_t wanted) const {
	if (variants.size() != wanted) {
		Refuse(StringUtil::Format("it made %llu variants for %llu tasks", variants.size(), wanted));
	}
	for (size_t i = 0; i < variants.size(); i++) {
		CheckPlan(variants[i], i);
	}
	CheckOverlap(variants);
}

void VariantChecker::CheckPlan(const LeafVariant &variant, size_t number) const {
	if (!variant.plan) {
		Refuse(StringUtil::Format("variant %llu has no plan", number));
	}
	if (variant.plan->GetColumnBindings() != leaf_.GetColumnBindings()) {
		Refuse(StringUtil::Format("variant %llu has other column bindings than the leaf", number));
	}
	variant.plan->ResolveOperatorTypes();
	leaf_.ResolveOperatorTypes();
	if (variant.plan->types != leaf_.types) {
		Refuse(StringUtil::Format("variant %llu has columns of other types than the leaf", number));
	}
}

void VariantChecker::CheckOverlap(const std::vector<LeafVariant> &variants) const {
	std::map<string, size_t> units;
	std::map<string, size_t> plans;
	for (size_t i = 0; i < variants.size(); i++) {
		auto names = UnitsOfScans(*variants[i].plan);
		names.insert(names.end(), variants[i].units.begin(), variants[i].units.end());
		for (auto &name : names) {
			auto [entry, is_new] = units.emplace(name, i);
			if (!is_new && entry->second != i) {
				Refuse(StringUtil::Format("variants %llu and %llu both read %s", entry->second, i, name));
			}
		}
		if (ReadsNothing(variants[i])) {
			continue;
		}
		string plan;
		try {
			plan = SerializePlan(context_, *variants[i].plan);
		} catch (std::exception &ex) {
			Refuse(StringUtil::Format("variant %llu cannot be sent to a worker: %s", i, ErrorData(ex).RawMessage()));
		}
		auto [entry, is_new] = plans.emplace(std::move(plan), i);
		if (!is_new) {
			Refuse(StringUtil::Format("variants %llu and %llu are the same plan, so they read the same", entry->second,
									  i));
		}
	}
}

void VariantChecker::CheckWorkers(const std::vector<string> &chosen, size_t variants,
								  const std::vector<WorkerInfo> &workers) const {
	if (chosen.empty()) {
		return;
	}
	if (chosen.size() != variants) {
		Refuse(StringUtil::Format("it chose %llu workers for %llu variants", chosen.size(), variants));
	}
	for (auto &address : chosen) {
		auto known = std::any_of(workers.begin(), workers.end(), [&](auto &it) { return it.address == address; });
		if (!address.empty() && !known) {
			string list;
			for (auto &worker : workers) {
				list += (list.empty() ? "" : ", ") + worker.address;
			}
			Refuse("it chose the worker '" + address + "'; the workers are " + list);
		}
	}
}

} // namespace skein
