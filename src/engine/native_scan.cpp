#include "engine/native_scan.hpp"

#include "engine/dynamic_filters.hpp"

#include "duckdb/catalog/catalog_entry/duck_table_entry.hpp"
#include "duckdb/common/file_system.hpp"
#include "duckdb/execution/adaptive_filter.hpp"
#include "duckdb/function/table/table_scan.hpp"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/constant_filter.hpp"
#include "duckdb/planner/filter/in_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/storage/data_table.hpp"
#include "duckdb/storage/storage_manager.hpp"
#include "duckdb/storage/table/row_group_collection.hpp"
#include "duckdb/storage/table/row_group_segment_tree.hpp"
#include "duckdb/storage/table/scan_state.hpp"
#include "duckdb/transaction/local_storage.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! Of a string, beside what lies in the vector itself.
constexpr idx_t STRING_BYTES = 8;
//! How many values a list is taken to have.
constexpr idx_t LIST_LENGTH = 4;

//! Why no other process can read the database as the session sees it; empty if it can.
string ReasonAgainstDatabase(ClientContext &context, AttachedDatabase &database) {
	auto name = "database \"" + database.GetName() + "\"";
	if (database.IsTemporary()) {
		return "temporary tables are read by the session";
	}
	auto &storage = database.GetStorageManager();
	if (storage.InMemory()) {
		return "tables of " + name + " are in the session's memory";
	}
	if (!database.IsReadOnly()) {
		return name + " is open for writing; tables of files that are attached READ_ONLY are distributed";
	}
	if (storage.IsEncrypted()) {
		return name + " is encrypted";
	}
	if (FileSystem::IsRemoteFile(storage.GetDBPath())) {
		return name + " is a file of another machine";
	}
	auto reason = ReasonAgainstFile(OpenFileInfo(storage.GetDBPath()));
	if (!reason.empty()) {
		return reason;
	}
	auto &files = FileSystem::GetFileSystem(context);
	for (auto &log : {storage.GetWALPath(), storage.GetCheckpointWALPath(), storage.GetRecoveryWALPath()}) {
		if (files.FileExists(log)) {
			return name + " has a write-ahead log, which only the session has read";
		}
	}
	return string();
}

//! Whether a filter asks for single values.
bool AsksForValues(const TableFilter &filter) {
	switch (filter.filter_type) {
	case TableFilterType::CONSTANT_COMPARISON:
		return filter.Cast<ConstantFilter>().comparison_type == ExpressionType::COMPARE_EQUAL;
	case TableFilterType::IN_FILTER:
		return true;
	case TableFilterType::OPTIONAL_FILTER: {
		auto &child = filter.Cast<OptionalFilter>().child_filter;
		return child && AsksForValues(*child);
	}
	case TableFilterType::CONJUNCTION_AND: {
		auto &children = filter.Cast<ConjunctionAndFilter>().child_filters;
		return std::any_of(children.begin(), children.end(), [](auto &child) { return AsksForValues(*child); });
	}
	default:
		return false;
	}
}

//! Whether DuckDB looks up the rows in an index: of a column whose values its only filter asks for.
bool UsesIndex(DuckTableEntry &table, const LogicalGet &get) {
	auto &filters = get.table_filters.filters;
	if (filters.size() != 1 || IsVirtualColumn(filters.begin()->first) || !AsksForValues(*filters.begin()->second)) {
		return false;
	}
	auto column = table.GetColumn(LogicalIndex(filters.begin()->first)).StorageOid();
	for (auto &index : table.GetStorage().GetDataTableInfo()->GetIndexes().Indexes()) {
		auto &columns = index.GetColumnIds();
		if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
			return true;
		}
	}
	return false;
}

//! Why the scan cannot be represented by slices; empty if it can.
string ReasonAgainst(ClientContext &context, const LogicalGet &get, const TableScanBindData &scan) {
	auto &table = scan.table.Cast<DuckTableEntry>();
	auto reason = ReasonAgainstDatabase(context, table.GetStorage().GetAttached());
	if (!reason.empty()) {
		return reason;
	}
	if (get.ordinality_idx.IsValid()) {
		return "WITH ORDINALITY numbers the rows of the whole scan";
	}
	if (get.extra_info.sample_options) {
		return "the scan takes a sample of its rows";
	}
	if (get.row_group_order_options || scan.order_options) {
		return "the scan reads its row groups in an order of its own";
	}
	if (scan.is_create_index || LocalStorage::Get(context, table.catalog).Find(table.GetStorage())) {
		return "table \"" + table.name + "\" is being written";
	}
	if (UsesIndex(table, get)) {
		return "rows of table \"" + table.name + "\" are looked up in an index";
	}
	return string();
}

idx_t BytesOf(const LogicalType &type) {
	switch (type.InternalType()) {
	case PhysicalType::STRUCT: {
		idx_t bytes = 0;
		for (auto &child : StructType::GetChildTypes(type)) {
			bytes += BytesOf(child.second);
		}
		return bytes;
	}
	case PhysicalType::LIST:
		return sizeof(list_entry_t) + LIST_LENGTH * BytesOf(ListType::GetChildType(type));
	case PhysicalType::ARRAY:
		return ArrayType::GetSize(type) * BytesOf(ArrayType::GetChildType(type));
	case PhysicalType::VARCHAR:
		return sizeof(string_t) + STRING_BYTES;
	default:
		return GetTypeIdSize(type.InternalType());
	}
}

//! What a row takes in memory, of the columns that are read from the file.
idx_t BytesOfRow(const LogicalGet &get) {
	idx_t bytes = 0;
	for (auto &column : get.GetColumnIds()) {
		if (!column.IsVirtualColumn()) {
			bytes += BytesOf(column.HasType() ? column.GetScanType() : get.returned_types[column.GetPrimaryIndex()]);
		}
	}
	return bytes;
}

//! Lists the row groups that the filters leave.
class RowGroupLister {
public:
	RowGroupLister(ClientContext &context, const LogicalGet &get, const TableCatalogEntry &table)
		: bytes_of_row_(BytesOfRow(get)), filters_(FiltersByPosition(get)) {
		vector<StorageIndex> columns;
		for (auto &column : get.GetColumnIds()) {
			columns.push_back(table.GetStorageIndex(column));
		}
		if (filters_) {
			checks_.Initialize(context, *filters_, columns);
		}
	}

	vector<NativeRowGroup> List(ClientContext &context, RowGroupCollection &collection) {
		vector<NativeRowGroup> result;
		auto tree = collection.GetRowGroups();
		for (auto node = tree->GetRootSegment(); node; node = tree->GetNextSegment(*node)) {
			if (context.IsInterrupted()) {
				throw InterruptException();
			}
			auto &row_group = node->GetNode();
			if (filters_ && !row_group.CheckZonemap(checks_)) {
				continue;
			}
			auto rows = row_group.GetCommittedRowCount();
			result.push_back({node->GetIndex(), rows, rows * bytes_of_row_});
		}
		return result;
	}

private:
	const idx_t bytes_of_row_;
	const unique_ptr<TableFilterSet> filters_;
	ScanFilterInfo checks_;
};

} // namespace

unique_ptr<TableFilterSet> FiltersByPosition(const LogicalGet &get) {
	auto filters = get.table_filters.Copy();
	DropDynamicFilters(*filters);
	if (filters->filters.empty()) {
		return nullptr;
	}
	auto result = make_uniq<TableFilterSet>();
	auto &columns = get.GetColumnIds();
	for (auto &filter : filters->filters) {
		auto column = std::find_if(columns.begin(), columns.end(),
								   [&](const ColumnIndex &id) { return id.GetPrimaryIndex() == filter.first; });
		if (column == columns.end()) {
			throw InternalException("A filter is on column %llu, which is not read", filter.first);
		}
		result->filters[static_cast<idx_t>(column - columns.begin())] = std::move(filter.second);
	}
	return result;
}

std::optional<NativeScan> InspectNativeScan(ClientContext &context, LogicalGet &get, string &reason) {
	auto scan = get.function.name == "seq_scan" ? dynamic_cast<TableScanBindData *>(get.bind_data.get()) : nullptr;
	if (!scan || !scan->table.IsDuckTable()) {
		return std::nullopt;
	}
	reason = ReasonAgainst(context, get, *scan);
	if (!reason.empty()) {
		return std::nullopt;
	}
	auto &table = scan->table.Cast<DuckTableEntry>();
	auto &storage = table.GetStorage();
	auto &database = storage.GetAttached();
	auto version = VersionOf(database);
	if (!version) {
		reason = "database file \"" + database.GetStorageManager().GetDBPath() + "\" is not there any more";
		return std::nullopt;
	}
	NativeScan result;
	ScanFile file;
	file.path = database.GetStorageManager().GetDBPath();
	file.absolute_path = AbsolutePath(context, file.path);
	result.path = file.OpenPath();
	result.version = *version;
	result.database = database.GetName();
	result.schema = table.schema.name;
	result.table = table.name;
	result.table_rows = storage.GetTotalRows();
	result.row_groups = RowGroupLister(context, get, table).List(context, *storage.GetRowGroupCollection());
	return result;
}

} // namespace skein
