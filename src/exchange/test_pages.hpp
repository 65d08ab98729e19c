#pragma once

#include "exchange/page.hpp"
#include "wire/page_codec.hpp"

#include "duckdb.hpp"

#include <gtest/gtest.h>

namespace skein {

//! An engine whose buffer manager holds the pages of a test.
struct PageMaker {
	duckdb::DuckDB database{nullptr};
	duckdb::Connection connection{database};
	const duckdb::vector<duckdb::LogicalType> types{duckdb::LogicalType::BIGINT};

	std::shared_ptr<PagePool> MakePool() {
		return std::make_shared<PagePool>(duckdb::BufferManager::GetBufferManager(*database.instance));
	}
	//! A page with the values of one BIGINT column, in memory of its own.
	std::shared_ptr<Page> Make(const std::vector<int64_t> &values) {
		return Make(values, MakePool());
	}
	std::shared_ptr<Page> Make(const std::vector<int64_t> &values, std::shared_ptr<PagePool> pool) {
		PageBuilder builder(duckdb::Allocator::DefaultAllocator(), types);
		PreparedChunk prepared(types);
		duckdb::DataChunk chunk;
		chunk.Initialize(duckdb::Allocator::DefaultAllocator(), types);
		for (size_t first = 0; first < values.size(); first += STANDARD_VECTOR_SIZE) {
			auto count = std::min<size_t>(STANDARD_VECTOR_SIZE, values.size() - first);
			chunk.Reset();
			std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), count,
						duckdb::FlatVector::GetData<int64_t>(chunk.data[0]));
			chunk.SetCardinality(count);
			prepared.Prepare(chunk);
			builder.Append(prepared, *duckdb::FlatVector::IncrementalSelectionVector(), 0, count);
		}
		return Page::Seal(std::move(pool), builder);
	}
	std::vector<int64_t> Values(SharedBytes page) {
		std::vector<int64_t> result;
		PageReader reader(std::move(page), types);
		duckdb::DataChunk chunk;
		chunk.InitializeEmpty(types);
		while (reader.Next(chunk)) {
			for (duckdb::idx_t row = 0; row < chunk.size(); row++) {
				result.push_back(chunk.GetValue(0, row).GetValue<int64_t>());
			}
		}
		return result;
	}
	//! Bytes that the engine holds now.
	duckdb::idx_t UsedMemory() {
		return duckdb::BufferManager::GetBufferManager(*database.instance).GetUsedMemory();
	}
};

//! The class of the error that `action` ends with; INVALID if it ends without.
template <class ACTION>
duckdb::ExceptionType ErrorOf(ACTION action) {
	try {
		action();
	} catch (std::exception &ex) {
		return duckdb::ErrorData(ex).Type();
	}
	return duckdb::ExceptionType::INVALID;
}

} // namespace skein
