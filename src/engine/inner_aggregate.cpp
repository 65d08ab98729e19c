#include "engine/inner_aggregate.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/aggregate_function_catalog_entry.hpp"
#include "duckdb/function/function_serialization.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"

#include <cstring>

namespace skein {

using namespace duckdb;

namespace {

//! Gives the callbacks that see no function, only bind data, the inner aggregate.
struct InnerBindData : public FunctionData {
	explicit InnerBindData(duckdb::shared_ptr<InnerAggregate> inner_p) : inner(std::move(inner_p)) {
	}

	unique_ptr<FunctionData> Copy() const override {
		return make_uniq<InnerBindData>(inner);
	}
	bool Equals(const FunctionData &other_p) const override {
		auto &other = other_p.Cast<InnerBindData>();
		auto &left = *inner;
		auto &right = *other.inner;
		return &left == &right ||
			   (left.function == right.function && left.function.GetReturnType() == right.function.GetReturnType() &&
				left.input_types == right.input_types &&
				FunctionData::Equals(left.bind_data.get(), right.bind_data.get()));
	}

	duckdb::shared_ptr<InnerAggregate> inner;
};

} // namespace

InnerAggregate::InnerAggregate(AggregateFunction function_p, unique_ptr<FunctionData> bind_data_p,
							   vector<LogicalType> input_types_p)
	: function(std::move(function_p)), bind_data(std::move(bind_data_p)), input_types(std::move(input_types_p)),
	  state_size(function.GetStateSizeCallback()(function)) {
}

duckdb::shared_ptr<InnerAggregate> InnerAggregate::Of(const BoundAggregateExpression &aggregate) {
	vector<LogicalType> input_types;
	for (auto &child : aggregate.children) {
		input_types.push_back(child->return_type);
	}
	return make_shared_ptr<InnerAggregate>(
		aggregate.function, aggregate.bind_info ? aggregate.bind_info->Copy() : nullptr, std::move(input_types));
}

InnerAggregate &InnerAggregate::Get(const AggregateFunction &function) {
	if (!function.function_info) {
		throw InternalException("%s was not bound to an inner aggregate", function.name);
	}
	return function.function_info->Cast<InnerAggregate>();
}

InnerAggregate &InnerAggregate::Get(const AggregateInputData &input) {
	return *input.bind_data->Cast<InnerBindData>().inner;
}

AggregateInputData InnerAggregate::Input(AggregateInputData &input) const {
	return AggregateInputData(bind_data.get(), input.allocator, input.combine_type);
}

namespace inner_aggregate {

idx_t StateSize(const AggregateFunction &function) {
	return InnerAggregate::Get(function).state_size;
}

void StateInitialize(const AggregateFunction &function, data_ptr_t state) {
	auto &inner = InnerAggregate::Get(function);
	// Padding and fields that are not set yet may travel: they must not show what the memory held before.
	std::memset(state, 0, inner.state_size);
	inner.function.GetStateInitCallback()(inner.function, state);
}

void StateCombine(Vector &source, Vector &target, AggregateInputData &input, idx_t count) {
	auto &inner = InnerAggregate::Get(input);
	auto inner_input = inner.Input(input);
	inner.function.GetStateCombineCallback()(source, target, inner_input, count);
}

void Finalize(Vector &states, AggregateInputData &input, Vector &result, idx_t count, idx_t offset) {
	auto &inner = InnerAggregate::Get(input);
	auto inner_input = inner.Input(input);
	inner.function.GetStateFinalizeCallback()(states, inner_input, result, count, offset);
}

unique_ptr<FunctionData> RefuseToBind(ClientContext &, AggregateFunction &function, vector<unique_ptr<Expression>> &) {
	throw BinderException("%s is for internal use only!", function.name);
}

void Write(Serializer &serializer, const AggregateFunction &function) {
	auto &inner = InnerAggregate::Get(function);
	serializer.WriteProperty(100, "input_types", inner.input_types);
	serializer.WriteProperty(101, "return_type", inner.function.GetReturnType());
	serializer.WriteProperty<uint64_t>(102, "state_size", inner.state_size);
	serializer.WriteObject(103, "inner", [&](Serializer &object) {
		FunctionSerializer::Serialize(object, inner.function, inner.bind_data.get());
	});
}

duckdb::shared_ptr<InnerAggregate> Read(Deserializer &deserializer,
										const std::function<bool(const AggregateFunction &)> &accepts) {
	auto input_types = deserializer.ReadProperty<vector<LogicalType>>(100, "input_types");
	auto return_type = deserializer.ReadProperty<LogicalType>(101, "return_type");
	auto state_size = deserializer.ReadProperty<uint64_t>(102, "state_size");

	vector<unique_ptr<Expression>> inputs;
	for (idx_t i = 0; i < input_types.size(); i++) {
		inputs.push_back(make_uniq<BoundReferenceExpression>(input_types[i], i));
	}
	duckdb::shared_ptr<InnerAggregate> inner;
	deserializer.ReadObject(103, "inner", [&](Deserializer &object) {
		auto bound = FunctionSerializer::Deserialize<AggregateFunction, AggregateFunctionCatalogEntry>(
			object, CatalogType::AGGREGATE_FUNCTION_ENTRY, inputs, return_type);
		if (!accepts(bound.first)) {
			throw SerializationException("The state of %s cannot travel as bytes", bound.first.name);
		}
		inner = make_shared_ptr<InnerAggregate>(std::move(bound.first), std::move(bound.second), input_types);
	});
	if (inner->state_size != state_size || inner->function.GetReturnType() != return_type) {
		throw SerializationException(
			"The state of %s differs between the nodes: run the same build of DuckDB on all of them",
			inner->function.name);
	}
	return inner;
}

} // namespace inner_aggregate

unique_ptr<FunctionData> BindInner(AggregateFunction &function, duckdb::shared_ptr<InnerAggregate> inner) {
	auto bind_data = make_uniq<InnerBindData>(inner);
	function.function_info = std::move(inner);
	return bind_data;
}

AggregateFunction LookUpAggregate(ClientContext &context, const std::string &name) {
	auto &entry =
		Catalog::GetSystemCatalog(context).GetEntry<AggregateFunctionCatalogEntry>(context, DEFAULT_SCHEMA, name);
	return entry.functions.GetFunctionByOffset(0);
}

} // namespace skein
