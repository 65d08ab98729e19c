#include "wire/page_codec_format.hpp"
#include "wire/page_codec_test_support.hpp"

#include "duckdb/common/type_visitor.hpp"

#include <numeric>
#include <random>

namespace skein {

using duckdb::DataChunk;
using duckdb::idx_t;
using duckdb::LogicalType;
using duckdb::PhysicalType;
using duckdb::Value;
using duckdb::Vector;
using duckdb::VectorType;

namespace {

//===--------------------------------------------------------------------===//
// Malformed pages
//===--------------------------------------------------------------------===//

uint64_t Touch(const void *data, size_t size) {
	const auto bytes = static_cast<const uint8_t *>(data);
	return std::accumulate(bytes, bytes + size, uint64_t(0));
}

//! Reads every byte that the vector refers to, so that a sanitizer sees those outside of the page.
uint64_t TouchVector(Vector &vector, idx_t count) {
	if (vector.GetVectorType() == VectorType::CONSTANT_VECTOR) {
		count = 1;
	}
	uint64_t sum = 0;
	switch (vector.GetType().InternalType()) {
	case PhysicalType::STRUCT:
		for (auto &child : duckdb::StructVector::GetEntries(vector)) {
			sum += TouchVector(*child, count);
		}
		return sum;
	case PhysicalType::ARRAY:
		return TouchVector(duckdb::ArrayVector::GetEntry(vector), count * duckdb::ArrayType::GetSize(vector.GetType()));
	case PhysicalType::LIST: {
		const auto child_count = duckdb::ListVector::GetListSize(vector);
		for (idx_t i = 0; i < count; i++) {
			const auto &entry = duckdb::ListVector::GetData(vector)[i];
			EXPECT_LE(entry.offset, child_count);
			EXPECT_LE(entry.length, child_count - entry.offset);
		}
		return TouchVector(duckdb::ListVector::GetEntry(vector), child_count);
	}
	case PhysicalType::VARCHAR:
		for (idx_t i = 0; i < count; i++) {
			const auto &value = reinterpret_cast<const duckdb::string_t *>(vector.GetData())[i];
			sum += Touch(value.GetData(), value.GetSize());
		}
		return sum;
	default:
		return Touch(vector.GetData(), count * duckdb::GetTypeIdSize(vector.GetType().InternalType()));
	}
}

//! Types whose inner form nobody verifies, so that the engine's own functions must not see them malformed.
bool HasOpaqueContent(const LogicalType &type) {
	return duckdb::TypeVisitor::Contains(type, [](const LogicalType &part) {
		return part.id() == duckdb::LogicalTypeId::VARIANT || part.id() == duckdb::LogicalTypeId::GEOMETRY;
	});
}

//! Reads a page that may be malformed; returns whether it was refused.
bool Survive(const SharedBytes &page, const Types &types, bool verify_values) {
	try {
		PageReader reader(page, types, {.verify_checksum = false, .verify_values = verify_values});
		DataChunk chunk;
		chunk.InitializeEmpty(types);
		// A page of constants can have very many rows.
		for (int window = 0; window < 4 && reader.Next(chunk); window++) {
			for (auto &vector : chunk.data) {
				TouchVector(vector, chunk.size());
				for (idx_t row = 0; verify_values && row < 3 && !HasOpaqueContent(vector.GetType()); row++) {
					try {
						vector.GetValue(row % chunk.size()).ToString();
					} catch (const std::exception &) {
						// A date out of range, for instance, is a value that cannot be printed.
					}
				}
			}
		}
	} catch (const duckdb::SerializationException &) {
		return true;
	}
	return false;
}

struct TestPage {
	Types types;
	SharedBytes page;
};

TestPage MakePage(const std::string &sql) {
	Engine engine;
	auto result = engine.Query(sql);
	PageBuilder builder(duckdb::Allocator::DefaultAllocator(), result->types);
	AppendAll(builder, *result);
	return {result->types, Seal(builder)};
}

//! All types, nested ones in several windows, constants.
std::vector<TestPage> ManyPages() {
	std::vector<TestPage> pages;
	pages.push_back(MakePage("SELECT * FROM test_all_types()"));
	pages.push_back(MakePage("SELECT i, 'string number ' || i AS s, [s, NULL, 'x'] AS l, {'a': l} AS t "
							 "FROM range(20) t(i)"));
	pages.push_back(MakePage("SELECT [[i, i + 1], NULL, []] AS l, [i, 2]::INTEGER[2] AS a, nullif(i, 3) AS n "
							 "FROM range(2100) t(i)"));
	std::vector<Row> rows;
	Vector constant(Value("a constant string, not inlined"));
	pages.push_back({{LogicalType::VARCHAR}, PageOf(constant, 1000, rows)});
	return pages;
}

TEST(PageCodecMalformed, ChangedBytesDoNotMatchTheChecksum) {
	const auto page = MakePage("SELECT * FROM test_all_types()");
	for (size_t position = 0; position < page.page.size; position++) {
		auto copy = CopyOf(page.page.data, page.page.size);
		const_cast<uint8_t *>(copy.data)[position] ^= 4;
		if (position == offsetof(PageHeader, flags)) {
			continue; // an unknown flag is refused below
		}
		EXPECT_THROW(PageReader(copy, page.types), duckdb::SerializationException) << position;
	}
}

TEST(PageCodecMalformed, TruncatedPagesAreRefused) {
	for (const auto &page : ManyPages()) {
		for (size_t size = 0; size < page.page.size; size += 1 + page.page.size / 5000) {
			const auto truncated = CopyOf(page.page.data, size);
			EXPECT_TRUE(Survive(truncated, page.types, false)) << size;
			if (size >= sizeof(PageHeader)) {
				// The same with a header that admits it.
				const uint64_t total_size = size;
				memcpy(const_cast<uint8_t *>(truncated.data) + offsetof(PageHeader, total_size), &total_size,
					   sizeof(total_size));
				EXPECT_TRUE(Survive(truncated, page.types, false)) << size;
			}
		}
	}
}

TEST(PageCodecMalformed, PagesWithMoreBytesAreRefused) {
	for (const auto &page : ManyPages()) {
		std::vector<uint8_t> longer(page.page.data, page.page.data + page.page.size);
		longer.resize(page.page.size + 16);
		EXPECT_TRUE(Survive(CopyOf(longer.data(), longer.size()), page.types, false));
		const uint64_t total_size = longer.size();
		memcpy(longer.data() + offsetof(PageHeader, total_size), &total_size, sizeof(total_size));
		EXPECT_TRUE(Survive(CopyOf(longer.data(), longer.size()), page.types, false));
	}
}

TEST(PageCodecMalformed, FlippedBitsDoNotCrash) {
	idx_t refused = 0;
	idx_t accepted = 0;
	for (const auto &page : ManyPages()) {
		for (uint32_t seed = 0; seed < 3000; seed++) {
			std::mt19937_64 random(seed);
			auto copy = CopyOf(page.page.data, page.page.size);
			const auto bytes = const_cast<uint8_t *>(copy.data);
			for (idx_t flip = 0; flip <= seed % 4; flip++) {
				bytes[random() % page.page.size] ^= uint8_t(1) << (random() % 8);
			}
			(Survive(copy, page.types, seed % 2 == 0) ? refused : accepted)++;
		}
	}
	EXPECT_GT(refused, 100);
	EXPECT_GT(accepted, 100);
}

TEST(PageCodecMalformed, EveryBitOfTheHeadersFlipped) {
	for (const auto &page : ManyPages()) {
		for (idx_t bit = 0; bit < duckdb::MinValue<idx_t>(page.page.size, 400) * 8; bit++) {
			auto copy = CopyOf(page.page.data, page.page.size);
			const_cast<uint8_t *>(copy.data)[bit / 8] ^= uint8_t(1) << (bit % 8);
			Survive(copy, page.types, true);
		}
	}
}

TEST(PageCodecMalformed, WordsReplacedByExtremesDoNotCrash) {
	for (const auto &page : ManyPages()) {
		for (uint64_t word : {uint64_t(0), ~uint64_t(0), uint64_t(1) << 63, uint64_t(0xFFFFFFFF), uint64_t(1) << 32}) {
			for (idx_t position = 0; position + 8 <= page.page.size; position += 8) {
				auto copy = CopyOf(page.page.data, page.page.size);
				memcpy(const_cast<uint8_t *>(copy.data) + position, &word, sizeof(word));
				Survive(copy, page.types, true);
				position += page.page.size / 8000 * 8;
			}
		}
	}
}

TEST(PageCodecMalformed, OtherTypesAreRefused) {
	const auto page = MakePage("SELECT 1::INTEGER, 'text', [1]");
	const Types other_width{LogicalType::BIGINT, LogicalType::VARCHAR, LogicalType::LIST(LogicalType::INTEGER)};
	const Types other_kind{LogicalType::INTEGER, LogicalType::INTEGER, LogicalType::LIST(LogicalType::INTEGER)};
	const Types other_child{LogicalType::INTEGER, LogicalType::VARCHAR, LogicalType::LIST(LogicalType::VARCHAR)};
	const Types fewer{LogicalType::INTEGER, LogicalType::VARCHAR};
	for (const auto &types : {other_width, other_kind, other_child, fewer}) {
		EXPECT_THROW(PageReader(page.page, types), duckdb::SerializationException);
	}
}

TEST(PageCodecMalformed, EncodingsThatTheColumnCannotHaveAreRefused) {
	const auto is_refused = [](const TestPage &page, size_t column_offset, ColumnEncoding encoding) {
		auto copy = CopyOf(page.page.data, page.page.size);
		memcpy(const_cast<uint8_t *>(copy.data) + column_offset + offsetof(ColumnHeader, encoding), &encoding, 1);
		return Survive(copy, page.types, false);
	};
	constexpr size_t FIRST_COLUMN = sizeof(PageHeader);
	const auto number = MakePage("SELECT 1::INTEGER");
	EXPECT_FALSE(is_refused(number, FIRST_COLUMN, ColumnEncoding::CONSTANT));
	EXPECT_TRUE(is_refused(number, FIRST_COLUMN, ColumnEncoding(4)));
	const auto list = MakePage("SELECT [1::INTEGER]");
	constexpr size_t CHILD = FIRST_COLUMN + sizeof(ColumnHeader) + PAGE_ALIGNMENT;
	EXPECT_FALSE(is_refused(list, CHILD, ColumnEncoding::FLAT));
	EXPECT_TRUE(is_refused(list, CHILD, ColumnEncoding::CONSTANT));
	EXPECT_TRUE(is_refused(list, FIRST_COLUMN, ColumnEncoding::CONSTANT));
}

TEST(PageCodecMalformed, OtherVersionIsNamed) {
	const auto page = MakePage("SELECT 1");
	auto copy = CopyOf(page.page.data, page.page.size);
	const_cast<uint8_t *>(copy.data)[offsetof(PageHeader, version)] = 200;
	try {
		PageReader reader(copy, page.types);
		FAIL() << "accepted";
	} catch (const duckdb::SerializationException &error) {
		EXPECT_NE(std::string(error.what()).find("200"), std::string::npos) << error.what();
	}
}

TEST(PageCodecMalformed, ValuesThatTheirTypeForbidsAreRefusedOnRequest) {
	//! Sends a value as `sent` and reads it as `read`, which has the same layout.
	const auto is_refused = [](const Value &value, const LogicalType &read) {
		std::vector<Row> rows;
		Vector vector(value);
		vector.Flatten(1);
		const auto page = PageOf(vector, 1, rows);
		EXPECT_FALSE(Survive(page, {read}, false));
		return Survive(page, {read}, true);
	};
	duckdb::Vector names(LogicalType::VARCHAR, 2);
	names.SetValue(0, Value("a"));
	names.SetValue(1, Value("b"));
	const auto enum_type = LogicalType::ENUM(names, 2);
	EXPECT_TRUE(is_refused(Value::UTINYINT(2), LogicalType::BOOLEAN));
	EXPECT_FALSE(is_refused(Value::UTINYINT(1), LogicalType::BOOLEAN));
	EXPECT_TRUE(is_refused(Value::UTINYINT(2), enum_type));
	EXPECT_FALSE(is_refused(Value::UTINYINT(1), enum_type));
	EXPECT_TRUE(is_refused(Value::BIGINT(-1), LogicalType::TIME));
	EXPECT_FALSE(is_refused(Value::BIGINT(1), LogicalType::TIME));
	EXPECT_TRUE(is_refused(Value::BIGINT(-1), LogicalType::TIME_NS));
	EXPECT_TRUE(is_refused(Value::UBIGINT(~uint64_t(0)), LogicalType::TIME_TZ));
	EXPECT_TRUE(is_refused(Value::BLOB("\\xFF\\xFF"), LogicalType::VARCHAR));
	EXPECT_FALSE(is_refused(Value("text"), LogicalType::BLOB));
	EXPECT_TRUE(is_refused(Value::BLOB("\\x09\\xFF"), LogicalType::BIT));
	EXPECT_TRUE(is_refused(Value::BLOB("\\x01"), LogicalType::BIT));
	EXPECT_TRUE(is_refused(Value::BLOB("\\x80\\x00\\x02\\x01"), LogicalType::BIGNUM));
	EXPECT_FALSE(is_refused(Value::BLOB("\\x80\\x00\\x01\\x01"), LogicalType::BIGNUM));
}

} // namespace

} // namespace skein
