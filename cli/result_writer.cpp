#include "result_writer.hpp"

#include "json_text.hpp"

#include "duckdb/common/box_renderer.hpp"
#include "duckdb/common/csv_writer.hpp"
#include "duckdb/common/types/column/column_data_collection.hpp"

namespace skein::cli {
namespace {

using duckdb::idx_t;

//! All columns of a chunk as DuckDB's text.
class TextChunk {
public:
	TextChunk(duckdb::ClientContext &context, idx_t column_count) : context_(context) {
		duckdb::vector<duckdb::LogicalType> types(column_count, duckdb::LogicalType::VARCHAR);
		text_.Initialize(duckdb::Allocator::DefaultAllocator(), types);
	}
	//! Valid until the next call.
	duckdb::DataChunk &Convert(duckdb::DataChunk &chunk) {
		text_.Reset();
		text_.SetCardinality(chunk.size());
		for (idx_t column = 0; column < chunk.ColumnCount(); column++) {
			duckdb::VectorOperations::Cast(context_, chunk.data[column], text_.data[column], chunk.size());
		}
		text_.Flatten();
		return text_;
	}

private:
	duckdb::ClientContext &context_;
	duckdb::DataChunk text_;
};

class NoneWriter final : public ResultWriter {
public:
	void Write(duckdb::DataChunk &) override {
	}
	void Finish() override {
	}
};

//! DuckDB's own boxes.
class TableWriter final : public ResultWriter {
public:
	TableWriter(duckdb::ClientContext &context, ResultHeader header, TableSize size, std::ostream &out)
		: context_(context), header_(std::move(header)), size_(size), out_(out),
		  rows_(duckdb::BufferManager::GetBufferManager(context), header_.types) {
	}
	void Write(duckdb::DataChunk &chunk) override {
		rows_.Append(chunk);
	}
	void Finish() override {
		duckdb::BoxRendererConfig config;
		config.max_rows = TERMINAL_ROWS;
		if (size_ == TableSize::COMPLETE) {
			config.max_rows = std::numeric_limits<int32_t>::max();
			config.max_width = std::numeric_limits<int32_t>::max();
		}
		out_ << duckdb::BoxRenderer(config).ToString(context_, header_.names, rows_);
	}

private:
	//! As in DuckDB's own command line.
	static constexpr idx_t TERMINAL_ROWS = 40;

	duckdb::ClientContext &context_;
	ResultHeader header_;
	TableSize size_;
	std::ostream &out_;
	duckdb::ColumnDataCollection rows_;
};

//! A std::ostream for DuckDB's writers.
class OutStream final : public duckdb::WriteStream {
public:
	explicit OutStream(std::ostream &out) : out_(out) {
	}
	void WriteData(duckdb::const_data_ptr_t buffer, idx_t size) override {
		out_.write(duckdb::const_char_ptr_cast(buffer), static_cast<std::streamsize>(size));
	}

private:
	std::ostream &out_;
};

//! DuckDB's own CSV.
class DelimitedWriter final : public ResultWriter {
public:
	DelimitedWriter(duckdb::ClientContext &context, ResultHeader header, const std::string &delimiter,
					std::ostream &out)
		: text_(context, header.names.size()), out_(out), csv_(out_, header.names, false) {
		csv_.options.SetDelimiter(delimiter);
		csv_.options.SetEscape("\"");
		csv_.writer_options = duckdb::CSVWriterOptions(csv_.options);
		csv_.writer_options.newline_writing_mode = duckdb::CSVNewLineMode::WRITE_AFTER;
		csv_.Initialize();
		csv_.WriteRawString("\n");
	}
	void Write(duckdb::DataChunk &chunk) override {
		csv_.WriteChunk(text_.Convert(chunk));
		csv_.Flush();
	}
	void Finish() override {
	}

private:
	TextChunk text_;
	OutStream out_;
	duckdb::CSVWriter csv_;
};

//! One object a row; JSON puts them into an array.
class JsonWriter final : public ResultWriter {
public:
	JsonWriter(duckdb::ClientContext &context, ResultHeader header, ResultFormat format, std::ostream &out)
		: context_(context), is_array_(format == ResultFormat::JSON), out_(out) {
		duckdb::QueryResult::DeduplicateColumns(header.names);
		for (auto &name : header.names) {
			keys_.push_back((keys_.empty() ? "{" : ",") + JsonString(name) + ":");
		}
	}
	void Write(duckdb::DataChunk &chunk) override {
		std::vector<std::vector<std::string>> columns;
		for (auto &vector : chunk.data) {
			columns.push_back(ToJsonTexts(context_, vector, chunk.size()));
		}
		for (idx_t row = 0; row < chunk.size(); row++) {
			if (is_array_) {
				out_ << (row_count_ == 0 ? "[" : ",\n");
			}
			for (idx_t column = 0; column < columns.size(); column++) {
				out_ << keys_[column] << columns[column][row];
			}
			out_ << (is_array_ ? "}" : "}\n");
			row_count_++;
		}
	}
	void Finish() override {
		if (is_array_) {
			out_ << (row_count_ == 0 ? "[]\n" : "]\n");
		}
	}

private:
	duckdb::ClientContext &context_;
	bool is_array_;
	std::ostream &out_;
	std::vector<std::string> keys_;
	idx_t row_count_ = 0;
};

//! A table as GitHub reads it.
class MarkdownWriter final : public ResultWriter {
public:
	MarkdownWriter(duckdb::ClientContext &context, const ResultHeader &header, std::ostream &out)
		: text_(context, header.names.size()), out_(out) {
		for (auto &name : header.names) {
			out_ << "| " << Escape(name) << ' ';
		}
		out_ << "|\n";
		for (auto &type : header.types) {
			out_ << (type.IsNumeric() ? "|--:" : "|---");
		}
		out_ << "|\n";
	}
	void Write(duckdb::DataChunk &chunk) override {
		auto &text = text_.Convert(chunk);
		for (idx_t row = 0; row < text.size(); row++) {
			for (auto &vector : text.data) {
				auto is_null = duckdb::FlatVector::IsNull(vector, row);
				out_ << "| "
					 << (is_null ? "NULL"
								 : Escape(duckdb::FlatVector::GetData<duckdb::string_t>(vector)[row].GetString()))
					 << ' ';
			}
			out_ << "|\n";
		}
	}
	void Finish() override {
	}

private:
	static std::string Escape(const std::string &text) {
		auto escaped = duckdb::StringUtil::Replace(text, "|", "\\|");
		return duckdb::StringUtil::Replace(escaped, "\n", "<br>");
	}

	TextChunk text_;
	std::ostream &out_;
};

} // namespace

duckdb::unique_ptr<duckdb::DataChunk> FetchNext(duckdb::QueryResult &result) {
	auto chunk = result.Fetch();
	if (!chunk && result.HasError()) {
		result.ThrowError();
	}
	return chunk;
}

void WritePlan(duckdb::QueryResult &result, std::ostream &out) {
	while (auto chunk = FetchNext(result)) {
		for (idx_t row = 0; row < chunk->size(); row++) {
			auto plan = chunk->GetValue(1, row).ToString();
			plan.resize(plan.find_last_not_of(" \t\n") + 1);
			out << plan << '\n';
		}
	}
}

const std::map<std::string, ResultFormat> &ResultFormats() {
	static const std::map<std::string, ResultFormat> FORMATS{
		{"table", ResultFormat::TABLE}, {"csv", ResultFormat::CSV},		  {"tsv", ResultFormat::TSV},
		{"json", ResultFormat::JSON},	{"ndjson", ResultFormat::NDJSON}, {"markdown", ResultFormat::MARKDOWN},
		{"none", ResultFormat::NONE},
	};
	return FORMATS;
}

std::unique_ptr<ResultWriter> MakeResultWriter(ResultFormat format, duckdb::ClientContext &context, ResultHeader header,
											   TableSize table_size, std::ostream &out) {
	switch (format) {
	case ResultFormat::TABLE:
		return std::make_unique<TableWriter>(context, std::move(header), table_size, out);
	case ResultFormat::CSV:
		return std::make_unique<DelimitedWriter>(context, std::move(header), ",", out);
	case ResultFormat::TSV:
		return std::make_unique<DelimitedWriter>(context, std::move(header), "\t", out);
	case ResultFormat::JSON:
	case ResultFormat::NDJSON:
		return std::make_unique<JsonWriter>(context, std::move(header), format, out);
	case ResultFormat::MARKDOWN:
		return std::make_unique<MarkdownWriter>(context, header, out);
	case ResultFormat::NONE:
		break;
	}
	return std::make_unique<NoneWriter>();
}

} // namespace skein::cli
