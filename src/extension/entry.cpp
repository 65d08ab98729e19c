#include "duckdb/main/extension/extension_loader.hpp"
#include "skein/skein.hpp"

extern "C" {

DUCKDB_CPP_EXTENSION_ENTRY(skein, loader) {
	skein::Attach(loader.GetDatabaseInstance());
}
}
