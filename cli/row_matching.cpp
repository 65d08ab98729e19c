#include "row_matching.hpp"

#include "duckdb/common/type_visitor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace skein::cli {
namespace {

using duckdb::idx_t;
using duckdb::LogicalTypeId;
using duckdb::Value;

constexpr double RELATIVE_TOLERANCE = 1e-9;
constexpr size_t MAX_ROW_TEXT = 300;
constexpr size_t NO_PARTNER = std::numeric_limits<size_t>::max();

bool DoublesAgree(double left, double right) {
	if (std::isnan(left) || std::isnan(right)) {
		return std::isnan(left) && std::isnan(right);
	}
	if (std::isinf(left) || std::isinf(right)) {
		return left == right;
	}
	return std::abs(left - right) <= RELATIVE_TOLERANCE * std::max(std::abs(left), std::abs(right));
}

bool ContainsDouble(const duckdb::LogicalType &type) {
	return duckdb::TypeVisitor::Contains(type, LogicalTypeId::DOUBLE);
}

const duckdb::vector<Value> &Children(const Value &value) {
	switch (value.type().InternalType()) {
	case duckdb::PhysicalType::LIST:
		return duckdb::ListValue::GetChildren(value);
	case duckdb::PhysicalType::ARRAY:
		return duckdb::ArrayValue::GetChildren(value);
	default:
		return duckdb::StructValue::GetChildren(value);
	}
}

//! Which columns must agree exactly, and which only nearly.
struct Columns {
	explicit Columns(const duckdb::vector<duckdb::LogicalType> &types) {
		for (idx_t column = 0; column < types.size(); column++) {
			(ContainsDouble(types[column]) ? near : exact).push_back(column);
			if (types[column].id() == LogicalTypeId::DOUBLE) {
				doubles.push_back(column);
			}
		}
	}
	std::vector<idx_t> exact;
	std::vector<idx_t> near;
	//! Those of `near` that are plain numbers.
	std::vector<idx_t> doubles;
};

//! A double so that all of them have one order: NULL and NaN as one, above all numbers.
double SortKey(const Value &value) {
	auto number = value.IsNull() ? std::numeric_limits<double>::quiet_NaN() : value.GetValue<double>();
	return std::isnan(number) ? std::numeric_limits<double>::infinity() : number;
}

//! The rows of both sides that agree in the exact columns.
struct Group {
	std::vector<size_t> rows;
	std::vector<size_t> candidates;
};

//! Finds partners inside one group.
class GroupMatching {
public:
	GroupMatching(const Columns &columns, const std::vector<Row> &rows, const std::vector<Row> &candidates,
				  Group &group)
		: columns_(columns), rows_(rows), candidates_(candidates), group_(group) {
	}

	//! As FindRowWithoutPartner(), for the group.
	std::optional<size_t> Find() {
		if (group_.rows.size() > group_.candidates.size()) {
			return group_.rows[group_.candidates.size()];
		}
		if (columns_.near.empty()) {
			return std::nullopt;
		}
		Sort(rows_, group_.rows);
		Sort(candidates_, group_.candidates);
		partner_of_candidate_.assign(group_.candidates.size(), NO_PARTNER);
		std::vector<size_t> left_over;
		for (size_t row = 0; row < group_.rows.size(); row++) {
			if (Agree(row, row)) {
				partner_of_candidate_[row] = row;
			} else {
				left_over.push_back(row);
			}
		}
		for (auto row : left_over) {
			visited_.assign(group_.candidates.size(), false);
			if (!Augment(row)) {
				return group_.rows[row];
			}
		}
		return std::nullopt;
	}

private:
	void Sort(const std::vector<Row> &rows, std::vector<size_t> &numbers) const {
		std::sort(numbers.begin(), numbers.end(), [&](size_t left, size_t right) {
			for (auto column : columns_.doubles) {
				auto left_key = SortKey(rows[left][column]);
				auto right_key = SortKey(rows[right][column]);
				if (left_key != right_key) {
					return left_key < right_key;
				}
			}
			return false;
		});
	}

	//! Row and candidate by their place in the sorted group.
	bool Agree(size_t row, size_t candidate) const {
		auto &left = rows_[group_.rows[row]];
		auto &right = candidates_[group_.candidates[candidate]];
		return std::all_of(columns_.near.begin(), columns_.near.end(),
						   [&](idx_t column) { return ValuesAgree(left[column], right[column]); });
	}

	//! The places of the candidates that may agree with `row`: those near to it in the column sorted by first.
	std::pair<size_t, size_t> Window(size_t row) const {
		if (columns_.doubles.empty()) {
			return {0, group_.candidates.size()};
		}
		auto column = columns_.doubles.front();
		auto key = SortKey(rows_[group_.rows[row]][column]);
		auto margin = std::isinf(key) ? 0 : 2 * RELATIVE_TOLERANCE * std::abs(key);
		auto begin = std::partition_point(group_.candidates.begin(), group_.candidates.end(), [&](size_t candidate) {
			return SortKey(candidates_[candidate][column]) < key - margin;
		});
		auto end = std::partition_point(begin, group_.candidates.end(), [&](size_t candidate) {
			return SortKey(candidates_[candidate][column]) <= key + margin;
		});
		return {begin - group_.candidates.begin(), end - group_.candidates.begin()};
	}

	//! Finds a partner for `row`, moving rows that have one to another where needed.
	//! The path is kept in a list instead of the stack, as it may be as long as the group.
	bool Augment(size_t row) {
		struct Step {
			size_t row;
			size_t next;
			size_t end;
			size_t candidate;
		};
		std::vector<Step> path;
		auto push = [&](size_t next_row) {
			auto [begin, end] = Window(next_row);
			path.push_back({next_row, begin, end, NO_PARTNER});
		};
		push(row);
		while (!path.empty()) {
			auto &step = path.back();
			while (step.next < step.end && (visited_[step.next] || !Agree(step.row, step.next))) {
				step.next++;
			}
			if (step.next == step.end) {
				path.pop_back();
				continue;
			}
			step.candidate = step.next++;
			visited_[step.candidate] = true;
			auto owner = partner_of_candidate_[step.candidate];
			if (owner == NO_PARTNER) {
				for (auto &taken : path) {
					partner_of_candidate_[taken.candidate] = taken.row;
				}
				return true;
			}
			push(owner);
		}
		return false;
	}

	const Columns &columns_;
	const std::vector<Row> &rows_;
	const std::vector<Row> &candidates_;
	Group &group_;
	std::vector<size_t> partner_of_candidate_;
	std::vector<bool> visited_;
};

//! Groups rows by the columns that must agree exactly, and by which of the others are NULL.
class Grouping {
public:
	explicit Grouping(const Columns &columns) : columns_(columns) {
	}

	std::vector<Group> Build(const std::vector<Row> &rows, const std::vector<Row> &candidates) {
		for (size_t number = 0; number < rows.size(); number++) {
			Find(rows[number]).rows.push_back(number);
		}
		for (size_t number = 0; number < candidates.size(); number++) {
			Find(candidates[number]).candidates.push_back(number);
		}
		return std::move(groups_);
	}

private:
	Group &Find(const Row &row) {
		auto hash = Hash(row);
		auto [begin, end] = by_hash_.equal_range(hash);
		for (auto entry = begin; entry != end; ++entry) {
			if (SameGroup(*examples_[entry->second], row)) {
				return groups_[entry->second];
			}
		}
		by_hash_.emplace(hash, groups_.size());
		examples_.push_back(&row);
		return groups_.emplace_back();
	}

	duckdb::hash_t Hash(const Row &row) const {
		duckdb::hash_t hash = 0;
		for (auto column : columns_.exact) {
			hash = duckdb::CombineHash(hash, row[column].Hash());
		}
		for (auto column : columns_.near) {
			hash = duckdb::CombineHash(hash, duckdb::Hash<bool>(row[column].IsNull()));
		}
		return hash;
	}

	bool SameGroup(const Row &left, const Row &right) const {
		return std::all_of(columns_.exact.begin(), columns_.exact.end(),
						   [&](idx_t column) { return ValuesAgree(left[column], right[column]); }) &&
			   std::all_of(columns_.near.begin(), columns_.near.end(),
						   [&](idx_t column) { return left[column].IsNull() == right[column].IsNull(); });
	}

	const Columns &columns_;
	std::vector<Group> groups_;
	//! Any row of each group.
	std::vector<const Row *> examples_;
	std::unordered_multimap<duckdb::hash_t, size_t> by_hash_;
};

} // namespace

bool ValuesAgree(const Value &left, const Value &right) {
	if (left.IsNull() || right.IsNull()) {
		return left.IsNull() && right.IsNull();
	}
	if (left.type().id() == LogicalTypeId::DOUBLE) {
		return DoublesAgree(left.GetValue<double>(), right.GetValue<double>());
	}
	if (!ContainsDouble(left.type())) {
		return Value::NotDistinctFrom(left, right);
	}
	auto &left_children = Children(left);
	auto &right_children = Children(right);
	return std::equal(left_children.begin(), left_children.end(), right_children.begin(), right_children.end(),
					  ValuesAgree);
}

std::optional<size_t> FindRowWithoutPartner(const duckdb::vector<duckdb::LogicalType> &types,
											const std::vector<Row> &rows, const std::vector<Row> &candidates) {
	Columns columns(types);
	for (auto &group : Grouping(columns).Build(rows, candidates)) {
		if (auto row = GroupMatching(columns, rows, candidates, group).Find()) {
			return row;
		}
	}
	return std::nullopt;
}

std::string RowText(const Row &row) {
	std::string text;
	for (auto &value : row) {
		text += (text.empty() ? "(" : ", ") + value.ToString();
	}
	text += ")";
	if (text.size() > MAX_ROW_TEXT) {
		text.resize(MAX_ROW_TEXT);
		text += "...";
	}
	return text;
}

} // namespace skein::cli
