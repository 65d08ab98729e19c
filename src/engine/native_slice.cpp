#include "engine/native_slice.hpp"

#include "engine/plan_meter.hpp"
#include "engine/slice_scan.hpp"
#include "engine/slice_units.hpp"

#include "duckdb/catalog/catalog_entry/duck_table_entry.hpp"
#include "duckdb/common/enums/metric_type.hpp"
#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/common/types/blob.hpp"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/parsed_data/create_table_function_info.hpp"
#include "duckdb/storage/data_table.hpp"
#include "duckdb/storage/statistics/node_statistics.hpp"
#include "duckdb/storage/table/row_group_collection.hpp"
#include "duckdb/storage/table/row_group_segment_tree.hpp"
#include "duckdb/storage/table/scan_state.hpp"
#include "duckdb/transaction/duck_transaction.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *FUNCTION_NAME = "skein_native_slice";

//! A unit is a row group.
struct NativeSliceData final : public TableFunctionData, public SliceUnits {
	explicit NativeSliceData(NativeSlice slice_p) : slice(std::move(slice_p)) {
		for (auto &range : slice.ranges) {
			for (auto row_group = range.begin; row_group < range.end; row_group++) {
				row_groups.push_back(row_group);
			}
		}
	}

	idx_t UnitCount() const override {
		return row_groups.size();
	}
	unique_ptr<FunctionData> Part(const FunctionData &, UnitRange units) const override {
		auto part = slice;
		part.rows = row_groups.empty() ? 0 : slice.rows * units.Count() / row_groups.size();
		part.ranges.clear();
		for (auto unit = units.begin; unit < units.end; unit++) {
			if (part.ranges.empty() || part.ranges.back().end != row_groups[unit]) {
				part.ranges.push_back({row_groups[unit], row_groups[unit]});
			}
			part.ranges.back().end++;
		}
		auto result = make_uniq<NativeSliceData>(std::move(part));
		result->leaf = leaf;
		return result;
	}
	unique_ptr<FunctionData> Copy() const override {
		auto result = make_uniq<NativeSliceData>(slice);
		result->leaf = leaf;
		return result;
	}
	bool Equals(const FunctionData &other) const override {
		return this == &other;
	}

	const NativeSlice slice;
	//! By the positions of the units.
	vector<idx_t> row_groups;
};

//! The table of a slice, opened, in the transaction of a task.
struct OpenTable {
	OpenTable(ClientContext &context, const NativeSlice &slice)
		: use(DatabaseFiles::Open(context, slice.path, slice.version)),
		  entry(use->Database()
					.GetCatalog()
					.GetEntry<TableCatalogEntry>(context, slice.schema, slice.table)
					.Cast<DuckTableEntry>()),
		  row_groups(*entry.GetStorage().GetRowGroupCollection()), tree(row_groups.GetRowGroups()),
		  transaction(DuckTransaction::Get(context, use->Database())) {
		if (entry.GetStorage().GetTotalRows() != slice.table_rows) {
			ThrowFileChanged(slice.path, StringUtil::Format("table \"%s\" had %llu rows and has %llu", slice.table,
															slice.table_rows, entry.GetStorage().GetTotalRows()));
		}
	}

	const std::unique_ptr<DatabaseFiles::Use> use;
	DuckTableEntry &entry;
	RowGroupCollection &row_groups;
	const shared_ptr<RowGroupSegmentTree> tree;
	DuckTransaction &transaction;
};

struct NativeGlobalState final : public GlobalTableFunctionState {
	NativeGlobalState(ClientContext &context, TableFunctionInitInput &input)
		: data(input.bind_data->Cast<NativeSliceData>()) {
		if (data.UnitCount() == 0) {
			return;
		}
		table = std::make_unique<OpenTable>(context, data.slice);
		for (auto &column : input.column_indexes) {
			columns.push_back(table->entry.GetStorageIndex(column));
		}
		if (!input.CanRemoveFilterColumns()) {
			return;
		}
		projection_ids = input.projection_ids;
		for (auto &column : input.column_indexes) {
			if (column.IsRowIdColumn()) {
				scanned_types.emplace_back(LogicalType::ROW_TYPE);
			} else {
				scanned_types.push_back(column.HasType() ? column.GetScanType()
														 : table->entry.GetColumn(column.ToLogical()).Type());
			}
		}
	}
	idx_t MaxThreads() const override {
		return MaxValue<idx_t>(data.UnitCount(), 1);
	}
	//! The next unit that the caller reads; invalid if there is none.
	optional_idx Next() {
		while (true) {
			auto position = next_++;
			if (position >= data.UnitCount()) {
				return optional_idx();
			}
			if (data.Claim(position)) {
				data.Begin();
				data.NoteRead();
				return optional_idx(position);
			}
		}
	}
	double Progress() const {
		return 100.0 * static_cast<double>(MinValue<idx_t>(next_, data.UnitCount())) /
			   static_cast<double>(MaxThreads());
	}

	const NativeSliceData &data;
	//! nullptr if nothing is to be read.
	std::unique_ptr<OpenTable> table;
	vector<StorageIndex> columns;
	//! Of all columns that are read, if some of them are only filtered; else empty.
	vector<LogicalType> scanned_types;
	vector<idx_t> projection_ids;

private:
	atomic<idx_t> next_{0};
};

struct NativeLocalState final : public LocalTableFunctionState {
	NativeLocalState(ExecutionContext &context, TableFunctionInitInput &input, NativeGlobalState &global)
		: profile(context), meter(PlanMeter::Find(context.client)), op(input.op) {
		if (!global.table) {
			return;
		}
		scan.Initialize(global.columns, context.client, input.filters);
		if (!global.scanned_types.empty()) {
			all_columns.Initialize(context.client, global.scanned_types);
		}
	}
	~NativeLocalState() override {
		if (meter && op) {
			OperatorMetrics metrics;
			metrics.rows_read = scan.table_state.rows_scanned;
			metrics.row_groups_read = row_groups_read;
			metrics.row_groups_skipped = row_groups_skipped;
			meter->Add(*op, metrics);
		}
	}

	//! Begins the unit; false if the filters rule it out.
	bool Begin(ClientContext &context, const NativeGlobalState &global, idx_t position) {
		auto &table = *global.table;
		batch = position + 1;
		auto node = table.tree->GetSegmentByIndex(static_cast<int64_t>(global.data.row_groups[position]));
		if (!node) {
			throw InternalException("Table \"%s\" has no row group %llu", table.entry.name,
									global.data.row_groups[position]);
		}
		// The scan ends where the row group does.
		auto reads = RowGroupCollection::InitializeScanInRowGroup(context, scan.table_state, table.row_groups, *node, 0,
																  node->GetRowEnd());
		(reads ? row_groups_read : row_groups_skipped)++;
		return reads;
	}

	//! The next rows of the unit, none if it has no more.
	void Read(const NativeGlobalState &global, DataChunk &output) {
		auto &transaction = global.table->transaction;
		if (global.scanned_types.empty()) {
			scan.table_state.Scan(transaction, output);
			return;
		}
		all_columns.Reset();
		scan.table_state.Scan(transaction, all_columns);
		output.ReferenceColumns(all_columns, global.projection_ids);
	}

	TableScanState scan;
	DataChunk all_columns;
	//! Whether there is a unit in `scan`.
	bool reading = false;
	idx_t batch = 0;
	idx_t row_groups_read = 0;
	idx_t row_groups_skipped = 0;
	UnfinishedProfile profile;
	//! nullptr if nobody wants to know.
	const shared_ptr<PlanMeter> meter;
	optional_ptr<const PhysicalOperator> op;
};

unique_ptr<GlobalTableFunctionState> InitGlobal(ClientContext &context, TableFunctionInitInput &input) {
	return make_uniq<NativeGlobalState>(context, input);
}

unique_ptr<LocalTableFunctionState> InitLocal(ExecutionContext &context, TableFunctionInitInput &input,
											  GlobalTableFunctionState *global) {
	return make_uniq<NativeLocalState>(context, input, global->Cast<NativeGlobalState>());
}

void Scan(ClientContext &context, TableFunctionInput &input, DataChunk &output) {
	auto &global = input.global_state->Cast<NativeGlobalState>();
	auto &local = input.local_state->Cast<NativeLocalState>();
	while (true) {
		if (local.reading) {
			local.Read(global, output);
			if (output.size() > 0) {
				return;
			}
		}
		auto unit = global.Next();
		if (!unit.IsValid()) {
			local.reading = false;
			input.async_result = AsyncResultType::FINISHED;
			return;
		}
		local.reading = local.Begin(context, global, unit.GetIndex());
		if (input.results_execution_mode == AsyncResultsExecutionMode::TASK_EXECUTOR) {
			input.async_result = AsyncResultType::HAVE_MORE_OUTPUT;
			return;
		}
		if (context.IsInterrupted()) {
			throw InterruptException();
		}
	}
}

OperatorPartitionData PartitionData(ClientContext &, TableFunctionGetPartitionInput &input) {
	if (input.partition_info.RequiresPartitionColumns()) {
		throw InternalException("A table is not partitioned by columns");
	}
	return OperatorPartitionData(input.local_state->Cast<NativeLocalState>().batch);
}

double Progress(ClientContext &, const FunctionData *, const GlobalTableFunctionState *global) {
	return global->Cast<NativeGlobalState>().Progress();
}

unique_ptr<NodeStatistics> Cardinality(ClientContext &, const FunctionData *bind_data) {
	auto rows = bind_data->Cast<NativeSliceData>().slice.rows;
	return make_uniq<NodeStatistics>(rows, rows);
}

InsertionOrderPreservingMap<string> ToString(TableFunctionToStringInput &input) {
	InsertionOrderPreservingMap<string> result;
	auto &slice = input.bind_data->Cast<NativeSliceData>().slice;
	result["Table"] = ParseInfo::QualifierToString(slice.database, slice.schema, slice.table);
	return result;
}

virtual_column_map_t VirtualColumns(ClientContext &, optional_ptr<FunctionData>) {
	return {{COLUMN_IDENTIFIER_ROW_ID, TableColumn("rowid", LogicalType::ROW_TYPE)}};
}

vector<column_t> RowIdColumns(ClientContext &, optional_ptr<FunctionData>) {
	return {COLUMN_IDENTIFIER_ROW_ID};
}

bool PushDownExpression(ClientContext &, const LogicalGet &, Expression &) {
	return true;
}

void Serialize(Serializer &serializer, const optional_ptr<FunctionData> bind_data, const TableFunction &) {
	auto &data = bind_data->Cast<NativeSliceData>();
	auto &slice = data.slice;
	vector<idx_t> bounds;
	for (auto &range : slice.ranges) {
		bounds.push_back(range.begin);
		bounds.push_back(range.end);
	}
	serializer.WriteProperty(100, "path", slice.path);
	serializer.WriteProperty(101, "size", slice.version.file.size);
	serializer.WriteProperty(102, "last_modified", slice.version.file.last_modified.value);
	serializer.WriteProperty(103, "identifier", Blob::ToBase64(string_t(slice.version.identifier)));
	serializer.WriteProperty(104, "checkpoint", slice.version.checkpoint);
	serializer.WriteProperty(105, "database", slice.database);
	serializer.WriteProperty(106, "schema", slice.schema);
	serializer.WriteProperty(107, "table", slice.table);
	serializer.WriteProperty(108, "table_rows", slice.table_rows);
	serializer.WriteProperty(109, "row_group_bounds", bounds);
	serializer.WriteProperty(110, "rows", slice.rows);
	serializer.WriteProperty(111, "leaf", data.leaf);
}

unique_ptr<FunctionData> Deserialize(Deserializer &deserializer, TableFunction &) {
	NativeSlice slice;
	slice.path = deserializer.ReadProperty<string>(100, "path");
	slice.version.file.size = deserializer.ReadProperty<idx_t>(101, "size");
	slice.version.file.last_modified = timestamp_t(deserializer.ReadProperty<int64_t>(102, "last_modified"));
	slice.version.identifier = Blob::FromBase64(deserializer.ReadProperty<string>(103, "identifier"));
	slice.version.checkpoint = deserializer.ReadProperty<uint64_t>(104, "checkpoint");
	slice.database = deserializer.ReadProperty<string>(105, "database");
	slice.schema = deserializer.ReadProperty<string>(106, "schema");
	slice.table = deserializer.ReadProperty<string>(107, "table");
	slice.table_rows = deserializer.ReadProperty<idx_t>(108, "table_rows");
	auto bounds = deserializer.ReadProperty<vector<idx_t>>(109, "row_group_bounds");
	for (idx_t i = 0; i + 1 < bounds.size(); i += 2) {
		slice.ranges.push_back({bounds[i], bounds[i + 1]});
	}
	slice.rows = deserializer.ReadProperty<idx_t>(110, "rows");
	auto leaf = deserializer.ReadProperty<optional_idx>(111, "leaf");
	auto result = make_uniq<NativeSliceData>(std::move(slice));
	result->leaf = leaf;
	return result;
}

unique_ptr<FunctionData> RefuseToBind(ClientContext &, TableFunctionBindInput &, vector<LogicalType> &,
									  vector<string> &) {
	throw BinderException("%s is only used inside of distributed plans", FUNCTION_NAME);
}

//! As DuckDB's seq_scan, but for what would speak of the whole table (`statistics`, `get_partition_stats`).
TableFunction SliceFunction() {
	TableFunction function(FUNCTION_NAME, {}, Scan, RefuseToBind, InitGlobal, InitLocal);
	function.cardinality = Cardinality;
	function.to_string = ToString;
	function.table_scan_progress = Progress;
	function.get_partition_data = PartitionData;
	function.projection_pushdown = true;
	function.filter_pushdown = true;
	function.filter_prune = true;
	function.late_materialization = true;
	function.serialize = Serialize;
	function.deserialize = Deserialize;
	function.pushdown_expression = PushDownExpression;
	function.get_virtual_columns = VirtualColumns;
	function.get_row_id_columns = RowIdColumns;
	return function;
}

} // namespace

void RegisterNativeSlice(DatabaseInstance &db) {
	TableFunctionSet functions(FUNCTION_NAME);
	functions.AddFunction(SliceFunction());
	CreateTableFunctionInfo info(std::move(functions));
	info.on_conflict = OnCreateConflict::IGNORE_ON_CONFLICT;
	ExtensionLoader(db, "skein").RegisterFunction(std::move(info));
}

unique_ptr<LogicalGet> MakeNativeSlice(ClientContext &context, const LogicalGet &get, NativeSlice slice) {
	auto rows = slice.rows;
	auto result = MakeSliceScan(context, get, SliceFunction(), make_uniq<NativeSliceData>(std::move(slice)));
	result->SetEstimatedCardinality(rows);
	return result;
}

optional_ptr<const NativeSlice> NativeSliceOf(const LogicalGet &get) {
	auto data = dynamic_cast<const NativeSliceData *>(get.bind_data.get());
	return data ? &data->slice : nullptr;
}

} // namespace skein
