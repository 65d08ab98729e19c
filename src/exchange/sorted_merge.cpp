#include "exchange/sorted_merge.hpp"

#include "duckdb/common/vector_operations/vector_operations.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

SortedMerge::SortedMerge(ClientContext &context, std::shared_ptr<ExchangeInput> input, vector<LogicalType> types,
						 vector<SortColumn> sort_columns)
	: context_(context), input_(std::move(input)), types_(std::move(types)), sort_columns_(std::move(sort_columns)),
	  runs_(input_->ProducerCount()) {
	vector<LogicalType> sort_types;
	for (auto &column : sort_columns_) {
		sort_types.push_back(types_[column.column]);
	}
	for (size_t i = 0; i < runs_.size(); i++) {
		runs_[i].rows.InitializeEmpty(types_);
		runs_[i].sort_values.InitializeEmpty(sort_types);
		to_fill_.push_back(i);
	}
}

void SortedMerge::LoadKeys(Run &run) {
	vector<OrderModifiers> modifiers;
	for (idx_t i = 0; i < sort_columns_.size(); i++) {
		run.sort_values.data[i].Reference(run.rows.data[sort_columns_[i].column]);
		modifiers.push_back(sort_columns_[i].modifiers);
	}
	run.sort_values.SetCardinality(run.rows.size());
	run.keys = make_uniq<Vector>(LogicalType::BLOB);
	CreateSortKeyHelpers::CreateSortKey(run.sort_values, modifiers, *run.keys);
	run.keys->Flatten(run.rows.size());
	run.position = 0;
	run.count = run.rows.size();
}

bool SortedMerge::Fill(size_t producer) {
	auto &run = runs_[producer];
	while (true) {
		if (run.position < run.count) {
			return true;
		}
		if (run.reader) {
			if (run.reader->Next(run.rows)) {
				LoadKeys(run);
				continue;
			}
			run.reader.reset();
		}
		SharedBytes page;
		switch (input_->NextFrom(producer, page)) {
		case InputState::PAGE:
			run.reader.emplace(std::move(page), types_);
			continue;
		case InputState::END:
			run.at_end = true;
			return true;
		case InputState::WAIT:
			return false;
		}
	}
}

bool SortedMerge::Before(size_t left, size_t right) const {
	auto &left_key = runs_[left].Key();
	auto &right_key = runs_[right].Key();
	if (left_key == right_key) {
		return left < right;
	}
	return string_t::StringComparisonOperators::GreaterThan(right_key, left_key);
}

bool SortedMerge::Next(DataChunk &chunk) {
	auto after = [this](size_t left, size_t right) { return Before(right, left); };
	idx_t produced = 0;
	while (produced < STANDARD_VECTOR_SIZE) {
		while (!to_fill_.empty()) {
			auto producer = to_fill_.back();
			if (!Fill(producer)) {
				awaited_ = producer;
				chunk.SetCardinality(produced);
				return produced > 0;
			}
			to_fill_.pop_back();
			if (!runs_[producer].at_end) {
				heap_.push_back(producer);
				std::push_heap(heap_.begin(), heap_.end(), after);
			}
		}
		if (heap_.empty()) {
			break;
		}
		std::pop_heap(heap_.begin(), heap_.end(), after);
		auto producer = heap_.back();
		heap_.pop_back();
		auto &run = runs_[producer];
		// Take all rows of this run that come before every other run's.
		auto begin = run.position;
		auto limit = std::min<idx_t>(run.count, begin + (STANDARD_VECTOR_SIZE - produced));
		do {
			run.position++;
		} while (run.position < limit && (heap_.empty() || Before(producer, heap_.front())));
		for (idx_t column = 0; column < types_.size(); column++) {
			VectorOperations::Copy(run.rows.data[column], chunk.data[column], run.position, begin, produced);
		}
		produced += run.position - begin;
		to_fill_.push_back(producer);
	}
	chunk.SetCardinality(produced);
	return true;
}

} // namespace skein
