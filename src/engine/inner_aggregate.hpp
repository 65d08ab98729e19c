#pragma once

#include "duckdb.hpp"
#include "duckdb/function/aggregate_function.hpp"

#include <functional>
#include <string>

namespace duckdb {
class BoundAggregateExpression;
} // namespace duckdb

namespace skein {

//! An aggregate, bound, that another one computes with: its state is the other's state. Shared by all copies of the
//! other function; immutable.
struct InnerAggregate : public duckdb::AggregateFunctionInfo {
	InnerAggregate(duckdb::AggregateFunction function, duckdb::unique_ptr<duckdb::FunctionData> bind_data,
				   duckdb::vector<duckdb::LogicalType> input_types);

	//! Copies what `aggregate` calls.
	static duckdb::shared_ptr<InnerAggregate> Of(const duckdb::BoundAggregateExpression &aggregate);

	//! Of a function that BindInner() has bound.
	static InnerAggregate &Get(const duckdb::AggregateFunction &function);
	static InnerAggregate &Get(const duckdb::AggregateInputData &input);

	//! What the inner aggregate's own callbacks are called with.
	duckdb::AggregateInputData Input(duckdb::AggregateInputData &input) const;

	const duckdb::AggregateFunction function;
	const duckdb::unique_ptr<duckdb::FunctionData> bind_data;
	//! The types of the inputs, which an argument type ANY of the function does not tell.
	const duckdb::vector<duckdb::LogicalType> input_types;
	const duckdb::idx_t state_size;
};

//! Callbacks of a function around an inner aggregate. There is none that destroys states, for states may outlive the
//! bind data: what an inner aggregate's states hold has to be in the arena.
namespace inner_aggregate {

duckdb::idx_t StateSize(const duckdb::AggregateFunction &function);
void StateInitialize(const duckdb::AggregateFunction &function, duckdb::data_ptr_t state);
void StateCombine(duckdb::Vector &source, duckdb::Vector &target, duckdb::AggregateInputData &input,
				  duckdb::idx_t count);
//! The inner aggregate's result.
void Finalize(duckdb::Vector &states, duckdb::AggregateInputData &input, duckdb::Vector &result, duckdb::idx_t count,
			  duckdb::idx_t offset);
//! SQL cannot call these functions.
duckdb::unique_ptr<duckdb::FunctionData>
RefuseToBind(duckdb::ClientContext &context, duckdb::AggregateFunction &function,
			 duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> &arguments);

//! The inner aggregate by name and argument types.
void Write(duckdb::Serializer &serializer, const duckdb::AggregateFunction &function);
//! Binds it again under the reader's context. Throws SerializationException if its state has another size here, or if
//! `accepts` does not accept it.
duckdb::shared_ptr<InnerAggregate> Read(duckdb::Deserializer &deserializer,
										const std::function<bool(const duckdb::AggregateFunction &)> &accepts);

} // namespace inner_aggregate

//! Lets a function as the catalog has it compute with `inner`; returns its bind data.
duckdb::unique_ptr<duckdb::FunctionData> BindInner(duckdb::AggregateFunction &function,
												   duckdb::shared_ptr<InnerAggregate> inner);

//! The only overload of a function of the system catalog.
duckdb::AggregateFunction LookUpAggregate(duckdb::ClientContext &context, const std::string &name);

} // namespace skein
