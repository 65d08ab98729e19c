#pragma once

#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "exchange/exchange_sink.hpp"
#include "exchange/exchange_source.hpp"

namespace skein {

class PlanMeter;
class TaskUnits;

//! The root of every plan that is shipped: becomes a PhysicalExchangeSink. One row of one column, the rows taken.
class LogicalExchangeSink final : public duckdb::LogicalExtensionOperator {
public:
	LogicalExchangeSink(duckdb::vector<SinkOutput> outputs, bool in_order);

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	//! As CreatePlan(), with channels that are found in another way than through the task's connection. `meter` watches
	//! the operators, of which this one has number 0. `units`: whose leaves may share their units.
	duckdb::PhysicalOperator &CreatePlan(duckdb::PhysicalPlanGenerator &planner,
										 PhysicalExchangeSink::GetChannels get_channels,
										 duckdb::optional_ptr<PlanMeter> meter,
										 duckdb::optional_ptr<TaskUnits> units = nullptr);
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override;
	duckdb::string GetExtensionName() const override;
	duckdb::string GetName() const override {
		return "EXCHANGE_SINK";
	}
	//! A shipped plan is executed as it is.
	bool RequireOptimizer() const override {
		return false;
	}
	void Serialize(duckdb::Serializer &serializer) const override;
	static duckdb::unique_ptr<LogicalExtensionOperator> DeserializeFields(duckdb::Deserializer &deserializer);

protected:
	void ResolveTypes() override;

private:
	//! By output: its kind, and how many keys, filters and columns it has. They stand in `expressions`, output after
	//! output.
	duckdb::vector<uint8_t> kinds_;
	duckdb::vector<duckdb::idx_t> key_counts_;
	duckdb::vector<duckdb::idx_t> filter_counts_;
	duckdb::vector<duckdb::idx_t> column_counts_;
	bool in_order_;
};

//! A leaf of a shipped plan: the rows of another stage, under the bindings that they had there.
class LogicalExchangeSource final : public duckdb::LogicalExtensionOperator {
public:
	//! `orders` only for ReadOrder::MERGE; its expressions are columns of `bindings`.
	LogicalExchangeSource(duckdb::idx_t input, ReadOrder order, duckdb::vector<duckdb::ColumnBinding> bindings,
						  duckdb::vector<duckdb::LogicalType> column_types, duckdb::vector<SortColumn> sort_columns);

	duckdb::idx_t Input() const {
		return input_;
	}
	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override {
		return bindings_;
	}
	duckdb::vector<duckdb::idx_t> GetTableIndex() const override;
	duckdb::string GetExtensionName() const override;
	duckdb::string GetName() const override {
		return "EXCHANGE_SOURCE";
	}
	void Serialize(duckdb::Serializer &serializer) const override;
	static duckdb::unique_ptr<LogicalExtensionOperator> DeserializeFields(duckdb::Deserializer &deserializer);

protected:
	void ResolveTypes() override {
		types = column_types_;
	}

private:
	const duckdb::idx_t input_;
	const ReadOrder order_;
	const duckdb::vector<duckdb::ColumnBinding> bindings_;
	const duckdb::vector<duckdb::LogicalType> column_types_;
	const duckdb::vector<SortColumn> sort_columns_;
};

//! Above a part of a shipped plan: becomes a PhysicalRuntimeFilter. children[0] are the rows, children[1] is the
//! LogicalExchangeSource of the other side's hashes, `expressions` are the keys.
class LogicalRuntimeFilter final : public duckdb::LogicalExtensionOperator {
public:
	explicit LogicalRuntimeFilter(duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys);

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
										 duckdb::PhysicalPlanGenerator &planner) override;
	void ResolveColumnBindings(duckdb::ColumnBindingResolver &resolver,
							   duckdb::vector<duckdb::ColumnBinding> &bindings) override;
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override {
		return children[0]->GetColumnBindings();
	}
	duckdb::string GetExtensionName() const override;
	duckdb::string GetName() const override {
		return "RuntimeFilter";
	}
	void Serialize(duckdb::Serializer &serializer) const override;
	static duckdb::unique_ptr<LogicalExtensionOperator> DeserializeFields(duckdb::Deserializer &deserializer);

protected:
	void ResolveTypes() override {
		types = children[0]->types;
	}
};

//! Makes plans with exchange operators readable on `db`. Once per instance.
void RegisterExchangeOperators(duckdb::DatabaseInstance &db);

} // namespace skein
