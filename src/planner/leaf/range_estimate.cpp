#include "planner/leaf/range_estimate.hpp"

#include "duckdb/common/types/hugeint.hpp"
#include "duckdb/common/types/interval.hpp"
#include "duckdb/common/types/timestamp.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *SERIES = "generate_series";

//! The numbers first, first + step, ..., as many as `count`; or times, in microseconds.
struct Numbers {
	hugeint_t first = 0;
	hugeint_t step = 1;
	idx_t count = 0;
	//! Of times, as the query has it.
	std::optional<interval_t> interval;

	//! Number `position`.
	int64_t At(idx_t position) const {
		return Hugeint::Cast<int64_t>(first + step * hugeint_t(static_cast<int64_t>(position)));
	}
	//! A number as an argument of the function.
	Value ToValue(int64_t number) const {
		return interval ? Value::TIMESTAMP(timestamp_t(number)) : Value::BIGINT(number);
	}
	Value StepValue() const {
		return interval ? Value::INTERVAL(*interval) : Value::BIGINT(Hugeint::Cast<int64_t>(step));
	}
};

//! From `first`, as far as `end`; nothing if there is none.
std::optional<Numbers> Count(Numbers numbers, const hugeint_t &end, bool with_end) {
	if (numbers.step == 0) {
		return std::nullopt;
	}
	auto up = numbers.step > 0;
	auto distance = up ? end - numbers.first : numbers.first - end;
	auto width = up ? numbers.step : -numbers.step;
	distance += with_end ? 1 : 0;
	if (distance <= 0) {
		return std::nullopt;
	}
	auto count = (distance + width - 1) / width;
	if (count > hugeint_t(NumericLimits<int64_t>::Maximum())) {
		return std::nullopt;
	}
	numbers.count = Hugeint::Cast<idx_t>(count);
	return numbers;
}

//! The same of times. DuckDB adds the step again and again: days and less add up to the same, months, which end on
//! different days, do not. It fails if the step has parts of both signs.
std::optional<Numbers> TimesOf(const vector<Value> &arguments, bool with_end) {
	auto start = arguments[0].GetValue<timestamp_t>();
	auto end = arguments[1].GetValue<timestamp_t>();
	auto step = arguments[2].GetValue<interval_t>();
	auto mixed = (step.days < 0 && step.micros > 0) || (step.days > 0 && step.micros < 0);
	if (step.months != 0 || mixed || !Timestamp::IsFinite(start) || !Timestamp::IsFinite(end)) {
		return std::nullopt;
	}
	Numbers result;
	result.first = start.value;
	result.step = hugeint_t(step.days) * hugeint_t(Interval::MICROS_PER_DAY) + hugeint_t(step.micros);
	result.interval = step;
	return Count(result, hugeint_t(end.value), with_end);
}

//! What the function counts with these arguments; nothing if DuckDB counts nothing, or fails.
std::optional<Numbers> NumbersOf(const vector<Value> &arguments, bool with_end) {
	if (arguments.empty() || arguments.size() > 3 ||
		std::any_of(arguments.begin(), arguments.end(), [](auto &it) { return it.IsNull(); })) {
		return std::nullopt;
	}
	if (arguments.size() == 3 && arguments[0].type() == LogicalType::TIMESTAMP) {
		return TimesOf(arguments, with_end);
	}
	vector<hugeint_t> values;
	for (auto &argument : arguments) {
		if (argument.type().id() != LogicalTypeId::BIGINT) {
			return std::nullopt;
		}
		values.emplace_back(argument.GetValue<int64_t>());
	}
	Numbers result;
	auto end = values.size() == 1 ? values[0] : values[1];
	result.first = values.size() == 1 ? hugeint_t(0) : values[0];
	result.step = values.size() == 3 ? values[2] : hugeint_t(1);
	return Count(result, end, with_end);
}

class RangeEstimate final : public LeafEstimate {
public:
	RangeEstimate(const LeafQuestion &question, const LogicalGet &get, Numbers numbers, bool as_often_as_allowed)
		: context_(question.context), get_(get), numbers_(numbers), with_end_(get.function.name == SERIES) {
		tasks_.maximum = std::min<idx_t>(numbers.count, NumericLimits<uint32_t>::Maximum());
		auto by_bytes = (Bytes() + question.bytes_per_task - 1) / question.bytes_per_task;
		tasks_.desired = as_often_as_allowed ? question.max_tasks : by_bytes;
	}

	TaskCount Tasks() const override {
		return tasks_;
	}
	uint64_t Bytes() const override {
		return numbers_.count > NumericLimits<idx_t>::Maximum() / sizeof(int64_t) ? NumericLimits<idx_t>::Maximum()
																				  : numbers_.count * sizeof(int64_t);
	}
	std::vector<LeafVariant> MakeVariants(size_t tasks) override {
		std::vector<LeafVariant> result;
		idx_t from = 0;
		for (size_t task = 0; task < tasks; task++) {
			auto to = from + numbers_.count / tasks + (task < numbers_.count % tasks ? 1 : 0);
			result.push_back(MakeVariant(from, to));
			from = to;
		}
		return result;
	}
	bool MayRepeat() const override {
		return true;
	}

private:
	LeafVariant MakeVariant(idx_t from, idx_t to) {
		// The end may be one step beyond the last number, which may be no BIGINT.
		auto whole = from == 0 && to == numbers_.count;
		auto plan = get_.Copy(context_);
		auto &get = plan->Cast<LogicalGet>();
		if (!whole) {
			auto last = numbers_.At(to - 1);
			auto end = with_end_ ? last : (numbers_.step > 0 ? last + 1 : last - 1);
			get.parameters = {numbers_.ToValue(numbers_.At(from)), numbers_.ToValue(end), numbers_.StepValue()};
			get.function.arguments.clear();
			for (auto &parameter : get.parameters) {
				get.function.arguments.push_back(parameter.type());
			}
		}
		get.SetEstimatedCardinality(to - from);
		LeafVariant variant;
		variant.text = get.function.name + "(" + numbers_.ToValue(numbers_.At(from)).ToString() + " to " +
					   numbers_.ToValue(numbers_.At(to - 1)).ToString() + ")";
		variant.rows = to - from;
		variant.bytes = (to - from) * sizeof(int64_t);
		variant.plan = std::move(plan);
		return variant;
	}

	ClientContext &context_;
	const LogicalGet &get_;
	const Numbers numbers_;
	const bool with_end_;
	TaskCount tasks_;
};

} // namespace

std::unique_ptr<LeafEstimate> EstimateRange(const LeafQuestion &question, LogicalGet &get, bool as_often_as_allowed,
											string &reason) {
	auto &name = get.function.name;
	if ((name != "range" && name != SERIES) || !get.function.in_out_function || !get.children.empty()) {
		return nullptr;
	}
	if (get.ordinality_idx.IsValid()) {
		reason = name + " WITH ORDINALITY numbers its rows";
		return nullptr;
	}
	auto numbers = NumbersOf(get.parameters, name == SERIES);
	if (!numbers) {
		auto &step = get.parameters.back();
		auto months = step.type() == LogicalType::INTERVAL && !step.IsNull() && step.GetValue<interval_t>().months != 0;
		reason = name + (months ? ": the end of a month depends on the one before" : " has no numbers to divide");
		return nullptr;
	}
	return std::make_unique<RangeEstimate>(question, get, *numbers, as_often_as_allowed);
}

} // namespace skein
