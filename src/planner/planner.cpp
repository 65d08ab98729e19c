#include "planner/planner.hpp"

#include "duckdb/planner/operator/logical_get.hpp"
#include "engine/plan_serializer.hpp"
#include "plan/nodes/children_isolator_union.hpp"
#include "plan/nodes/distributed_leaf.hpp"
#include "plan/plan_checker.hpp"
#include "planner/head_source.hpp"
#include "planner/shared_leaves.hpp"
#include "planner/stage_cutter.hpp"
#include "planner/task_wishes.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Hands out the binding of a query to operators that are made before it is known.
class LateBinding final : public QueryBinding {
public:
	void Set(std::shared_ptr<QueryBinding> binding) {
		binding_ = std::move(binding);
	}
	std::shared_ptr<ExchangeInput> HeadInput(ClientContext &context, idx_t input) override {
		return binding_->HeadInput(context, input);
	}
	duckdb::shared_ptr<TaskChannels> SessionChannels(ClientContext &context, uint32_t stage) override {
		return binding_->SessionChannels(context, stage);
	}
	optional_ptr<PlanMeter> SessionMeter(ClientContext &context, uint32_t stage) override {
		return binding_->SessionMeter(context, stage);
	}

private:
	std::shared_ptr<QueryBinding> binding_;
};

void CollectLeaves(LogicalOperator &op, vector<reference<LogicalOperator>> &leaves) {
	if (IsSourceLeaf(op)) {
		leaves.push_back(op);
	}
	for (auto &child : op.children) {
		CollectLeaves(*child, leaves);
	}
}

//! Whether it makes sense to look any further; if not, why.
bool WorthDistributing(Placement &placement, LogicalOperator &plan, string &reason) {
	vector<reference<LogicalOperator>> leaves;
	CollectLeaves(plan, leaves);
	if (leaves.empty()) {
		reason = "the query reads no table and no file";
		return false;
	}
	if (placement.Options().mode == Mode::FORCE) {
		return true;
	}
	idx_t bytes = 0;
	idx_t most_tasks = 0;
	for (auto &leaf : leaves) {
		auto &estimated = placement.Estimate(leaf);
		if (!estimated.estimate) {
			reason = reason.empty() ? estimated.reason : reason;
			continue;
		}
		auto tasks = estimated.estimate->Tasks();
		if (!estimated.estimator.empty() && std::min(tasks.desired, tasks.maximum) > 1) {
			reason.clear();
			return true;
		}
		most_tasks = std::max<idx_t>(most_tasks, std::max<idx_t>(tasks.maximum, 1));
		bytes += estimated.estimate->Bytes();
	}
	if (most_tasks == 0) {
		return false;
	}
	if (bytes < placement.Options().bytes_per_task) {
		reason = "it reads only " + StringUtil::BytesToHumanReadableString(bytes) + " (skein_bytes_per_task is " +
				 StringUtil::BytesToHumanReadableString(placement.Options().bytes_per_task) + ")";
		return false;
	}
	if (most_tasks == 1) {
		reason = "nothing that it reads can be divided";
		return false;
	}
	reason.clear();
	return true;
}

//! The task spawner: writes the plan of one task of a stage, with the task's own variant of each leaf and the task's
//! own parts of each union in their places. The tree is as before when it has been destroyed.
class TaskSpawner {
public:
	~TaskSpawner() {
		// In reverse: what was replaced last may hold what was replaced first.
		for (auto it = undo_.rbegin(); it != undo_.rend(); ++it) {
			(*it)();
		}
	}

	//! Puts piece `share` of everything under `op` in its place.
	void Specialise(unique_ptr<LogicalOperator> &op, idx_t share) {
		if (auto leaf = dynamic_cast<LogicalDistributedLeaf *>(op.get())) {
			auto &variant = leaf->variants[share];
			std::swap(op, variant);
			undo_.push_back([&op, &variant]() { std::swap(op, variant); });
			return;
		}
		if (auto node = dynamic_cast<LogicalChildrenIsolatorUnion *>(op.get())) {
			SpecialiseUnion(op, *node, share);
			return;
		}
		for (auto &child : op->children) {
			Specialise(child, share);
		}
	}

private:
	void SpecialiseUnion(unique_ptr<LogicalOperator> &op, LogicalChildrenIsolatorUnion &node, idx_t share) {
		vector<unique_ptr<LogicalOperator>> inputs;
		vector<idx_t> numbers;
		for (auto &part : node.PartsOf(share)) {
			auto isolated = std::find(node.isolated.begin(), node.isolated.end(), part.child) != node.isolated.end();
			Specialise(node.children[part.child], isolated ? part.share : share);
			numbers.push_back(part.child);
		}
		for (auto number : numbers) {
			inputs.push_back(std::move(node.children[number]));
		}
		auto plain = node.MakePlain(std::move(inputs));
		auto original = std::make_shared<unique_ptr<LogicalOperator>>(std::move(op));
		op = std::move(plain);
		undo_.push_back([&op, &node, original, numbers]() {
			for (idx_t i = 0; i < numbers.size(); i++) {
				node.children[numbers[i]] = std::move(op->children[i]);
			}
			op = std::move(*original);
		});
	}

	std::vector<std::function<void()>> undo_;
};

std::vector<string> SpawnTasks(ClientContext &context, StageDraft &stage, LogicalExchangeSink &root) {
	std::vector<string> result;
	for (idx_t task = 0; task < stage.tasks; task++) {
		if (context.IsInterrupted()) {
			throw InterruptException();
		}
		TaskSpawner spawner;
		spawner.Specialise(root.children[0], task);
		root.ResolveOperatorTypes();
		result.push_back(SerializePlan(context, root));
	}
	return result;
}

StagePlan FinishStage(ClientContext &context, StageDraft &stage, const PlannerOptions &options) {
	StagePlan result;
	result.shared_leaves = ShareLeaves(stage, options.work_stealing);
	result.id = stage.id;
	result.tasks = stage.tasks;
	result.in_session = stage.in_session;
	if (!stage.in_session) {
		for (auto &input : stage.inputs) {
			result.inputs.push_back({input.producer->id, input.output});
		}
	}
	vector<SinkOutput> sinks;
	auto in_order = false;
	for (auto &output : stage.outputs) {
		StageOutput plan;
		plan.kind = output.sink.kind;
		plan.partitions = output.consumer ? output.consumer->tasks : 1;
		plan.unbounded = stage.in_session || stage.outputs.size() > 1;
		result.outputs.push_back(plan);
		in_order = in_order || output.in_order;
		sinks.push_back(std::move(output.sink));
	}
	auto sink = make_uniq<LogicalExchangeSink>(std::move(sinks), in_order);
	sink->children.push_back(std::move(stage.root));
	sink->SetEstimatedCardinality(sink->children[0]->EstimateCardinality(context));
	sink->ResolveOperatorTypes();
	if (!stage.in_session) {
		result.wishes = WishesOf(*sink->children[0], stage.tasks);
		result.task_plans = SpawnTasks(context, stage, *sink);
	}
	stage.root = std::move(sink);
	return result;
}

} // namespace

PlanResult PlanQuery(OptimizerExtensionInput &input, unique_ptr<LogicalOperator> &statement,
					 unique_ptr<LogicalOperator> &plan, const PlannerOptions &options,
					 const PlannerCallbacks &callbacks) {
	PlanResult result;
	Placement placement(input, options, statement);
	if (!WorthDistributing(placement, *plan, result.reason)) {
		return result;
	}
	auto distribution = placement.Place(plan, options.preserve_order);
	placement.Coalesce(plan, distribution);
	result.reason = placement.Reasons().empty() ? "" : placement.Reasons().front();
	if (!placement.HasExchange()) {
		return result;
	}
	auto binding = std::make_shared<LateBinding>();
	vector<reference<HeadSource>> head_sources;
	StageCutter cutter(placement, [&](idx_t number, ReadOrder order, vector<ColumnBinding> bindings,
									  vector<LogicalType> types, vector<SortColumn> sort_columns) {
		auto source = make_uniq<HeadSource>(binding, number, order, std::move(bindings), std::move(types),
											std::move(sort_columns));
		head_sources.push_back(*source);
		return unique_ptr<LogicalOperator>(std::move(source));
	});
	CheckPlan(*plan);
	auto draft = cutter.Cut(plan);
	draft.reasons = placement.Reasons();
	for (auto &stage : draft.stages) {
		CheckPlan(*stage->root);
	}
	plan->ResolveOperatorTypes();
	CountTasks(draft, options);
	auto distributed = std::make_shared<DistributedPlan>();
	distributed->settings = callbacks.settings;
	callbacks.describe(draft, *plan, *distributed);
	for (auto &stage : draft.stages) {
		distributed->stages.push_back(FinishStage(input.context, *stage, options));
	}
	for (auto &head_input : draft.head_inputs) {
		distributed->head_inputs.push_back({head_input.producer->id, head_input.output});
	}
	for (auto &stage : draft.stages) {
		if (stage->in_session) {
			head_sources.back().get().AddSessionStage(stage->id, std::move(stage->root));
		}
	}
	binding->Set(callbacks.bind(distributed));
	plan->ResolveOperatorTypes();
	result.plan = std::move(distributed);
	return result;
}

} // namespace skein
