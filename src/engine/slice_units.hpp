#pragma once

#include "engine/unit_supply.hpp"

#include "duckdb/common/multi_file/base_file_reader.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/common/optional_idx.hpp"

#include <functional>
#include <memory>

namespace duckdb {
class LogicalOperator;
} // namespace duckdb

namespace skein {

//! What the bind data of every slice has in common, whatever it reads: it is made of units. A slice of files has it
//! inside of DuckDB's MultiFileBindData.
class SliceUnits {
public:
	virtual ~SliceUnits() = default;

	//! In their order in the slice their positions count from 0.
	virtual duckdb::idx_t UnitCount() const = 0;
	//! A slice like `slice`, whose bind data this is, of some of its units.
	virtual duckdb::unique_ptr<duckdb::FunctionData> Part(const duckdb::FunctionData &slice, UnitRange units) const = 0;

	//! Those of the bind data of a slice; nullptr if it is of another scan.
	static SliceUnits *Of(duckdb::optional_ptr<duckdb::FunctionData> bind_data);

	//! Those of a scan; nullptr if it reads no slice.
	static SliceUnits *OfScan(duckdb::LogicalOperator &op);

	//! Whether a reader may begin a unit.
	bool Claim(duckdb::idx_t position) const {
		return !supply || supply->Claim(position);
	}
	bool Has(duckdb::idx_t position) const {
		return !supply || supply->Has(position);
	}
	//! A unit that was claimed is going to be read. Called without locks.
	void Begin() const {
		if (on_begin) {
			on_begin();
		}
	}

	//! A unit that was begun turns out to have rows to be read.
	void NoteRead() const {
		if (supply) {
			supply->NoteRead();
		}
	}

	//! The number of the leaf in its stage, if its tasks may give units to one another. Travels.
	duckdb::optional_idx leaf;
	//! Set by whoever executes the slice if units may leave it; never copied.
	std::shared_ptr<UnitSupply> supply;
	std::function<void()> on_begin;
};

//! In the place of a file of which all units have left the slice before it was opened. InitializeReader() has it
//! skipped.
class ReleasedFile final : public duckdb::BaseFileReader {
public:
	using BaseFileReader::BaseFileReader;

	static bool Is(const duckdb::BaseFileReader &reader) {
		return dynamic_cast<const ReleasedFile *>(&reader) != nullptr;
	}

	bool TryInitializeScan(duckdb::ClientContext &, duckdb::GlobalTableFunctionState &,
						   duckdb::LocalTableFunctionState &) override {
		return false;
	}
	duckdb::AsyncResult Scan(duckdb::ClientContext &, duckdb::GlobalTableFunctionState &,
							 duckdb::LocalTableFunctionState &, duckdb::DataChunk &) override {
		return duckdb::AsyncResult(duckdb::SourceResultType::FINISHED);
	}
	std::string GetReaderType() const override {
		return "released";
	}
};

} // namespace skein
