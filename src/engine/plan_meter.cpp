#include "engine/plan_meter.hpp"

#include "engine/shared_scan.hpp"

#include "duckdb/execution/execution_context.hpp"
#include "duckdb/execution/operator/join/physical_delim_join.hpp"
#include "duckdb/execution/operator/scan/physical_table_scan.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/main/client_config.hpp"
#include "duckdb/main/query_profiler.hpp"
#include "duckdb/parallel/thread_context.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace skein {

using namespace duckdb;

//! Stands over an operator while the physical plan is made.
class PlanMeter::Tap final : public LogicalExtensionOperator {
public:
	Tap(PlanMeter &meter, size_t number, unique_ptr<LogicalOperator> op) : meter_(meter), number_(number) {
		estimated_cardinality = op->estimated_cardinality;
		has_estimated_cardinality = op->has_estimated_cardinality;
		types = op->types;
		children.push_back(std::move(op));
	}
	PhysicalOperator &CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) override {
		auto &result = planner.CreatePlan(*children[0]);
		meter_.Note(number_, result);
		return result;
	}
	vector<ColumnBinding> GetColumnBindings() override {
		return children[0]->GetColumnBindings();
	}
	idx_t EstimateCardinality(ClientContext &context) override {
		return children[0]->EstimateCardinality(context);
	}
	string GetName() const override {
		return children[0]->GetName();
	}

protected:
	void ResolveTypes() override {
		types = children[0]->types;
	}

private:
	PlanMeter &meter_;
	const size_t number_;
};

namespace {

//! Those whose rows leave the plan under `op`: what DuckDB counts no rows of passes on those of others.
void FindReturning(const PhysicalOperator &op, std::vector<const PhysicalOperator *> &result) {
	switch (op.type) {
	case PhysicalOperatorType::UNION:
		for (auto &child : op.children) {
			FindReturning(child.get(), result);
		}
		return;
	case PhysicalOperatorType::CTE:
		FindReturning(op.children[1].get(), result);
		return;
	case PhysicalOperatorType::LEFT_DELIM_JOIN:
	case PhysicalOperatorType::RIGHT_DELIM_JOIN:
		FindReturning(op.Cast<PhysicalDelimJoin>().join, result);
		return;
	default:
		result.push_back(&op);
	}
}

bool IsScanOf(const PhysicalOperator &op, const char *function) {
	if (auto shared = dynamic_cast<const PhysicalSharedScan *>(&op)) {
		return shared->Scan().function.name == function;
	}
	return op.type == PhysicalOperatorType::TABLE_SCAN && op.Cast<PhysicalTableScan>().function.name == function;
}

} // namespace

duckdb::shared_ptr<PlanMeter> PlanMeter::Install(ClientContext &context) {
	auto &config = ClientConfig::GetConfig(context);
	config.enable_profiler = true;
	config.emit_profiler_output = false;
	config.profiler_settings = {MetricType::OPERATOR_TIMING, MetricType::OPERATOR_CARDINALITY,
								MetricType::OPERATOR_ROWS_SCANNED, MetricType::SYSTEM_PEAK_BUFFER_MEMORY,
								MetricType::SYSTEM_PEAK_TEMP_DIR_SIZE};
	auto meter = make_shared_ptr<PlanMeter>();
	context.registered_state->Insert(KEY, meter);
	return meter;
}

duckdb::shared_ptr<PlanMeter> PlanMeter::Find(ClientContext &context) {
	return context.registered_state->Get<PlanMeter>(KEY);
}

size_t PlanMeter::Reserve() {
	watched_.emplace_back();
	return watched_.size() - 1;
}

void PlanMeter::Watch(unique_ptr<LogicalOperator> &op, const std::function<bool(const LogicalOperator &)> &is_leaf) {
	auto number = Reserve();
	watched_[number].is_leaf = is_leaf && is_leaf(*op);
	for (idx_t i = 0; !watched_[number].is_leaf && i < op->children.size(); i++) {
		Watch(op->children[i], is_leaf);
	}
	op = make_uniq<Tap>(*this, number, std::move(op));
}

void PlanMeter::Note(size_t number, const PhysicalOperator &op) {
	watched_[number].root = &op;
}

void PlanMeter::Replace(const PhysicalOperator &op, const PhysicalOperator &by) {
	for (auto &entry : watched_) {
		if (entry.root.get() == &op) {
			entry.root = &by;
		}
	}
}

void PlanMeter::NoteSink(const PhysicalOperator &sink) {
	has_sink_ = true;
	Note(0, sink);
}

void PlanMeter::Add(const PhysicalOperator &op, const OperatorMetrics &metrics) {
	std::lock_guard<std::mutex> guard(mutex_);
	told_[&op].Add(metrics);
}

void PlanMeter::Complete() {
	for (auto &entry : watched_) {
		// Not set if DuckDB plans the operator above without it.
		if (entry.root) {
			FindReturning(*entry.root, entry.returning);
		}
	}
	if (has_sink_ && watched_.size() > 1) {
		// As a source it returns one row, for DuckDB.
		watched_[0].returning = watched_[1].returning;
	}
	if (!watched_.empty() && watched_[0].root) {
		FindOwners(*watched_[0].root, 0);
		complete_ = true;
	}
}

void PlanMeter::FindOwners(const PhysicalOperator &op, size_t owner) {
	// Of several that became the same, the lowest: the ones above it became nothing.
	for (size_t number = owner; number < watched_.size(); number++) {
		if (watched_[number].root.get() == &op) {
			owner = number;
		}
	}
	auto &own = watched_[owner].own;
	if (std::find(own.begin(), own.end(), &op) != own.end()) {
		return;
	}
	own.push_back(&op);
	// Of other scans the profiler may have estimates.
	watched_[owner].counts_rows_read |= IsScanOf(op, "seq_scan");
	watched_[owner].is_slice |= IsScanOf(op, "skein_parquet_slice") || IsScanOf(op, "skein_native_slice");
	if (auto shared = dynamic_cast<const PhysicalSharedScan *>(&op)) {
		watched_[owner].units = shared->Units();
	}
	if (watched_[owner].is_leaf) {
		return;
	}
	for (auto &child : op.GetChildren()) {
		FindOwners(child.get(), owner);
	}
}

OperatorMetrics PlanMeter::MetricsOf(const Watched &entry, const QueryProfiler &profiler) const {
	auto &nodes = profiler.GetTreeMap();
	auto value_of = [&](const PhysicalOperator *op, MetricType type) {
		auto node = nodes.find(*op);
		if (node == nodes.end()) {
			return 0.0;
		}
		auto &metrics = node->second.get().GetProfilingInfo().metrics;
		auto value = metrics.find(type);
		return value == metrics.end() || value->second.IsNull() ? 0.0 : value->second.GetValue<double>();
	};
	OperatorMetrics metrics;
	if (entry.is_slice) {
		metrics.rows_read = metrics.row_groups_read = metrics.row_groups_skipped = 0;
	}
	for (auto op : entry.returning) {
		metrics.rows += static_cast<uint64_t>(value_of(op, MetricType::OPERATOR_CARDINALITY));
	}
	double seconds = 0;
	double rows_read = 0;
	for (auto op : entry.own) {
		seconds += value_of(op, MetricType::OPERATOR_TIMING);
		rows_read += entry.counts_rows_read ? value_of(op, MetricType::OPERATOR_ROWS_SCANNED) : 0;
		auto told = told_.find(op);
		if (told != told_.end()) {
			metrics.Add(told->second);
		}
	}
	metrics.micros = static_cast<uint64_t>(seconds * 1e6);
	if (entry.counts_rows_read) {
		metrics.rows_read = static_cast<uint64_t>(rows_read);
	}
	if (entry.units) {
		metrics.units = entry.units->Counts().read;
	}
	return metrics;
}

std::vector<OperatorMetrics> PlanMeter::Collect(ClientContext &context) const {
	std::vector<OperatorMetrics> result;
	if (!complete_) {
		return result;
	}
	auto &profiler = QueryProfiler::Get(context);
	profiler.GetRootUnderLock([&](optional_ptr<ProfilingNode>) {
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto &entry : watched_) {
			result.push_back(MetricsOf(entry, profiler));
		}
	});
	return result;
}

BlockedTime::BlockedTime(ClientContext &context, const PhysicalOperator &op)
	: meter_(PlanMeter::Find(context)), op_(op) {
}

BlockedTime::~BlockedTime() {
	End();
	if (meter_) {
		OperatorMetrics metrics;
		metrics.blocked_micros =
			static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(total_).count());
		meter_->Add(op_, metrics);
	}
}

void BlockedTime::Begin() {
	if (meter_) {
		since_ = std::chrono::steady_clock::now();
	}
}

void BlockedTime::End() {
	if (since_) {
		total_ += std::chrono::steady_clock::now() - *since_;
		since_.reset();
	}
}

UnfinishedProfile::UnfinishedProfile(ExecutionContext &context) : client_(context.client) {
	if (QueryProfiler::Get(client_).IsEnabled()) {
		thread_ = context.thread;
	}
}

UnfinishedProfile::~UnfinishedProfile() {
	if (thread_) {
		QueryProfiler::Get(client_).Flush(thread_->profiler);
	}
}

} // namespace skein
