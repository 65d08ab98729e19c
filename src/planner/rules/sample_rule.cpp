#include "duckdb/planner/operator/logical_sample.hpp"
#include "planner/rules/rules.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! A sample that decides for each row alone runs where the rows are. One of a fixed number of rows needs to see all, in
//! one task.
//!
//!     Sample[10 rows]          Sample[10 rows]
//!       ...              =>      NetworkCoalesce
//!                                  ...
//!
//! With a seed it takes the same rows each time: those that DuckDB takes of the same rows in the same order, and,
//! unless it looks at each row alone, in the same chunks, so that nothing below it is distributed.
class SampleRule final : public PlacementRule {
public:
	bool Matches(const LogicalOperator &op) const override {
		return op.type == LogicalOperatorType::LOGICAL_SAMPLE;
	}

	Distribution Place(Placement &placement, unique_ptr<LogicalOperator> &op, bool keep_order) const override {
		auto &sample = *op->Cast<LogicalSample>().sample_options;
		auto has_seed = sample.repeatable || sample.seed.IsValid();
		auto by_row = sample.is_percentage && sample.method == SampleMethod::BERNOULLI_SAMPLE;
		if (has_seed && !by_row) {
			placement.AddReason("a sample with a seed depends on how its rows are read");
			auto result = Distribution::Single();
			result.session = true;
			result.in_order = true;
			return result;
		}
		if (sample.is_percentage && sample.method != SampleMethod::RESERVOIR_SAMPLE && !has_seed) {
			return placement.Place(op->children[0], keep_order);
		}
		return placement.PlaceInOneTask(op, keep_order || has_seed,
										has_seed ? "a sample with a seed reads its rows in their order"
												 : "a sample of so many rows is taken in one task");
	}
};

} // namespace

unique_ptr<PlacementRule> MakeSampleRule() {
	return make_uniq<SampleRule>();
}

} // namespace skein
