#include "planner/leaf/range_estimate.hpp"

#include "duckdb/common/types/hugeint.hpp"
#include "duckdb/planner/operator/logical_get.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *SERIES = "generate_series";

//! The numbers first, first + step, ..., as many as `count`.
struct Numbers {
	hugeint_t first = 0;
	hugeint_t step = 1;
	idx_t count = 0;

	//! Number `position`.
	int64_t At(idx_t position) const {
		return Hugeint::Cast<int64_t>(first + step * hugeint_t(static_cast<int64_t>(position)));
	}
};

//! What the function counts with these arguments; nothing if DuckDB counts nothing, or fails.
std::optional<Numbers> NumbersOf(const vector<Value> &arguments, bool with_end) {
	vector<hugeint_t> values;
	for (auto &argument : arguments) {
		if (argument.IsNull() || argument.type().id() != LogicalTypeId::BIGINT) {
			return std::nullopt;
		}
		values.emplace_back(argument.GetValue<int64_t>());
	}
	if (values.empty() || values.size() > 3) {
		return std::nullopt;
	}
	Numbers result;
	auto end = values.size() == 1 ? values[0] : values[1];
	result.first = values.size() == 1 ? hugeint_t(0) : values[0];
	result.step = values.size() == 3 ? values[2] : hugeint_t(1);
	if (result.step == 0) {
		return std::nullopt;
	}
	auto up = result.step > 0;
	auto distance = up ? end - result.first : result.first - end;
	auto width = up ? result.step : -result.step;
	distance += with_end ? 1 : 0;
	if (distance <= 0) {
		return std::nullopt;
	}
	auto count = (distance + width - 1) / width;
	if (count > hugeint_t(NumericLimits<int64_t>::Maximum())) {
		return std::nullopt;
	}
	result.count = Hugeint::Cast<idx_t>(count);
	return result;
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
			get.parameters = {Value::BIGINT(numbers_.At(from)), Value::BIGINT(end),
							  Value::BIGINT(Hugeint::Cast<int64_t>(numbers_.step))};
			get.function.arguments = vector<LogicalType>(3, LogicalType::BIGINT);
		}
		get.SetEstimatedCardinality(to - from);
		LeafVariant variant;
		variant.text = get.function.name + "(" + std::to_string(numbers_.At(from)) + " to " +
					   std::to_string(numbers_.At(to - 1)) + ")";
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
		reason = name + " has no numbers to divide";
		return nullptr;
	}
	return std::make_unique<RangeEstimate>(question, get, *numbers, as_often_as_allowed);
}

} // namespace skein
