#include "configuration.hpp"

namespace skein::test {

const std::vector<Configuration> &AllConfigurations() {
	static const std::vector<Configuration> ALL{
		{"1_worker", 0, {{"skein_workers", "1"}, {"threads", "4"}}},
		{"1_worker_1_thread", 0, {{"skein_workers", "1"}, {"threads", "1"}}},
		{"2_workers", 0, {{"skein_workers", "2"}, {"threads", "4"}}},
		{"3_workers", 0, {{"skein_workers", "3"}, {"threads", "4"}}},
		{"3_workers_1_thread", 0, {{"skein_workers", "3"}, {"threads", "1"}, {"skein_text_range_bytes", "3000"}}},
		{"7_workers", 0, {{"skein_workers", "7"}, {"threads", "4"}, {"skein_text_range_bytes", "1000"}}},
		{"7_workers_1_thread", 0, {{"skein_workers", "7"}, {"threads", "1"}}},
		{"broadcast", 0, {{"skein_workers", "3"}, {"threads", "4"}, {"skein_join", "broadcast"}}},
		{"shuffle", 0, {{"skein_workers", "3"}, {"threads", "4"}, {"skein_join", "shuffle"}}},
		{"no_broadcast_limit", 0, {{"skein_workers", "7"}, {"threads", "2"}, {"skein_broadcast_limit", "1"}}},
		{"one_row_pages", 0, {{"skein_workers", "3"}, {"threads", "4"}, {"skein_page_bytes", "1"}}},
		{"small_buffer", 0, {{"skein_workers", "3"}, {"threads", "2"}, {"skein_buffer_bytes", "1"}}},
		{"work_stealing",
		 0,
		 {{"skein_workers", "3"},
		  {"threads", "4"},
		  {"skein_work_stealing", "force"},
		  {"skein_text_range_bytes", "5000"},
		  {"skein_debug_unit_delay", "0:1 ms"}}},
		{"low_memory", 0, {{"skein_workers", "2"}, {"threads", "2"}, {"memory_limit", "200MB"}}},
		{"2_processes", 2, {{"threads", "2"}, {"skein_text_range_bytes", "2000"}}},
		{"2_processes_shuffle",
		 2,
		 {{"threads", "2"}, {"skein_join", "shuffle"}, {"skein_page_bytes", "1000"}, {"skein_compression", "lz4"}}},
		{"2_processes_zstd", 2, {{"threads", "2"}, {"skein_compression", "zstd"}}},
	};
	return ALL;
}

} // namespace skein::test
