#pragma once

#include <cstdint>

namespace skein {

//! Where the rows of a producer stage go.
enum class ExchangeKind : uint8_t {
	//! To the consumer task that the hash of the keys chooses; without keys, chunk by chunk to all in turn.
	SHUFFLE = 0,
	//! To every consumer task.
	BROADCAST = 1,
	//! All to the only consumer task.
	COALESCE = 2,
	//! Not the rows, but the hashes of their keys, to every consumer task: a runtime filter.
	KEY_HASHES = 3
};

//! In which order a consumer reads its producers.
enum class ReadOrder : uint8_t {
	//! As pages arrive.
	ANY = 0,
	//! All rows of task 0, then all of task 1, ...
	BY_TASK = 1,
	//! Merged by a sort order in which every producer delivers.
	MERGE = 2
};

} // namespace skein
