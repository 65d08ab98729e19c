#include "engine/aggregate_state.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/function/aggregate_function.hpp"
#include "duckdb/parser/parsed_data/create_aggregate_function_info.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "engine/aggregate_lists.hpp"
#include "engine/inner_aggregate.hpp"

#include <algorithm>
#include <cstring>

namespace skein {

using duckdb::AggregateFunction;
using duckdb::AggregateInputData;
using duckdb::BoundAggregateExpression;
using duckdb::ClientContext;
using duckdb::ConstantVector;
using duckdb::data_ptr_t;
using duckdb::Deserializer;
using duckdb::Expression;
using duckdb::FlatVector;
using duckdb::FunctionData;
using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::LogicalTypeId;
using duckdb::optional_ptr;
using duckdb::Serializer;
using duckdb::string_t;
using duckdb::unique_ptr;
using duckdb::Vector;
using duckdb::vector;
using duckdb::VectorType;

namespace {

//! One line of the list of aggregates with flat states: a name, and the argument types of each overload that has one.
struct FlatAggregates {
	std::vector<std::string> names;
	std::vector<std::vector<LogicalTypeId>> overloads;
};

//! Every state type behind these was read for pointers: each is a struct of numbers, or of such structs.
const std::vector<FlatAggregates> &FlatStates() {
	using T = LogicalTypeId;
	static const std::vector<FlatAggregates> states{
		{{"avg", "mean"},
		 {{T::SMALLINT},
		  {T::INTEGER},
		  {T::BIGINT},
		  {T::HUGEINT},
		  {T::DECIMAL},
		  {T::DOUBLE},
		  {T::INTERVAL},
		  {T::TIMESTAMP},
		  {T::TIMESTAMP_TZ},
		  {T::TIME},
		  {T::TIME_TZ}}},
		{{"favg", "fsum", "kahan_sum", "sumkahan", "product"}, {{T::DOUBLE}}},
		{{"stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "sem"}, {{T::DOUBLE}}},
		{{"skewness", "kurtosis", "kurtosis_pop"}, {{T::DOUBLE}}},
		{{"corr", "covar_pop", "covar_samp"}, {{T::DOUBLE, T::DOUBLE}}},
		{{"regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy",
		  "regr_syy"},
		 {{T::DOUBLE, T::DOUBLE}}},
		{{"approx_count_distinct"}, {{T::ANY}}},
	};
	return states;
}

bool Matches(const std::vector<LogicalTypeId> &overload, const vector<LogicalType> &arguments) {
	return std::equal(
		overload.begin(), overload.end(), arguments.begin(), arguments.end(),
		[](LogicalTypeId id, const LogicalType &type) { return id == LogicalTypeId::ANY || id == type.id(); });
}

//===--------------------------------------------------------------------===//
// PARTIAL_STATE: rows -> state -> bytes
//===--------------------------------------------------------------------===//

void PartialUpdate(Vector inputs[], AggregateInputData &input, idx_t input_count, Vector &states, idx_t count) {
	auto &inner = InnerAggregate::Get(input);
	auto inner_input = inner.Input(input);
	inner.function.GetStateUpdateCallback()(inputs, inner_input, input_count, states, count);
}

void PartialSimpleUpdate(Vector inputs[], AggregateInputData &input, idx_t input_count, data_ptr_t state, idx_t count) {
	auto &inner = InnerAggregate::Get(input);
	auto inner_input = inner.Input(input);
	if (inner.function.HasStateSimpleUpdateCallback()) {
		inner.function.GetStateSimpleUpdateCallback()(inputs, inner_input, input_count, state, count);
		return;
	}
	Vector states(duckdb::Value::POINTER(duckdb::CastPointerToValue(state)));
	inner.function.GetStateUpdateCallback()(inputs, inner_input, input_count, states, count);
}

void PartialFinalize(Vector &states, AggregateInputData &input, Vector &result, idx_t count, idx_t offset) {
	auto state_size = InnerAggregate::Get(input).state_size;
	auto copy_state = [&](data_ptr_t state) {
		return duckdb::StringVector::AddStringOrBlob(result, duckdb::const_char_ptr_cast(state), state_size);
	};
	if (states.GetVectorType() == VectorType::CONSTANT_VECTOR) {
		result.SetVectorType(VectorType::CONSTANT_VECTOR);
		*ConstantVector::GetData<string_t>(result) = copy_state(*ConstantVector::GetData<data_ptr_t>(states));
		return;
	}
	result.SetVectorType(VectorType::FLAT_VECTOR);
	auto state_pointers = FlatVector::GetData<data_ptr_t>(states);
	auto blobs = FlatVector::GetData<string_t>(result);
	for (idx_t i = 0; i < count; i++) {
		blobs[i + offset] = copy_state(state_pointers[i]);
	}
}

//===--------------------------------------------------------------------===//
// FINAL_STATE: bytes -> state -> result
//===--------------------------------------------------------------------===//

//! Combines the states in `blobs` into the states that `targets` points to, row by row. NULL is an empty part.
void CombineBlobs(Vector &blobs, AggregateInputData &input, Vector &targets, idx_t count) {
	auto &inner = InnerAggregate::Get(input);
	duckdb::UnifiedVectorFormat blob_format;
	duckdb::UnifiedVectorFormat target_format;
	blobs.ToUnifiedFormat(count, blob_format);
	targets.ToUnifiedFormat(count, target_format);
	auto blob_data = duckdb::UnifiedVectorFormat::GetData<string_t>(blob_format);
	auto target_data = duckdb::UnifiedVectorFormat::GetData<data_ptr_t>(target_format);

	// Strings begin at any address: the states are copied to where their alignment is right.
	auto words_per_state = (inner.state_size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	auto copies = duckdb::make_unsafe_uniq_array_uninitialized<uint64_t>(words_per_state * count);
	Vector source_vector(LogicalType::POINTER, count);
	Vector target_vector(LogicalType::POINTER, count);
	auto source_pointers = FlatVector::GetData<data_ptr_t>(source_vector);
	auto target_pointers = FlatVector::GetData<data_ptr_t>(target_vector);
	idx_t states = 0;
	for (idx_t i = 0; i < count; i++) {
		auto blob_index = blob_format.sel->get_index(i);
		if (!blob_format.validity.RowIsValid(blob_index)) {
			continue;
		}
		auto &blob = blob_data[blob_index];
		if (blob.GetSize() != inner.state_size) {
			throw duckdb::InvalidInputException("Partial state of %s has %llu bytes instead of %llu: the nodes run "
												"different builds of DuckDB, or the data is damaged",
												inner.function.name, blob.GetSize(), inner.state_size);
		}
		auto copy = reinterpret_cast<data_ptr_t>(copies.get() + states * words_per_state);
		std::memcpy(copy, blob.GetData(), inner.state_size);
		source_pointers[states] = copy;
		target_pointers[states] = target_data[target_format.sel->get_index(i)];
		states++;
	}
	auto inner_input = inner.Input(input);
	inner.function.GetStateCombineCallback()(source_vector, target_vector, inner_input, states);
}

void FinalUpdate(Vector inputs[], AggregateInputData &input, idx_t input_count, Vector &states, idx_t count) {
	CombineBlobs(inputs[0], input, states, count);
}

void FinalSimpleUpdate(Vector inputs[], AggregateInputData &input, idx_t input_count, data_ptr_t state, idx_t count) {
	Vector states(duckdb::Value::POINTER(duckdb::CastPointerToValue(state)));
	CombineBlobs(inputs[0], input, states, count);
}

//===--------------------------------------------------------------------===//
// Binding and serialisation
//===--------------------------------------------------------------------===//

//! Makes a bound function out of PARTIAL_STATE or FINAL_STATE as the catalog has it; returns its bind data.
unique_ptr<FunctionData> BindToInner(AggregateFunction &function, duckdb::shared_ptr<InnerAggregate> inner) {
	if (function.name == PARTIAL_STATE) {
		function.arguments = inner->input_types;
		function.varargs = LogicalType(LogicalTypeId::INVALID);
	} else {
		function.SetReturnType(inner->function.GetReturnType());
	}
	return BindInner(function, std::move(inner));
}

void WriteState(Serializer &serializer, const optional_ptr<FunctionData>, const AggregateFunction &function) {
	inner_aggregate::Write(serializer, function);
}

unique_ptr<FunctionData> ReadState(Deserializer &deserializer, AggregateFunction &function) {
	return BindToInner(function, inner_aggregate::Read(deserializer, HasFlatState));
}

AggregateFunction GetStateFunction(const char *name, duckdb::aggregate_update_t update,
								   duckdb::aggregate_simple_update_t simple_update,
								   duckdb::aggregate_finalize_t finalize) {
	AggregateFunction function(name, {}, LogicalType::BLOB, inner_aggregate::StateSize,
							   inner_aggregate::StateInitialize, update, inner_aggregate::StateCombine, finalize,
							   duckdb::FunctionNullHandling::SPECIAL_HANDLING, simple_update,
							   inner_aggregate::RefuseToBind);
	function.SetSerializeCallback(WriteState);
	function.SetDeserializeCallback(ReadState);
	function.SetFallible();
	return function;
}

AggregateFunction GetPartialState() {
	auto function = GetStateFunction(PARTIAL_STATE, PartialUpdate, PartialSimpleUpdate, PartialFinalize);
	function.varargs = LogicalType::ANY;
	return function;
}

AggregateFunction GetFinalState() {
	auto function = GetStateFunction(FINAL_STATE, FinalUpdate, FinalSimpleUpdate, inner_aggregate::Finalize);
	function.arguments = {LogicalType::BLOB};
	function.SetReturnType(LogicalType::ANY);
	return function;
}

//===--------------------------------------------------------------------===//
// SUM_COUNTS
//===--------------------------------------------------------------------===//

struct SumCountsOperation {
	static void Initialize(int64_t &state) {
		state = 0;
	}
	template <class INPUT_TYPE, class STATE, class OP>
	static void Operation(STATE &state, const INPUT_TYPE &input, duckdb::AggregateUnaryInput &) {
		state += input;
	}
	template <class INPUT_TYPE, class STATE, class OP>
	static void ConstantOperation(STATE &state, const INPUT_TYPE &input, duckdb::AggregateUnaryInput &, idx_t count) {
		state += input * static_cast<int64_t>(count);
	}
	template <class STATE, class OP>
	static void Combine(const STATE &source, STATE &target, AggregateInputData &) {
		target += source;
	}
	template <class TARGET, class STATE>
	static void Finalize(STATE &state, TARGET &target, duckdb::AggregateFinalizeData &) {
		target = state;
	}
	static bool IgnoreNull() {
		return true;
	}
};

AggregateFunction GetSumCounts() {
	auto function = AggregateFunction::UnaryAggregate<int64_t, int64_t, int64_t, SumCountsOperation>(
		LogicalType::BIGINT, LogicalType::BIGINT, duckdb::FunctionNullHandling::SPECIAL_HANDLING);
	function.name = SUM_COUNTS;
	function.SetOrderDependent(duckdb::AggregateOrderDependent::NOT_ORDER_DEPENDENT);
	return function;
}

} // namespace

void RegisterAggregateState(duckdb::DatabaseInstance &db) {
	auto &catalog = duckdb::Catalog::GetSystemCatalog(db);
	auto transaction = duckdb::CatalogTransaction::GetSystemTransaction(db);
	for (auto &function : {GetSumCounts(), GetPartialState(), GetFinalState(), GetFinalOfLists()}) {
		duckdb::CreateAggregateFunctionInfo info(function);
		info.on_conflict = duckdb::OnCreateConflict::IGNORE_ON_CONFLICT;
		catalog.CreateFunction(transaction, info);
	}
}

bool HasFlatState(const AggregateFunction &function) {
	if (function.HasStateDestructorCallback() || !function.HasStateCombineCallback()) {
		return false;
	}
	for (auto &line : FlatStates()) {
		if (std::find(line.names.begin(), line.names.end(), function.name) == line.names.end()) {
			continue;
		}
		return std::any_of(line.overloads.begin(), line.overloads.end(),
						   [&](auto &overload) { return Matches(overload, function.arguments); });
	}
	return false;
}

StateAggregates MakeStateAggregates(ClientContext &context, const BoundAggregateExpression &inner) {
	D_ASSERT(HasFlatState(inner.function));
	vector<unique_ptr<Expression>> inputs;
	for (auto &child : inner.children) {
		inputs.push_back(child->Copy());
	}
	auto shared_inner = InnerAggregate::Of(inner);

	StateAggregates result;
	auto function = LookUpAggregate(context, PARTIAL_STATE);
	auto bind_data = BindToInner(function, shared_inner);
	result.partial = duckdb::make_uniq<BoundAggregateExpression>(
		std::move(function), std::move(inputs), inner.filter ? inner.filter->Copy() : nullptr, std::move(bind_data),
		duckdb::AggregateType::NON_DISTINCT);
	result.make_final = [shared_inner](ClientContext &final_context, unique_ptr<Expression> partial_column) {
		auto final_function = LookUpAggregate(final_context, FINAL_STATE);
		auto final_bind_data = BindToInner(final_function, shared_inner);
		vector<unique_ptr<Expression>> final_inputs;
		final_inputs.push_back(std::move(partial_column));
		return duckdb::make_uniq<BoundAggregateExpression>(std::move(final_function), std::move(final_inputs), nullptr,
														   std::move(final_bind_data),
														   duckdb::AggregateType::NON_DISTINCT);
	};
	return result;
}

} // namespace skein
