#include "skein/skein.hpp"

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace skein {
namespace {

using namespace duckdb;

//! `visits(first, last)`: the numbers from `first` to `last`, without it, each with the worker that read it.
struct Visits {
	struct Data final : TableFunctionData {
		idx_t first = 0;
		idx_t last = 0;
	};
	struct State final : GlobalTableFunctionState {
		idx_t next = 0;
	};
	static unique_ptr<FunctionData> Bind(ClientContext &, TableFunctionBindInput &input, vector<LogicalType> &types,
										 vector<string> &names) {
		types = {LogicalType::BIGINT, LogicalType::VARCHAR};
		names = {"n", "worker"};
		auto result = make_uniq<Data>();
		result->first = input.inputs[0].GetValue<idx_t>();
		result->last = input.inputs[1].GetValue<idx_t>();
		return result;
	}
	static unique_ptr<GlobalTableFunctionState> Init(ClientContext &, TableFunctionInitInput &input) {
		auto result = make_uniq<State>();
		result->next = input.bind_data->Cast<Data>().first;
		return result;
	}
	static void Scan(ClientContext &context, TableFunctionInput &input, DataChunk &output) {
		auto &state = input.global_state->Cast<State>();
		auto task = RunningTask::In(context);
		idx_t rows = 0;
		while (state.next < input.bind_data->Cast<Data>().last && rows < STANDARD_VECTOR_SIZE) {
			output.SetValue(0, rows, Value::BIGINT(int64_t(state.next++)));
			output.SetValue(1, rows++, Value(task ? task->worker : "session"));
		}
		output.SetCardinality(rows);
	}
	static void Register(DatabaseInstance &db) {
		ExtensionLoader loader(db, "visits");
		loader.RegisterFunction(TableFunction("visits", {LogicalType::BIGINT, LogicalType::BIGINT}, Scan, Bind, Init));
	}
};

//! What an estimate of visits() does wrong, if anything.
enum class Fault {
	NONE,
	ONE_TOO_FEW,
	NO_PLAN,
	SAME_UNITS,
	SAME_PLANS,
	OTHER_TYPES,
	UNKNOWN_WORKER,
	ONE_WORKER_TOO_FEW
};

class VisitsEstimate final : public LeafEstimate {
public:
	VisitsEstimate(const LeafQuestion &question, Fault fault)
		: context_(question.context), get_(question.leaf.Cast<LogicalGet>()), fault_(fault) {
		first_ = get_.parameters[0].GetValue<idx_t>();
		last_ = get_.parameters[1].GetValue<idx_t>();
	}
	TaskCount Tasks() const override {
		return {last_ - first_, last_ - first_};
	}
	uint64_t Bytes() const override {
		return last_ - first_;
	}
	std::vector<LeafVariant> MakeVariants(size_t tasks) override {
		std::vector<LeafVariant> result;
		for (idx_t task = 0; task < tasks; task++) {
			auto number = fault_ == Fault::SAME_PLANS ? 0 : task;
			auto first = first_ + (last_ - first_) * number / tasks;
			auto last = first_ + (last_ - first_) * (number + 1) / tasks;
			LeafVariant variant;
			variant.plan = get_.Copy(context_);
			variant.plan->Cast<LogicalGet>().parameters = {Value::BIGINT(int64_t(first)), Value::BIGINT(int64_t(last))};
			variant.text = "VISITS " + std::to_string(first) + ".." + std::to_string(last);
			variant.bytes = last - first;
			variant.units.push_back(fault_ == Fault::SAME_UNITS ? "unit" : variant.text + std::to_string(task));
			result.push_back(std::move(variant));
		}
		Spoil(result);
		return result;
	}
	std::vector<string> ChooseWorkers(const std::vector<LeafVariant> &variants,
									  const std::vector<WorkerInfo> &workers) override {
		std::vector<string> result;
		for (size_t i = 0; i < variants.size(); i++) {
			// From the last worker to the first.
			result.push_back(workers[workers.size() - 1 - i % workers.size()].address);
		}
		if (fault_ == Fault::UNKNOWN_WORKER) {
			result.back() = "elsewhere:1";
		} else if (fault_ == Fault::ONE_WORKER_TOO_FEW) {
			result.pop_back();
		}
		return result;
	}

private:
	void Spoil(std::vector<LeafVariant> &variants) {
		if (fault_ == Fault::ONE_TOO_FEW) {
			variants.pop_back();
		} else if (fault_ == Fault::NO_PLAN) {
			variants.back().plan.reset();
		} else if (fault_ == Fault::OTHER_TYPES) {
			variants.back().plan->Cast<LogicalGet>().returned_types[0] = LogicalType::INTEGER;
		}
	}

	ClientContext &context_;
	LogicalGet &get_;
	const Fault fault_;
	idx_t first_;
	idx_t last_;
};

class VisitsEstimator final : public TaskEstimator {
public:
	explicit VisitsEstimator(Fault fault) : fault_(fault) {
	}
	string Name() const override {
		return "visitor";
	}
	std::unique_ptr<LeafEstimate> Estimate(const LeafQuestion &question) const override {
		if (question.leaf.type != LogicalOperatorType::LOGICAL_GET ||
			question.leaf.Cast<LogicalGet>().function.name != "visits") {
			return nullptr;
		}
		return std::make_unique<VisitsEstimate>(question, fault_);
	}

private:
	const Fault fault_;
};

//! Leaves it to the others how files are divided, and sends file `N.parquet` to worker N; or lets two tasks read the
//! first file.
class LocalityEstimator final : public TaskEstimator {
public:
	explicit LocalityEstimator(bool overlap) : overlap_(overlap) {
	}
	string Name() const override {
		return "locality";
	}
	std::unique_ptr<LeafEstimate> Estimate(const LeafQuestion &question) const override {
		auto others = question.next();
		return others ? std::make_unique<Changed>(std::move(others), overlap_) : nullptr;
	}

private:
	class Changed final : public LeafEstimate {
	public:
		Changed(std::unique_ptr<LeafEstimate> others, bool overlap) : others_(std::move(others)), overlap_(overlap) {
		}
		TaskCount Tasks() const override {
			return others_->Tasks();
		}
		uint64_t Bytes() const override {
			return others_->Bytes();
		}
		std::vector<LeafVariant> MakeVariants(size_t tasks) override {
			auto result = others_->MakeVariants(tasks);
			if (overlap_) {
				result[1] = std::move(others_->MakeVariants(tasks)[0]);
			}
			return result;
		}
		std::vector<string> ChooseWorkers(const std::vector<LeafVariant> &variants,
										  const std::vector<WorkerInfo> &workers) override {
			std::vector<string> result;
			for (auto &variant : variants) {
				auto digit = variant.cache_key[variant.cache_key.size() - string("N.parquet").size()];
				result.push_back(workers[static_cast<size_t>(digit - '0')].address);
			}
			return result;
		}

	private:
		std::unique_ptr<LeafEstimate> others_;
		const bool overlap_;
	};

	const bool overlap_;
};

class TaskEstimatorTest : public testing::Test {
protected:
	void Attach(Fault fault) {
		Visits::Register(*database_.instance);
		AttachOptions options;
		options.estimators.push_back(std::make_shared<VisitsEstimator>(fault));
		options.set_up_workers = Visits::Register;
		skein::Attach(*database_.instance, std::move(options));
		Rows("SET skein_workers = 4");
		Rows("SET skein_max_tasks = 10");
	}
	//! Each row as `a|b`; an error as itself.
	std::vector<string> Rows(const string &sql) {
		auto result = connection_.Query(sql);
		if (result->HasError()) {
			return {result->GetErrorObject().Message()};
		}
		std::vector<string> rows;
		for (idx_t row = 0; row < result->RowCount(); row++) {
			string text;
			for (idx_t column = 0; column < result->ColumnCount(); column++) {
				text += (column ? "|" : "") + result->GetValue(column, row).ToString();
			}
			rows.push_back(text);
		}
		return rows;
	}

	DuckDB database_{nullptr};
	Connection connection_{database_};
};

TEST_F(TaskEstimatorTest, ItsVariantsRunOnTheWorkersThatItChooses) {
	Attach(Fault::NONE);
	EXPECT_EQ(Rows("SELECT * FROM visits(0, 6)"),
			  (std::vector<string>{"0|local-4", "1|local-3", "2|local-2", "3|local-1", "4|local-4", "5|local-3"}));
	EXPECT_EQ(Rows("SELECT distributed, tasks FROM skein_last_query()"), (std::vector<string>{"true|6"}));
	EXPECT_EQ(Rows("SELECT sum(n) FROM visits(0, 1000)"), (std::vector<string>{"499500"}));
}

TEST_F(TaskEstimatorTest, ItsLeavesShareTheTasksOfAUnion) {
	Attach(Fault::NONE);
	auto sql = "SELECT * FROM visits(0, 8) UNION ALL SELECT * FROM visits(100, 102) ORDER BY n";
	EXPECT_EQ(Rows(sql), (std::vector<string>{"0|local-4", "1|local-3", "2|local-2", "3|local-1", "4|local-4",
											  "5|local-3", "6|local-2", "7|local-1", "100|local-4", "101|local-3"}));
	auto plan = Rows("EXPLAIN " + string(sql))[0];
	EXPECT_NE(plan.find("DistributedUnion: t0:[c0(0/8)] t1:[c0(1/8)] t2:[c0(2/8)] t3:[c0(3/8)] t4:[c0(4/8)] "
						"t5:[c0(5/8)] t6:[c0(6/8)] t7:[c0(7/8)] t8:[c1(0/2)] t9:[c1(1/2)]"),
			  string::npos)
		<< plan;
	EXPECT_NE(plan.find("t1: VISITS 101..102 on local-3"), string::npos) << plan;
}

TEST_F(TaskEstimatorTest, ALeafThatCanUseFewerTasksThanItsStageReadsNothingInTheOthers) {
	Attach(Fault::NONE);
	EXPECT_EQ(Rows("SELECT a.n, b.n FROM visits(0, 8) a JOIN visits(5, 7) b USING (n) ORDER BY 1"),
			  (std::vector<string>{"5|5", "6|6"}));
}

TEST_F(TaskEstimatorTest, WhatItDeclinesIsLeftToTheOthers) {
	Attach(Fault::NONE);
	EXPECT_EQ(Rows("SELECT count(*) FROM range(7)"), (std::vector<string>{"7"}));
	EXPECT_EQ(Rows("SELECT distributed FROM skein_last_query()"), (std::vector<string>{"false"}));
}

TEST_F(TaskEstimatorTest, WhatBreaksARuleIsAPlanningError) {
	std::vector<std::pair<Fault, string>> cases{
		{Fault::ONE_TOO_FEW, "it made 2 variants for 3 tasks"},
		{Fault::NO_PLAN, "variant 2 has no plan"},
		{Fault::SAME_UNITS, "variants 0 and 1 both read unit"},
		{Fault::SAME_PLANS, "variants 0 and 1 are the same plan, so they read the same"},
		{Fault::OTHER_TYPES, "variant 2 has columns of other types than the leaf"},
		{Fault::UNKNOWN_WORKER,
		 "it chose the worker 'elsewhere:1'; the workers are local-1, local-2, local-3, local-4"},
		{Fault::ONE_WORKER_TOO_FEW, "it chose 2 workers for 3 variants"}};
	for (auto &[fault, message] : cases) {
		DuckDB database(nullptr);
		Visits::Register(*database.instance);
		AttachOptions options;
		options.estimators.push_back(std::make_shared<VisitsEstimator>(fault));
		options.set_up_workers = Visits::Register;
		skein::Attach(*database.instance, std::move(options));
		Connection connection(database);
		connection.Query("SET skein_workers = 4");
		auto result = connection.Query("SELECT * FROM visits(0, 3)");
		ASSERT_TRUE(result->HasError()) << message;
		EXPECT_EQ(result->GetErrorObject().Type(), ExceptionType::INVALID_INPUT);
		EXPECT_NE(result->GetError().find("the task estimator \"visitor\" cannot be followed for VISITS"), string::npos)
			<< result->GetError();
		EXPECT_NE(result->GetError().find(message), string::npos) << result->GetError();
	}
}

//! With files `0.parquet` to `3.parquet`, of 1,000 rows each.
class LocalityTest : public TaskEstimatorTest {
protected:
	LocalityTest() : folder_(std::filesystem::temp_directory_path() / ("skein_locality_" + std::to_string(getpid()))) {
		std::filesystem::create_directories(folder_);
	}
	~LocalityTest() override {
		std::filesystem::remove_all(folder_);
	}
	void AttachWithFiles(bool overlap) {
		AttachOptions options;
		options.estimators.push_back(std::make_shared<LocalityEstimator>(overlap));
		skein::Attach(*database_.instance, std::move(options));
		for (int file = 0; file < 4; file++) {
			Rows("COPY (SELECT range AS k FROM range(1000)) TO '" + (folder_ / std::to_string(file)).string() +
				 ".parquet'");
		}
		Rows("SET skein_workers = 4");
		Rows("SET skein_mode = 'force'");
	}
	string Sql(const string &files) const {
		return "SELECT count(*), sum(k) FROM read_parquet([" + StringUtil::Replace(files, "@", folder_.string()) + "])";
	}

	const std::filesystem::path folder_;
};

TEST_F(LocalityTest, ItCanChooseWorkersForWhatOthersDivide) {
	AttachWithFiles(false);
	EXPECT_EQ(Rows(Sql("'@/2.parquet', '@/0.parquet', '@/3.parquet', '@/1.parquet'")),
			  (std::vector<string>{"4000|1998000"}));
	EXPECT_EQ(Rows("SELECT task, worker FROM skein_tasks() WHERE stage = 1 ORDER BY task"),
			  (std::vector<string>{"0|local-3", "1|local-1", "2|local-4", "3|local-2"}));
}

TEST_F(LocalityTest, RowGroupsThatAreReadTwiceAreSeen) {
	AttachWithFiles(true);
	auto error = Rows(Sql("'@/0.parquet', '@/1.parquet'"))[0];
	EXPECT_NE(error.find("the task estimator \"locality\" cannot be followed for"), string::npos) << error;
	EXPECT_NE(error.find("variants 0 and 1 both read row group 0 of " + folder_.string() + "/0.parquet"), string::npos)
		<< error;
}

TEST_F(TaskEstimatorTest, AdditionsAreRefusedWhereSkeinIsAttachedAlready) {
	skein::Attach(*database_.instance);
	EXPECT_THROW(skein::Attach(*database_.instance, AttachOptions()), InvalidInputException);
}

} // namespace
} // namespace skein
