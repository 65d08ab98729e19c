#include "exchange/logical_exchange.hpp"

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/execution/column_binding_resolver.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "engine/plan_meter.hpp"
#include "engine/shared_scan.hpp"
#include "exchange/runtime_filter.hpp"
#include "plan/columns.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *EXTENSION_NAME = "skein_exchange";

enum class NodeKind : uint8_t { SINK = 0, SOURCE = 1, RUNTIME_FILTER = 2 };

//! DuckDB asks every operator extension before it gives up on a statement that it cannot bind: ours binds none.
BoundStatement BindNothing(ClientContext &context, Binder &binder, OperatorExtensionInfo *info,
						   SQLStatement &statement) {
	return BoundStatement();
}

class ExchangeOperatorExtension final : public OperatorExtension {
public:
	ExchangeOperatorExtension() {
		Bind = BindNothing;
	}
	std::string GetName() override {
		return EXTENSION_NAME;
	}
	unique_ptr<LogicalExtensionOperator> Deserialize(Deserializer &deserializer) override {
		auto kind = static_cast<NodeKind>(deserializer.ReadProperty<uint8_t>(300, "node_kind"));
		switch (kind) {
		case NodeKind::SINK:
			return LogicalExchangeSink::DeserializeFields(deserializer);
		case NodeKind::SOURCE:
			return LogicalExchangeSource::DeserializeFields(deserializer);
		case NodeKind::RUNTIME_FILTER:
			return LogicalRuntimeFilter::DeserializeFields(deserializer);
		}
		throw SerializationException("A plan with an unknown exchange operator");
	}
};

//! The outputs whose expressions stand in one list: `counts[0]` are the numbers of keys by output, then come those of
//! filters and of columns.
vector<SinkOutput> TakeApart(vector<unique_ptr<Expression>> &expressions, const vector<uint8_t> &kinds,
							 const std::array<vector<idx_t>, 3> &counts) {
	vector<SinkOutput> result;
	auto next = expressions.begin();
	for (idx_t i = 0; i < kinds.size(); i++) {
		SinkOutput output;
		output.kind = static_cast<ExchangeKind>(kinds[i]);
		vector<unique_ptr<Expression>> *lists[] = {&output.keys, &output.filters, &output.columns};
		for (idx_t list = 0; list < counts.size(); list++) {
			auto end = next + static_cast<std::ptrdiff_t>(counts[list][i]);
			std::move(next, end, std::back_inserter(*lists[list]));
			next = end;
		}
		result.push_back(std::move(output));
	}
	return result;
}

} // namespace

void RegisterExchangeOperators(DatabaseInstance &db) {
	OperatorExtension::Register(DBConfig::GetConfig(db), make_shared_ptr<ExchangeOperatorExtension>());
}

LogicalExchangeSink::LogicalExchangeSink(vector<SinkOutput> outputs, bool in_order) : in_order_(in_order) {
	for (auto &output : outputs) {
		kinds_.push_back(static_cast<uint8_t>(output.kind));
		key_counts_.push_back(output.keys.size());
		filter_counts_.push_back(output.filters.size());
		column_counts_.push_back(output.columns.size());
		for (auto list : {&output.keys, &output.filters, &output.columns}) {
			std::move(list->begin(), list->end(), std::back_inserter(expressions));
		}
	}
}

vector<ColumnBinding> LogicalExchangeSink::GetColumnBindings() {
	// Nothing stands above the root that could refer to it.
	return {ColumnBinding(0, 0)};
}

void LogicalExchangeSink::ResolveTypes() {
	types = {LogicalType::BIGINT};
}

string LogicalExchangeSink::GetExtensionName() const {
	return EXTENSION_NAME;
}

PhysicalOperator &LogicalExchangeSink::CreatePlan(PhysicalPlanGenerator &planner,
												  PhysicalExchangeSink::GetChannels get_channels,
												  optional_ptr<PlanMeter> meter, optional_ptr<TaskUnits> units) {
	if (meter) {
		meter->Reserve();
		meter->Watch(children[0]);
	}
	auto &planned = planner.CreatePlan(*children[0]);
	auto &child = units ? ShareScans(planner, planned, *units, meter) : planned;
	auto copies = CopyAll(expressions);
	auto outputs = TakeApart(copies, kinds_, {key_counts_, filter_counts_, column_counts_});
	auto &sink = planner.Make<PhysicalExchangeSink>(std::move(outputs), in_order_, std::move(get_channels),
													estimated_cardinality);
	sink.children.push_back(child);
	if (meter) {
		meter->NoteSink(sink);
		meter->Complete();
	}
	return sink;
}

PhysicalOperator &LogicalExchangeSink::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	auto meter = PlanMeter::Find(context);
	auto units = TaskUnits::Find(context);
	return CreatePlan(planner, TaskChannels::Get, meter.get(), units.get());
}

void LogicalExchangeSink::Serialize(Serializer &serializer) const {
	LogicalExtensionOperator::Serialize(serializer);
	serializer.WriteProperty(300, "node_kind", static_cast<uint8_t>(NodeKind::SINK));
	serializer.WriteProperty(301, "kinds", kinds_);
	serializer.WriteProperty(302, "key_counts", key_counts_);
	serializer.WriteProperty(303, "filter_counts", filter_counts_);
	serializer.WriteProperty(304, "column_counts", column_counts_);
	serializer.WriteProperty(305, "expressions", expressions);
	serializer.WriteProperty(306, "in_order", in_order_);
}

unique_ptr<LogicalExtensionOperator> LogicalExchangeSink::DeserializeFields(Deserializer &deserializer) {
	auto kinds = deserializer.ReadProperty<vector<uint8_t>>(301, "kinds");
	auto key_counts = deserializer.ReadProperty<vector<idx_t>>(302, "key_counts");
	auto filter_counts = deserializer.ReadProperty<vector<idx_t>>(303, "filter_counts");
	auto column_counts = deserializer.ReadProperty<vector<idx_t>>(304, "column_counts");
	auto expressions = deserializer.ReadProperty<vector<unique_ptr<Expression>>>(305, "expressions");
	auto in_order = deserializer.ReadProperty<bool>(306, "in_order");
	auto outputs = TakeApart(expressions, kinds, {key_counts, filter_counts, column_counts});
	return make_uniq<LogicalExchangeSink>(std::move(outputs), in_order);
}

LogicalExchangeSource::LogicalExchangeSource(idx_t input, ReadOrder order, vector<ColumnBinding> bindings,
											 vector<LogicalType> column_types, vector<SortColumn> sort_columns)
	: input_(input), order_(order), bindings_(std::move(bindings)), column_types_(std::move(column_types)),
	  sort_columns_(std::move(sort_columns)) {
}

string LogicalExchangeSource::GetExtensionName() const {
	return EXTENSION_NAME;
}

vector<idx_t> LogicalExchangeSource::GetTableIndex() const {
	vector<idx_t> result;
	for (auto &binding : bindings_) {
		if (std::find(result.begin(), result.end(), binding.table_index) == result.end()) {
			result.push_back(binding.table_index);
		}
	}
	return result;
}

PhysicalOperator &LogicalExchangeSource::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	auto input = input_;
	auto get_input = [input](ClientContext &task_context) { return TaskChannels::Get(task_context)->inputs[input]; };
	return planner.Make<PhysicalExchangeSource>(column_types_, order_, sort_columns_, std::move(get_input),
												estimated_cardinality);
}

void LogicalExchangeSource::Serialize(Serializer &serializer) const {
	LogicalExtensionOperator::Serialize(serializer);
	serializer.WriteProperty(300, "node_kind", static_cast<uint8_t>(NodeKind::SOURCE));
	serializer.WriteProperty(301, "input", input_);
	serializer.WriteProperty(302, "order", static_cast<uint8_t>(order_));
	vector<idx_t> tables, columns;
	for (auto &binding : bindings_) {
		tables.push_back(binding.table_index);
		columns.push_back(binding.column_index);
	}
	serializer.WriteProperty(303, "binding_tables", tables);
	serializer.WriteProperty(304, "binding_columns", columns);
	serializer.WriteProperty(305, "column_types", column_types_);
	vector<idx_t> sort_columns;
	vector<uint8_t> sort_directions, sort_nulls;
	for (auto &column : sort_columns_) {
		sort_columns.push_back(column.column);
		sort_directions.push_back(static_cast<uint8_t>(column.modifiers.order_type));
		sort_nulls.push_back(static_cast<uint8_t>(column.modifiers.null_type));
	}
	serializer.WriteProperty(306, "sort_columns", sort_columns);
	serializer.WriteProperty(307, "sort_directions", sort_directions);
	serializer.WriteProperty(308, "sort_nulls", sort_nulls);
}

unique_ptr<LogicalExtensionOperator> LogicalExchangeSource::DeserializeFields(Deserializer &deserializer) {
	auto input = deserializer.ReadProperty<idx_t>(301, "input");
	auto order = static_cast<ReadOrder>(deserializer.ReadProperty<uint8_t>(302, "order"));
	auto tables = deserializer.ReadProperty<vector<idx_t>>(303, "binding_tables");
	auto columns = deserializer.ReadProperty<vector<idx_t>>(304, "binding_columns");
	auto types = deserializer.ReadProperty<vector<LogicalType>>(305, "column_types");
	auto sort_columns = deserializer.ReadProperty<vector<idx_t>>(306, "sort_columns");
	auto directions = deserializer.ReadProperty<vector<uint8_t>>(307, "sort_directions");
	auto nulls = deserializer.ReadProperty<vector<uint8_t>>(308, "sort_nulls");
	vector<ColumnBinding> bindings;
	for (idx_t i = 0; i < tables.size(); i++) {
		bindings.emplace_back(tables[i], columns[i]);
	}
	vector<SortColumn> sort;
	for (idx_t i = 0; i < sort_columns.size(); i++) {
		sort.push_back({sort_columns[i],
						OrderModifiers(static_cast<OrderType>(directions[i]), static_cast<OrderByNullType>(nulls[i]))});
	}
	return make_uniq<LogicalExchangeSource>(input, order, std::move(bindings), std::move(types), std::move(sort));
}

LogicalRuntimeFilter::LogicalRuntimeFilter(vector<unique_ptr<Expression>> keys)
	: LogicalExtensionOperator(std::move(keys)) {
}

PhysicalOperator &LogicalRuntimeFilter::CreatePlan(ClientContext &context, PhysicalPlanGenerator &planner) {
	auto &rows = planner.CreatePlan(*children[0]);
	auto &hashes = planner.CreatePlan(*children[1]);
	return planner.Make<PhysicalRuntimeFilter>(rows, hashes, CopyAll(expressions), estimated_cardinality);
}

void LogicalRuntimeFilter::ResolveColumnBindings(ColumnBindingResolver &resolver, vector<ColumnBinding> &bindings) {
	resolver.VisitOperator(*children[1]);
	// The keys are columns of the rows, which therefore come last.
	resolver.VisitOperator(*children[0]);
	for (auto &key : expressions) {
		resolver.VisitExpression(&key);
	}
	bindings = GetColumnBindings();
}

string LogicalRuntimeFilter::GetExtensionName() const {
	return EXTENSION_NAME;
}

void LogicalRuntimeFilter::Serialize(Serializer &serializer) const {
	LogicalExtensionOperator::Serialize(serializer);
	serializer.WriteProperty(300, "node_kind", static_cast<uint8_t>(NodeKind::RUNTIME_FILTER));
	serializer.WriteProperty(301, "keys", expressions);
}

unique_ptr<LogicalExtensionOperator> LogicalRuntimeFilter::DeserializeFields(Deserializer &deserializer) {
	return make_uniq<LogicalRuntimeFilter>(deserializer.ReadProperty<vector<unique_ptr<Expression>>>(301, "keys"));
}

} // namespace skein
