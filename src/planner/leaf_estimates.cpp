#include "planner/leaf_estimates.hpp"

#include "plan/nodes/distributed_leaf.hpp"
#include "planner/leaf/built_in_estimate.hpp"
#include "planner/variant_checker.hpp"

#include "duckdb/planner/operator/logical_empty_result.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Asks the estimators from number `first` on; sets the name or the reason of `answer`.
std::unique_ptr<LeafEstimate> AskFrom(size_t first, ClientContext &context, LogicalOperator &leaf,
									  const PlannerOptions &options, EstimatedLeaf &answer) {
	LeafQuestion question{context, leaf, options.max_tasks, options.bytes_per_task, nullptr};
	for (auto number = first; number < options.estimators.size(); number++) {
		auto &estimator = *options.estimators[number];
		question.next = [&context, &leaf, &options, number]() {
			EstimatedLeaf ignored;
			return AskFrom(number + 1, context, leaf, options, ignored);
		};
		if (auto estimate = estimator.Estimate(question)) {
			answer.estimator = estimator.Name();
			return estimate;
		}
	}
	question.next = nullptr;
	return EstimateBuiltIn(question, options.mode == Mode::FORCE, options.footers.get(), options.remote_files.get(),
						   answer.reason);
}

//! Variants for `tasks` tasks: those that the estimate makes, and nothing for tasks beyond what it can use.
std::vector<LeafVariant> MakeVariants(ClientContext &context, const EstimatedLeaf &estimated, LogicalOperator &leaf,
									  idx_t tasks) {
	auto wanted = std::min<size_t>(tasks, std::max<size_t>(1, estimated.estimate->Tasks().maximum));
	auto variants = estimated.estimate->MakeVariants(wanted);
	if (!estimated.estimator.empty()) {
		VariantChecker(context, estimated.estimator, leaf).CheckVariants(variants, wanted);
	}
	if (variants.size() != wanted) {
		throw InternalException("%llu variants were made for %llu tasks", variants.size(), wanted);
	}
	while (variants.size() < tasks) {
		LeafVariant nothing;
		nothing.plan = make_uniq<LogicalEmptyResult>(leaf.types, leaf.GetColumnBindings());
		nothing.rows = 0;
		variants.push_back(std::move(nothing));
	}
	return variants;
}

//! Of every variant the worker that the estimate chooses, or none.
std::vector<string> ChooseWorkers(ClientContext &context, const EstimatedLeaf &estimated, LogicalOperator &leaf,
								  const std::vector<LeafVariant> &variants, const PlannerOptions &options) {
	auto chosen = estimated.estimate->ChooseWorkers(variants, options.workers);
	VariantChecker(context, estimated.estimator, leaf).CheckWorkers(chosen, variants.size(), options.workers);
	chosen.resize(variants.size());
	return chosen;
}

void AddVariant(LogicalDistributedLeaf &node, LeafVariant variant, string worker) {
	LogicalDistributedLeaf::VariantSummary summary;
	summary.text = variant.text.empty() ? variant.plan->GetName() : std::move(variant.text);
	if (!worker.empty()) {
		summary.text += " on " + worker;
	}
	if (variant.rows) {
		summary.rows = *variant.rows;
	}
	summary.bytes = variant.bytes;
	summary.cache_key = std::move(variant.cache_key);
	summary.worker = std::move(worker);
	node.variants.push_back(std::move(variant.plan));
	node.summaries.push_back(std::move(summary));
}

void AddVariants(ClientContext &context, const EstimatedLeaf &estimated, const PlannerOptions &options,
				 const MakeLeafVariants &make, LogicalDistributedLeaf &node, idx_t tasks) {
	auto &leaf = *node.leaf;
	if (node.replicated) {
		for (idx_t task = 0; task < tasks; task++) {
			AddVariant(node, std::move(MakeVariants(context, estimated, leaf, 1)[0]), "");
		}
		return;
	}
	auto variants = make(tasks);
	auto workers = ChooseWorkers(context, estimated, leaf, variants, options);
	for (idx_t task = 0; task < tasks; task++) {
		AddVariant(node, std::move(variants[task]), std::move(workers[task]));
	}
}

} // namespace

EstimatedLeaf EstimateLeaf(ClientContext &context, LogicalOperator &leaf, const PlannerOptions &options) {
	EstimatedLeaf result;
	result.estimate = AskFrom(0, context, leaf, options, result);
	return result;
}

unique_ptr<LogicalOperator> DistributeLeaf(ClientContext &context, unique_ptr<LogicalOperator> leaf,
										   const EstimatedLeaf &estimated, const PlannerOptions &options) {
	auto &estimate = *estimated.estimate;
	auto tasks = estimate.Tasks();
	auto result = make_uniq<LogicalDistributedLeaf>(std::move(leaf));
	result->can_replicate = estimate.MayRepeat();
	result->desired_tasks = tasks.desired;
	result->max_tasks = std::max<idx_t>(1, tasks.maximum);
	result->total_bytes = estimate.Bytes();
	auto &source = *result->leaf;
	DealLeaf(context, options, *result, estimated,
			 [&context, &source, estimated](size_t count) { return MakeVariants(context, estimated, source, count); });
	return result;
}

void DealLeaf(ClientContext &context, const PlannerOptions &options, LogicalDistributedLeaf &node,
			  const EstimatedLeaf &estimated, MakeLeafVariants make) {
	node.make_variants = [&context, &options, estimated, make](LogicalDistributedLeaf &leaf, idx_t tasks) {
		AddVariants(context, estimated, options, make, leaf, tasks);
	};
}

} // namespace skein
