#include "lane.hpp"

#include "extension/session.hpp"

#include "skein/skein.hpp"

#include "duckdb/catalog/catalog_search_path.hpp"
#include "duckdb/main/client_data.hpp"

#include <stdexcept>

namespace skein::test {
namespace {

bool IsSkeins(const std::string &setting) {
	return setting.rfind("skein_", 0) == 0;
}

} // namespace

Lane::Lane(TestFolder &folder, Watchdog &watchdog, Options options)
	: folder_(folder), watchdog_(watchdog), options_(std::move(options)) {
	config_.SetOptionByName("allow_unsigned_extensions", true);
	config_.SetOptionByName("allow_unredacted_secrets", true);
	config_.SetOptionByName("autoinstall_known_extensions", false);
	config_.SetOptionByName("autoload_known_extensions", false);
	Open();
	for (auto &[name, value] : options_.settings) {
		if (!IsSkeins(name)) {
			Set(*main_, name, value);
		}
	}
}

Lane::~Lane() {
	Close();
}

void Lane::Open() {
	folder_.Select(options_.name);
	database_ = duckdb::make_uniq<duckdb::DuckDB>(path_.empty() ? nullptr : path_.c_str(), &config_);
	if (options_.with_skein) {
		Attach(*database_->instance);
	}
	main_ = Connect();
}

void Lane::Close() {
	folder_.Select(options_.name);
	named_.clear();
	main_.reset();
	database_.reset();
}

duckdb::unique_ptr<duckdb::Connection> Lane::Connect() {
	auto connection = duckdb::make_uniq<duckdb::Connection>(*database_);
	// May be refused where a secret has been made already.
	RunSql(*connection, "SET secret_directory = " + duckdb::Value(folder_.Path() + "/secrets").ToSQLString());
	if (options_.with_skein) {
		SetMode(*connection);
		for (auto &[name, value] : options_.settings) {
			if (IsSkeins(name)) {
				Set(*connection, name, value);
			}
		}
	}
	return connection;
}

void Lane::Set(duckdb::Connection &connection, const std::string &name, const std::string &value) {
	auto outcome = RunSql(connection, "SET " + name + " = " + duckdb::Value(value).ToSQLString());
	if (!outcome.answer) {
		throw std::runtime_error("cannot set " + name + ": " + outcome.ErrorLine());
	}
}

void Lane::SetMode(duckdb::Connection &connection) {
	Set(connection, "skein_mode", distribute_ ? "force" : "off");
}

void Lane::Distribute(bool on) {
	distribute_ = on;
	if (options_.with_skein) {
		SetMode(*main_);
		for (auto &[name, connection] : named_) {
			SetMode(*connection);
		}
	}
}

duckdb::Connection &Lane::Connection(const std::string &name) {
	if (name.empty()) {
		return *main_;
	}
	auto &connection = named_[name];
	if (!connection) {
		connection = Connect();
	}
	return *connection;
}

LaneOutcome Lane::Run(const std::string &name, const std::string &sql, const std::string &what) {
	folder_.Select(options_.name);
	auto &connection = Connection(name);
	LaneOutcome outcome;
	std::chrono::steady_clock::time_point before;
	if (options_.with_skein) {
		before = Session::Get(*connection.context)->Last().started_at;
	}
	{
		Watchdog::Watch watch(watchdog_, connection, what);
		static_cast<Outcome &>(outcome) = RunSql(connection, sql);
		outcome.timed_out = watch.TimedOut();
	}
	if (options_.with_skein) {
		auto last = Session::Get(*connection.context)->Last();
		if (last.started_at != before) {
			outcome.plan = LaneOutcome::Plan{last.distributed, last.reason};
		}
	}
	return outcome;
}

LaneOutcome Lane::RunAlone(const std::string &connection, const std::string &sql, const std::string &what) {
	auto was_on = distribute_;
	Distribute(false);
	auto outcome = Run(connection, sql, what);
	Distribute(was_on);
	return outcome;
}

void Lane::Load(const std::string &path, bool read_only, const std::string &storage_version) {
	auto version = database_->instance->config.options.serialization_compatibility;
	Close();
	if (!read_only && !path.empty() && path != ":memory:") {
		std::filesystem::remove(path);
		std::filesystem::remove(path + ".wal");
	}
	path_ = path;
	config_.options.use_temporary_directory = !read_only;
	config_.options.access_mode = read_only ? duckdb::AccessMode::READ_ONLY : duckdb::AccessMode::AUTOMATIC;
	config_.options.serialization_compatibility =
		storage_version.empty() ? version : duckdb::SerializationCompatibility::FromString(storage_version);
	Open();
	for (auto &extension : std::set<std::string>(extensions_)) {
		LoadExtension(extension);
	}
}

void Lane::Restart(bool with_extensions) {
	auto &client = *main_->context;
	config_.options = database_->instance->config.options;
	config_.user_settings = database_->instance->config.user_settings;
	auto client_config = client.config;
	auto search_paths = duckdb::ClientData::Get(client).catalog_search_path->GetSetPaths();
	Close();
	Open();
	main_->context->config = client_config;
	main_->BeginTransaction();
	duckdb::ClientData::Get(*main_->context)
		.catalog_search_path->Set(search_paths, duckdb::CatalogSetPathType::SET_SCHEMAS);
	main_->Commit();
	if (!with_extensions) {
		return;
	}
	for (auto &extension : std::set<std::string>(extensions_)) {
		LoadExtension(extension);
	}
}

void Lane::Reconnect() {
	folder_.Select(options_.name);
	main_.reset();
	main_ = Connect();
}

bool Lane::LoadExtension(const std::string &name) {
	folder_.Select(options_.name);
	auto loaded = RunSql(*main_, "SELECT 1 FROM duckdb_extensions() WHERE loaded AND extension_name = " +
									 duckdb::Value(name).ToSQLString());
	if (loaded.answer && !loaded.answer->rows.empty()) {
		return true;
	}
	auto file = options_.extension_dir + "/" + name + ".duckdb_extension";
	if (!std::filesystem::exists(file)) {
		return false;
	}
	auto outcome = RunSql(*main_, "LOAD " + duckdb::Value(file).ToSQLString());
	if (!outcome.answer) {
		throw std::runtime_error("cannot load " + file + ": " + outcome.ErrorLine());
	}
	extensions_.insert(name);
	return true;
}

} // namespace skein::test
