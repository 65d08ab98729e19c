#include "planner/leaf/built_in_estimate.hpp"

#include "engine/hive_columns.hpp"
#include "engine/remote_files.hpp"
#include "planner/leaf/partitioned_estimate.hpp"
#include "planner/leaf/range_estimate.hpp"
#include "planner/leaf/scan_leaf.hpp"

#include "duckdb/planner/operator/logical_get.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! What EXPLAIN says of a variant is cut anyway.
constexpr size_t MAX_FILES_DESCRIBED = 16;

//! The file of which most is read; among equals the first.
string MainFile(const ScanLeaf &leaf, const vector<ScanUnit> &units) {
	size_t best = 0;
	idx_t best_bytes = 0;
	idx_t bytes = 0;
	for (size_t i = 0; i < units.size(); i++) {
		bytes = (i > 0 && units[i].file == units[i - 1].file ? bytes : 0) + units[i].bytes;
		if (bytes > best_bytes) {
			best = i;
			best_bytes = bytes;
		}
	}
	return units.empty() ? string() : leaf.OpenPath(units[best].file);
}

//! Whether values of this type are equal only if their texts are. A collation is no part of a path's type.
bool HasExactText(const LogicalType &type) {
	return type.IsIntegral() || type.id() == LogicalTypeId::VARCHAR || type.id() == LogicalTypeId::DATE ||
		   type.id() == LogicalTypeId::TIMESTAMP || type.id() == LogicalTypeId::BOOLEAN;
}

//! Two values have the same text only if they are the same, also with others behind them.
void AddText(const Value &value, PartitionValue &text) {
	if (value.IsNull()) {
		text += "NULL,";
		return;
	}
	auto own = value.ToString();
	text += std::to_string(own.size()) + ":" + own + ",";
}

class ScanEstimate final : public LeafEstimate, public PartitionedEstimate {
public:
	ScanEstimate(const LeafQuestion &question, std::shared_ptr<const ScanLeaf> leaf, bool as_often_as_allowed)
		: context_(question.context), get_(question.leaf.Cast<LogicalGet>()), leaf_(std::move(leaf)) {
		if (!leaf_->units.empty() && leaf_->QueryPath(0)) {
			FindPartitions(question.leaf.Cast<LogicalGet>());
		}
		tasks_.maximum = std::max<size_t>(1, leaf_->units.size());
		auto by_bytes = (leaf_->total_bytes + question.bytes_per_task - 1) / question.bytes_per_task;
		tasks_.desired = as_often_as_allowed ? question.max_tasks : by_bytes;
	}

	TaskCount Tasks() const override {
		return tasks_;
	}
	uint64_t Bytes() const override {
		return leaf_->total_bytes;
	}
	std::vector<LeafVariant> MakeVariants(size_t tasks) override {
		return ToVariants(DealUnits(leaf_->units, tasks));
	}
	bool MayRepeat() const override {
		return true;
	}

	vector<Column> PartitionColumns() const override {
		vector<Column> result;
		for (auto &column : partitions_) {
			result.push_back({column.binding, column.key});
		}
		return result;
	}
	std::map<PartitionValue, idx_t> Weigh(const vector<size_t> &columns) const override {
		std::map<PartitionValue, idx_t> result;
		ForEachUnit(columns, [&](const ScanUnit &unit, const PartitionValue &value) {
			result[value] += leaf_->total_bytes > 0 ? unit.bytes : unit.rows;
		});
		return result;
	}
	std::vector<LeafVariant> MakeVariants(const vector<size_t> &columns,
										  const std::map<PartitionValue, size_t> &task_of,
										  size_t tasks) const override {
		vector<vector<ScanUnit>> dealt(tasks);
		ForEachUnit(columns, [&](const ScanUnit &unit, const PartitionValue &value) {
			dealt[task_of.at(value)].push_back(unit);
		});
		return ToVariants(dealt);
	}

private:
	void FindPartitions(LogicalGet &get) {
		for (auto &column : HiveColumnsOf(get)) {
			if (HasExactText(column.type)) {
				partitions_.push_back(std::move(column));
			}
		}
	}

	std::vector<LeafVariant> ToVariants(const vector<vector<ScanUnit>> &dealt) const {
		std::vector<LeafVariant> result;
		for (auto &units : dealt) {
			LeafVariant variant;
			variant.plan = leaf_->MakeVariant(context_, get_, units);
			variant.text = leaf_->Describe(units, MAX_FILES_DESCRIBED);
			idx_t rows = 0;
			for (auto &unit : units) {
				rows += unit.rows;
				variant.bytes += unit.bytes;
			}
			if (leaf_->KnowsRows()) {
				variant.rows = rows;
			}
			variant.cache_key = MainFile(*leaf_, units);
			result.push_back(std::move(variant));
		}
		return result;
	}

	//! Calls `use` with each unit and the value that it has of these columns.
	template <class USE>
	void ForEachUnit(const vector<size_t> &columns, USE use) const {
		// Files of one folder, which most often follow each other, have the same values.
		string folder;
		PartitionValue value;
		for (auto &unit : leaf_->units) {
			auto &path = *leaf_->QueryPath(unit.file);
			auto length = path.find_last_of("/\\") + 1;
			if (length != folder.size() || path.compare(0, length, folder) != 0 || value.empty()) {
				folder = path.substr(0, length);
				value.clear();
				for (auto column : columns) {
					AddText(HiveValueOf(context_, partitions_[column], path), value);
				}
			}
			use(unit, value);
		}
	}

	ClientContext &context_;
	const LogicalGet &get_;
	//! By which it can be dealt.
	vector<HiveColumn> partitions_;
	const std::shared_ptr<const ScanLeaf> leaf_;
	TaskCount tasks_;
};

} // namespace

std::unique_ptr<LeafEstimate> EstimateBuiltIn(const LeafQuestion &question, bool as_often_as_allowed,
											  FooterCache *footers, RemoteFiles *remote, string &reason) {
	if (question.leaf.type != LogicalOperatorType::LOGICAL_GET) {
		reason = question.leaf.GetName() + " is not distributed";
		return nullptr;
	}
	auto &get = question.leaf.Cast<LogicalGet>();
	if (auto range = EstimateRange(question, get, as_often_as_allowed, reason)) {
		return range;
	}
	if (!reason.empty()) {
		return nullptr;
	}
	RemoteFiles none(question.context, [](const string &) { return "which is not asked for here"; });
	reason = (remote ? *remote : none).ReasonAgainst(get);
	if (!reason.empty()) {
		return nullptr;
	}
	auto leaf = AnalyzeScan(question.context, get, reason, footers);
	return leaf ? std::make_unique<ScanEstimate>(question, std::move(leaf), as_often_as_allowed) : nullptr;
}

} // namespace skein
