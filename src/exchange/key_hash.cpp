#include "exchange/key_hash.hpp"

#include "duckdb/common/vector_operations/vector_operations.hpp"

namespace skein {

using namespace duckdb;

void HashKeys(DataChunk &keys, Vector &hashes) {
	auto count = keys.size();
	VectorOperations::Hash(keys.data[0], hashes, count);
	for (idx_t i = 1; i < keys.ColumnCount(); i++) {
		VectorOperations::CombineHash(hashes, keys.data[i], count);
	}
	hashes.Flatten(count);
}

} // namespace skein
