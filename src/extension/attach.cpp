#include "extension/optimizer_hook.hpp"
#include "extension/settings.hpp"
#include "extension/skein_instance.hpp"
#include "extension/table_functions.hpp"
#include "skein/skein.hpp"
#include "skein/version.hpp"

#include "duckdb/main/extension_callback_manager.hpp"
#include "duckdb/storage/object_cache.hpp"

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

//! Stops an instance when its database begins to close: cached objects go before the memory does.
class StopOnClose final : public ObjectCacheEntry {
public:
	explicit StopOnClose(duckdb::shared_ptr<SkeinInstance> instance) : instance_(std::move(instance)) {
	}
	~StopOnClose() override {
		instance_->Stop();
	}
	string GetObjectType() override {
		return "skein_stop_on_close";
	}
	optional_idx GetEstimatedCacheMemory() const override {
		// Never evicted.
		return optional_idx();
	}

private:
	const duckdb::shared_ptr<SkeinInstance> instance_;
};

} // namespace

void Attach(DatabaseInstance &db) {
	if (!IsAttached(db)) {
		Attach(db, AttachOptions());
	}
}

void Attach(DatabaseInstance &db, AttachOptions options) {
	auto &config = DBConfig::GetConfig(db);
	if (IsAttached(db)) {
		throw InvalidInputException("Skein is attached to this database already: task estimators and a resolver have "
									"to be given the first time");
	}
	RegisterSettings(config);
	RegisterTravelling(db);
	auto instance = make_shared_ptr<SkeinInstance>(db, std::move(options));
	RegisterTableFunctions(db, instance);
	OptimizerExtension::Register(config, MakeOptimizerHook(instance));
	db.GetObjectCache().Put("skein_stop_on_close", make_shared_ptr<StopOnClose>(std::move(instance)));
}

string Version() {
	return SKEIN_VERSION;
}

} // namespace skein
