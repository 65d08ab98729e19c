#include "explain/plan_json.hpp"

#include <nlohmann/json.hpp>

namespace skein {

using Json = nlohmann::ordered_json;

namespace {

double Milliseconds(uint64_t micros) {
	return static_cast<double>(micros) / 1000;
}

const char *KindName(PlannedOperator::Kind kind) {
	switch (kind) {
	case PlannedOperator::Kind::LEAF:
		return "leaf";
	case PlannedOperator::Kind::UNION:
		return "union";
	case PlannedOperator::Kind::INPUT:
		return "input";
	case PlannedOperator::Kind::RUNTIME_FILTER:
		return "runtime_filter";
	default:
		return "operator";
	}
}

//! Writes a plan; with `report`, what its stages did.
class Writer {
public:
	explicit Writer(const PlanReport *report)
		: stages_(report ? &report->stages : nullptr), retries_(report ? report->retries : 0) {
	}

	Json Plan(const DistributedPlan &plan, const PlanOutline &outline) const {
		Json result;
		result["workers"] = outline.workers;
		if (stages_) {
			result["retries"] = retries_;
		}
		if (!outline.reasons.empty()) {
			result["in_one_task"] = outline.reasons;
		}
		result["plan"] = Operator(outline.head);
		result["stages"] = Json::array();
		for (size_t i = 0; i < outline.stages.size(); i++) {
			result["stages"].push_back(Stage(plan.stages[i], outline.stages[i]));
		}
		return result;
	}

private:
	Json Operator(const PlannedOperator &op) const {
		Json result;
		result["name"] = op.name;
		result["kind"] = KindName(op.kind);
		if (!op.details.empty() && op.kind != PlannedOperator::Kind::INPUT) {
			result["details"] = op.details;
		}
		if (op.replicated || op.kind == PlannedOperator::Kind::LEAF) {
			result["replicated"] = op.replicated;
		}
		switch (op.kind) {
		case PlannedOperator::Kind::LEAF:
			AddVariants(op, result);
			break;
		case PlannedOperator::Kind::UNION:
			result["parts"] = Parts(op);
			break;
		case PlannedOperator::Kind::INPUT:
			AddInput(op, result);
			break;
		default:
			break;
		}
		if (stages_) {
			AddNumbers(op.measured, result);
		}
		result["children"] = Json::array();
		for (auto &child : op.children) {
			result["children"].push_back(Operator(child));
		}
		return result;
	}

	static void AddVariants(const PlannedOperator &leaf, Json &result) {
		result["variants"] = Json::array();
		for (auto &variant : leaf.variants) {
			Json entry;
			entry["reads"] = variant.text;
			if (variant.rows) {
				entry["rows"] = *variant.rows;
			}
			entry["bytes"] = variant.bytes;
			entry["units"] = variant.units;
			result["variants"].push_back(std::move(entry));
		}
	}

	static Json Parts(const PlannedOperator &node) {
		auto result = Json::array();
		for (auto &parts : node.parts) {
			auto list = Json::array();
			for (auto &part : parts) {
				list.push_back({{"child", part.child}, {"piece", part.piece}});
			}
			result.push_back(std::move(list));
		}
		return result;
	}

	void AddInput(const PlannedOperator &op, Json &result) const {
		result["stage"] = op.stage;
		result["output"] = op.output;
		result["input_tasks"] = op.input_tasks;
		if (op.estimated_bytes) {
			result["estimated_bytes"] = *op.estimated_bytes;
		}
		// In the text it is followed by the number of tasks.
		auto details = op.details;
		if (details.size() > 2 && details.substr(details.size() - 2) == ", ") {
			details.resize(details.size() - 2);
			result["details"] = details;
		}
		if (stages_ && op.output < (*stages_)[op.stage - 1].outputs.size()) {
			AddSent((*stages_)[op.stage - 1].outputs[op.output], result["sent"]);
		}
	}

	static void AddSent(const OutputReport &sent, Json &result) {
		result["rows"] = sent.rows;
		result["bytes"] = sent.bytes;
		result["link_bytes"] = sent.link_bytes;
		result["pages"] = sent.pages;
	}

	static void AddMetrics(const OperatorMetrics &metrics, Json &result) {
		result["rows"] = metrics.rows;
		if (metrics.rows_read) {
			result["rows_read"] = *metrics.rows_read;
		}
		if (metrics.row_groups_read) {
			result["row_groups_read"] = *metrics.row_groups_read;
			result["row_groups_skipped"] = metrics.row_groups_skipped.value_or(0);
		}
		if (metrics.blocked_micros) {
			result["blocked_ms"] = Milliseconds(*metrics.blocked_micros);
		}
		if (metrics.units) {
			result["units"] = *metrics.units;
		}
		result["ms"] = Milliseconds(metrics.micros);
	}

	static void AddNumbers(const std::map<uint32_t, OperatorMetrics> &measured, Json &result) {
		OperatorMetrics total;
		auto tasks = Json::array();
		for (auto &[task, metrics] : measured) {
			Json entry;
			entry["task"] = task;
			AddMetrics(metrics, entry);
			tasks.push_back(std::move(entry));
			total.Add(metrics);
		}
		AddMetrics(total, result);
		result["tasks"] = std::move(tasks);
	}

	Json Stage(const StagePlan &plan, const PlannedStage &stage) const {
		Json result;
		result["stage"] = stage.id;
		result["tasks"] = stage.tasks;
		result["in_session"] = stage.in_session;
		auto report = stages_ ? &(*stages_)[stage.id - 1] : nullptr;
		result["outputs"] = Json::array();
		for (size_t i = 0; i < plan.outputs.size(); i++) {
			Json output;
			output["kind"] = ExchangeKindName(plan.outputs[i].kind);
			output["partitions"] = plan.outputs[i].partitions;
			if (report && i < report->outputs.size()) {
				AddSent(report->outputs[i], output);
			}
			result["outputs"].push_back(std::move(output));
		}
		if (report) {
			AddTasks(*report, result);
		}
		result["plan"] = Operator(stage.root);
		return result;
	}

	//! What a worker measured of a task. In the session DuckDB's profiler does, for all of the query.
	static void AddCosts(const TaskReport &task, Json &result) {
		result["started_ms"] = Milliseconds(task.StartedMicros());
		result["wall_ms"] = Milliseconds(task.wall_micros);
		result["queue_ms"] = Milliseconds(task.queue_micros);
		result["bytes_read"] = task.bytes_read;
		result["cpu_ms"] = Milliseconds(task.cpu_micros);
		result["peak_memory_bytes"] = task.peak_memory_bytes;
		result["peak_temp_bytes"] = task.peak_temp_bytes;
	}

	void AddTasks(const StageReport &report, Json &result) const {
		AddNumbers(report.sink, result["sink"]);
		if (auto slowest = report.Slowest(); slowest && !slowest->worker.empty()) {
			result["slowest_task"] = slowest->task;
			result["slowest_ms"] = Milliseconds(slowest->wall_micros);
			result["median_ms"] = Milliseconds(report.MedianMicros());
		}
		result["task_reports"] = Json::array();
		for (auto &task : report.tasks) {
			Json entry;
			entry["task"] = task.task;
			entry["worker"] = task.worker;
			entry["state"] = StateName(task.state);
			AddSent(task.Sent(), entry);
			if (!task.worker.empty()) {
				entry["attempt"] = retries_;
				AddCosts(task, entry);
			}
			if (task.units) {
				entry["units_read"] = task.units->read;
				entry["units_taken"] = task.units->taken;
				entry["units_given"] = task.units->given;
			}
			result["task_reports"].push_back(std::move(entry));
		}
	}

	//! nullptr: nothing has run.
	const std::vector<StageReport> *stages_;
	//! Which attempt of the query the tasks are of, from 0.
	const uint32_t retries_;
};

} // namespace

const char *ExchangeKindName(ExchangeKind kind) {
	switch (kind) {
	case ExchangeKind::SHUFFLE:
		return "shuffle";
	case ExchangeKind::BROADCAST:
		return "broadcast";
	case ExchangeKind::KEY_HASHES:
		return "key_hashes";
	default:
		return "coalesce";
	}
}

Json PlanJson(const DistributedPlan &plan) {
	return Writer(nullptr).Plan(plan, plan.outline);
}

Json PlanJson(const DistributedPlan &plan, const PlanReport &report) {
	return Writer(&report).Plan(plan, report.outline);
}

} // namespace skein
