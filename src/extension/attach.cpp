#include "extension/optimizer_hook.hpp"
#include "extension/settings.hpp"
#include "extension/skein_instance.hpp"
#include "extension/table_functions.hpp"
#include "skein/skein.hpp"
#include "skein/version.hpp"

namespace skein {

using namespace duckdb;

void Attach(DatabaseInstance &db) {
	auto &config = DBConfig::GetConfig(db);
	if (config.HasExtensionOption("skein_mode")) {
		return;
	}
	RegisterSettings(config);
	RegisterTravelling(db);
	auto instance = make_shared_ptr<SkeinInstance>(db);
	RegisterTableFunctions(db, instance);
	OptimizerExtension::Register(config, MakeOptimizerHook(instance));
}

string Version() {
	return SKEIN_VERSION;
}

} // namespace skein
