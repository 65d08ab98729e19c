#include "engine/aggregate_lists.hpp"

#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "engine/inner_aggregate.hpp"

#include <unordered_set>

namespace skein {

using namespace duckdb;

namespace {

//! Elements of lists, until there are enough for a vector.
class Elements {
public:
	Elements(Vector inputs[], AggregateInputData &input)
		: inner_(InnerAggregate::Get(input)), inner_input_(inner_.Input(input)),
		  elements_(ListVector::GetEntry(inputs[0])), limits_(inputs[1]), states_(LogicalType::POINTER) {
	}

	void Add(idx_t element, idx_t row, data_ptr_t state) {
		element_sel_.set_index(count_, element);
		row_sel_.set_index(count_, row);
		FlatVector::GetData<data_ptr_t>(states_)[count_] = state;
		count_++;
		if (count_ == STANDARD_VECTOR_SIZE) {
			Update();
		}
	}

	//! Updates the states with what has been added.
	void Update() {
		if (count_ == 0) {
			return;
		}
		Vector elements(elements_, element_sel_, count_);
		elements.Flatten(count_);
		vector<Vector> inputs;
		if (inner_.input_types.size() > 2) {
			for (auto &field : StructVector::GetEntries(elements)) {
				inputs.emplace_back(*field);
			}
		} else {
			inputs.emplace_back(elements);
		}
		inputs.emplace_back(limits_, row_sel_, count_);
		inner_.function.GetStateUpdateCallback()(inputs.data(), inner_input_, inputs.size(), states_, count_);
		count_ = 0;
	}

private:
	const InnerAggregate &inner_;
	AggregateInputData inner_input_;
	Vector &elements_;
	Vector &limits_;
	SelectionVector element_sel_{STANDARD_VECTOR_SIZE};
	SelectionVector row_sel_{STANDARD_VECTOR_SIZE};
	Vector states_;
	idx_t count_ = 0;
};

void UpdateByElements(Vector inputs[], AggregateInputData &input, idx_t input_count, Vector &states, idx_t count) {
	UnifiedVectorFormat list_format;
	UnifiedVectorFormat state_format;
	inputs[0].ToUnifiedFormat(count, list_format);
	states.ToUnifiedFormat(count, state_format);
	auto lists = UnifiedVectorFormat::GetData<list_entry_t>(list_format);
	auto pointers = UnifiedVectorFormat::GetData<data_ptr_t>(state_format);
	Elements elements(inputs, input);
	for (idx_t row = 0; row < count; row++) {
		auto index = list_format.sel->get_index(row);
		// NULL: a part without rows.
		if (!list_format.validity.RowIsValid(index)) {
			continue;
		}
		for (idx_t i = 0; i < lists[index].length; i++) {
			elements.Add(lists[index].offset + i, row, pointers[state_format.sel->get_index(row)]);
		}
	}
	elements.Update();
}

void UpdateOneByElements(Vector inputs[], AggregateInputData &input, idx_t input_count, data_ptr_t state, idx_t count) {
	Vector states(Value::POINTER(CastPointerToValue(state)));
	UpdateByElements(inputs, input, input_count, states, count);
}

unique_ptr<FunctionData> Bind(AggregateFunction &function, duckdb::shared_ptr<InnerAggregate> inner) {
	function.SetReturnType(inner->function.GetReturnType());
	return BindInner(function, std::move(inner));
}

void WriteInner(Serializer &serializer, const optional_ptr<FunctionData>, const AggregateFunction &function) {
	inner_aggregate::Write(serializer, function);
}

unique_ptr<FunctionData> ReadInner(Deserializer &deserializer, AggregateFunction &function) {
	return Bind(function, inner_aggregate::Read(deserializer, KeepsFirstRows));
}

} // namespace

AggregateFunction GetFinalOfLists() {
	AggregateFunction function(
		FINAL_OF_LISTS, {LogicalType::ANY, LogicalType::BIGINT}, LogicalType::ANY, inner_aggregate::StateSize,
		inner_aggregate::StateInitialize, UpdateByElements, inner_aggregate::StateCombine, inner_aggregate::Finalize,
		FunctionNullHandling::SPECIAL_HANDLING, UpdateOneByElements, inner_aggregate::RefuseToBind);
	function.SetSerializeCallback(WriteInner);
	function.SetDeserializeCallback(ReadInner);
	function.SetFallible();
	return function;
}

// Their states keep everything in the arena: the destructors that DuckDB gives them have nothing to do.
bool KeepsFirstRows(const AggregateFunction &function) {
	static const std::unordered_set<string> NAMES{"min",
												  "max",
												  "arg_min",
												  "argmin",
												  "min_by",
												  "arg_max",
												  "argmax",
												  "max_by",
												  "arg_min_nulls_last",
												  "arg_max_nulls_last"};
	auto arguments = function.name == "min" || function.name == "max" ? 2 : 3;
	return NAMES.count(function.name) > 0 && function.arguments.size() == static_cast<size_t>(arguments);
}

unique_ptr<Expression> MakeFinalOfLists(ClientContext &context, const BoundAggregateExpression &inner,
										unique_ptr<Expression> lists) {
	auto function = LookUpAggregate(context, FINAL_OF_LISTS);
	auto bind_data = Bind(function, InnerAggregate::Of(inner));
	vector<unique_ptr<Expression>> inputs;
	inputs.push_back(std::move(lists));
	inputs.push_back(inner.children.back()->Copy());
	return make_uniq<BoundAggregateExpression>(std::move(function), std::move(inputs), nullptr, std::move(bind_data),
											   AggregateType::NON_DISTINCT);
}

} // namespace skein
