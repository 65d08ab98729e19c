#include "extension/optimizer_hook.hpp"
#include "extension/settings.hpp"
#include "extension/skein_instance.hpp"
#include "extension/table_functions.hpp"
#include "skein/skein.hpp"
#include "skein/version.hpp"

#include "duckdb/main/extension_callback_manager.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Whether the hook is there. Settings prove nothing: a database may have been given those of another.
bool IsAttached(DatabaseInstance &db) {
	for (auto &extension : ExtensionCallbackManager::Get(db).OptimizerExtensions()) {
		if (dynamic_cast<SkeinInstance *>(extension.optimizer_info.get())) {
			return true;
		}
	}
	return false;
}

} // namespace

void Attach(DatabaseInstance &db) {
	auto &config = DBConfig::GetConfig(db);
	if (IsAttached(db)) {
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
