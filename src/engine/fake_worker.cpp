#include "engine/fake_worker.hpp"

#include "engine/plan_serializer.hpp"

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/optimizer/optimizer_extension.hpp"
#include "duckdb/parser/statement/logical_plan_statement.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Root of a plan that the optimizer must leave alone.
class LogicalFinishedPlan final : public LogicalExtensionOperator {
public:
	explicit LogicalFinishedPlan(unique_ptr<LogicalOperator> plan) {
		children.push_back(std::move(plan));
	}
	vector<ColumnBinding> GetColumnBindings() override {
		return children[0]->GetColumnBindings();
	}
	bool RequireOptimizer() const override {
		return false;
	}
	PhysicalOperator &CreatePlan(ClientContext &, PhysicalPlanGenerator &generator) override {
		return generator.CreatePlan(*children[0]);
	}

protected:
	void ResolveTypes() override {
		types = children[0]->types;
	}
};

using PlanCallback = std::function<void(ClientContext &, unique_ptr<LogicalOperator> &)>;

struct CaptureInfo : public OptimizerExtensionInfo {
	PlanCallback use;
	bool active = true;
};

void Capture(OptimizerExtensionInput &input, unique_ptr<LogicalOperator> &plan) {
	auto &info = static_cast<CaptureInfo &>(*input.info);
	if (info.active && plan->type != LogicalOperatorType::LOGICAL_TRANSACTION) {
		info.active = false;
		info.use(input.context, plan);
	}
}

} // namespace

void WithOptimizedPlan(Connection &connection, const std::string &sql, const PlanCallback &use) {
	auto info = make_shared_ptr<CaptureInfo>();
	info->use = use;
	OptimizerExtension extension;
	extension.optimize_function = Capture;
	extension.optimizer_info = info;
	OptimizerExtension::Register(DBConfig::GetConfig(*connection.context), extension);
	auto prepared = connection.Prepare(sql);
	info->active = false;
	if (prepared->HasError()) {
		prepared->GetErrorObject().Throw();
	}
}

std::vector<std::string> RowsOf(QueryResult &result) {
	if (result.HasError()) {
		result.GetErrorObject().Throw();
	}
	std::vector<std::string> rows;
	while (auto chunk = result.Fetch()) {
		for (idx_t row = 0; row < chunk->size(); row++) {
			std::string text;
			for (idx_t column = 0; column < chunk->ColumnCount(); column++) {
				text += chunk->GetValue(column, row).ToSQLString() + "|";
			}
			rows.push_back(std::move(text));
		}
	}
	return rows;
}

FakeWorker::FakeWorker() : database_(nullptr), connection_(database_) {
}

std::vector<std::string> FakeWorker::Run(const std::string &bytes,
										 const std::function<void(LogicalOperator &)> &inspect) {
	connection_.BeginTransaction();
	try {
		auto &context = *connection_.context;
		auto binder = Binder::CreateBinder(context);
		RunTimeHelp help;
		auto plan = DeserializePlan(context, bytes, *binder, &help);
		RestoreRunTimeHelp(*binder, context, plan, help);
		if (inspect) {
			inspect(*plan);
		}
		auto root = make_uniq<LogicalFinishedPlan>(std::move(plan));
		root->ResolveOperatorTypes();
		auto result = connection_.Query(make_uniq<LogicalPlanStatement>(std::move(root)));
		auto rows = RowsOf(*result);
		connection_.Commit();
		return rows;
	} catch (...) {
		connection_.Rollback();
		throw;
	}
}

void FakeWorker::Query(const std::string &sql) {
	auto result = connection_.Query(sql);
	if (result->HasError()) {
		result->GetErrorObject().Throw();
	}
}

} // namespace skein
