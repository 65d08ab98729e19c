#include "wire/page_codec_columns.hpp"

#include "duckdb/common/types/bignum.hpp"
#include "duckdb/common/types/datetime.hpp"
#include "duckdb/common/types/interval.hpp"

namespace skein {

using duckdb::idx_t;
using duckdb::Interval;
using duckdb::LogicalTypeId;
using duckdb::string_t;

namespace {

//! Throws unless `is_valid` holds for all values that are not NULL.
template <class T, class PREDICATE>
void VerifyEach(duckdb::Vector &vector, idx_t count, PREDICATE &&is_valid) {
	duckdb::UnifiedVectorFormat format;
	vector.ToUnifiedFormat(count, format);
	const auto values = reinterpret_cast<const T *>(format.data);
	for (idx_t i = 0; i < count; i++) {
		const auto row = format.sel->get_index(i);
		if (format.validity.RowIsValid(row) && !is_valid(values[row])) {
			throw duckdb::SerializationException("Malformed page: a value cannot be of type %s",
												 vector.GetType().ToString());
		}
	}
}

void VerifyEnum(duckdb::Vector &vector, idx_t count) {
	const auto size = duckdb::EnumType::GetSize(vector.GetType());
	switch (vector.GetType().InternalType()) {
	case duckdb::PhysicalType::UINT8:
		return VerifyEach<uint8_t>(vector, count, [&](uint8_t position) { return position < size; });
	case duckdb::PhysicalType::UINT16:
		return VerifyEach<uint16_t>(vector, count, [&](uint16_t position) { return position < size; });
	default:
		return VerifyEach<uint32_t>(vector, count, [&](uint32_t position) { return position < size; });
	}
}

bool IsTimeWithZone(uint64_t bits) {
	const duckdb::dtime_tz_t value(bits);
	return value.time().micros >= 0 && value.time().micros <= Interval::MICROS_PER_DAY &&
		   value.offset() >= duckdb::dtime_tz_t::MIN_OFFSET && value.offset() <= duckdb::dtime_tz_t::MAX_OFFSET;
}

//! The first byte counts the bits of the second that do not belong to the value.
bool IsBitString(const string_t &value) {
	return value.GetSize() >= 2 && uint8_t(value.GetData()[0]) < 8;
}

//! Three bytes with the number of bytes that follow, all inverted for a negative number.
bool IsBignum(const string_t &value) {
	constexpr idx_t HEADER_SIZE = duckdb::Bignum::BIGNUM_HEADER_SIZE;
	if (value.GetSize() <= HEADER_SIZE) {
		return false;
	}
	const auto bytes = reinterpret_cast<const uint8_t *>(value.GetData());
	uint32_t header = uint32_t(bytes[0]) << 16 | uint32_t(bytes[1]) << 8 | bytes[2];
	if ((header & 0x800000) == 0) {
		header = ~header;
	}
	return (header & 0x7FFFFF) == value.GetSize() - HEADER_SIZE;
}

} // namespace

void VerifyValues(duckdb::Vector &vector, idx_t count) {
	switch (vector.GetType().id()) {
	case LogicalTypeId::BOOLEAN:
		return VerifyEach<uint8_t>(vector, count, [](uint8_t value) { return value <= 1; });
	case LogicalTypeId::ENUM:
		return VerifyEnum(vector, count);
	case LogicalTypeId::TIME:
		return VerifyEach<int64_t>(vector, count,
								   [](int64_t micros) { return micros >= 0 && micros <= Interval::MICROS_PER_DAY; });
	case LogicalTypeId::TIME_NS:
		return VerifyEach<int64_t>(vector, count,
								   [](int64_t nanos) { return nanos >= 0 && nanos <= Interval::NANOS_PER_DAY; });
	case LogicalTypeId::TIME_TZ:
		return VerifyEach<uint64_t>(vector, count, IsTimeWithZone);
	case LogicalTypeId::VARCHAR:
		return VerifyEach<string_t>(vector, count, [](const string_t &value) {
			return duckdb::Value::StringIsValid(value.GetData(), value.GetSize());
		});
	case LogicalTypeId::BIT:
		return VerifyEach<string_t>(vector, count, IsBitString);
	case LogicalTypeId::BIGNUM:
		return VerifyEach<string_t>(vector, count, IsBignum);
	case LogicalTypeId::UNION:
		if (duckdb::UnionVector::CheckUnionValidity(vector, count) != duckdb::UnionInvalidReason::VALID) {
			throw duckdb::SerializationException("Malformed page: a value cannot be of type %s",
												 vector.GetType().ToString());
		}
		return;
	default:
		return;
	}
}

} // namespace skein
