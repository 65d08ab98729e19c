#include "engine/task_secrets.hpp"

#include "duckdb/catalog/catalog_transaction.hpp"
#include "duckdb/common/serializer/binary_deserializer.hpp"
#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "duckdb/main/secret/secret.hpp"
#include "duckdb/main/secret/secret_manager.hpp"
#include "duckdb/main/secret/secret_storage.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr field_id_t SECRETS_FIELD = 100;

class TaskSecrets final : public ClientContextState {
public:
	static constexpr const char *KEY = "skein_task_secrets";

	vector<unique_ptr<const BaseSecret>> secrets;
};

//! Has nothing of its own: it looks into the connection that asks.
class TaskSecretStorage final : public SecretStorage {
public:
	//! Before DuckDB's own storages.
	static constexpr int64_t TIE_BREAK_OFFSET = 5;

	TaskSecretStorage() : SecretStorage("skein_task", TIE_BREAK_OFFSET) {
	}
	unique_ptr<SecretEntry> StoreSecret(unique_ptr<const BaseSecret> secret, OnCreateConflict,
										optional_ptr<CatalogTransaction>) override {
		throw InvalidInputException("the secret \"%s\" cannot be added to those of a task", secret->GetName());
	}
	void DropSecretByName(const string &name, OnEntryNotFound, optional_ptr<CatalogTransaction>) override {
		throw InvalidInputException("the secret \"%s\" of a task cannot be dropped", name);
	}
	vector<SecretEntry> AllSecrets(optional_ptr<CatalogTransaction> transaction) override {
		vector<SecretEntry> result;
		ForEach(transaction, [&](SecretEntry &entry) { result.push_back(entry); });
		return result;
	}
	SecretMatch LookupSecret(const string &path, const string &type,
							 optional_ptr<CatalogTransaction> transaction) override {
		SecretMatch best;
		ForEach(transaction, [&](SecretEntry &entry) {
			if (StringUtil::CIEquals(entry.secret->GetType(), type)) {
				best = SelectBestMatch(entry, path, tie_break_offset, best);
			}
		});
		return best;
	}
	unique_ptr<SecretEntry> GetSecretByName(const string &name, optional_ptr<CatalogTransaction> transaction) override {
		unique_ptr<SecretEntry> result;
		ForEach(transaction, [&](SecretEntry &entry) {
			if (entry.secret->GetName() == name) {
				result = make_uniq<SecretEntry>(entry);
			}
		});
		return result;
	}

private:
	template <class USE>
	void ForEach(optional_ptr<CatalogTransaction> transaction, USE use) const {
		if (!transaction || !transaction->HasContext()) {
			return;
		}
		auto state = transaction->GetContext().registered_state->Get<TaskSecrets>(TaskSecrets::KEY);
		if (!state) {
			return;
		}
		for (auto &secret : state->secrets) {
			SecretEntry entry(secret->Clone());
			entry.persist_type = SecretPersistType::TEMPORARY;
			entry.storage_mode = storage_name;
			use(entry);
		}
	}
};

} // namespace

std::string CollectSecrets(ClientContext &context, const std::function<bool(const BaseSecret &)> &use) {
	auto transaction = CatalogTransaction::GetSystemCatalogTransaction(context);
	vector<unique_ptr<const BaseSecret>> secrets;
	for (auto &entry : SecretManager::Get(context).AllSecrets(transaction)) {
		if (use(*entry.secret)) {
			secrets.push_back(entry.secret->Clone());
		}
	}
	if (secrets.empty()) {
		return {};
	}
	MemoryStream stream;
	BinarySerializer serializer(stream);
	serializer.Begin();
	serializer.WriteList(SECRETS_FIELD, "secrets", secrets.size(), [&](Serializer::List &list, idx_t i) {
		auto &secret = *secrets[i];
		if (!secret.IsSerializable()) {
			throw InvalidInputException("the secret \"%s\" cannot be sent to the workers", secret.GetName());
		}
		list.WriteObject([&](Serializer &object) { secret.Serialize(object); });
	});
	serializer.End();
	return std::string(char_ptr_cast(stream.GetData()), stream.GetPosition());
}

void RegisterTaskSecrets(DatabaseInstance &db) {
	SecretManager::Get(db).LoadSecretStorage(make_uniq<TaskSecretStorage>());
}

void GiveSecrets(ClientContext &context, const std::string &secrets) {
	auto state = make_shared_ptr<TaskSecrets>();
	auto bytes = const_cast<char *>(secrets.data());
	MemoryStream stream(data_ptr_cast(bytes), secrets.size());
	BinaryDeserializer deserializer(stream);
	auto &manager = SecretManager::Get(context);
	deserializer.Begin();
	deserializer.ReadList(SECRETS_FIELD, "secrets", [&](Deserializer::List &list, idx_t) {
		list.ReadObject([&](Deserializer &object) { state->secrets.push_back(manager.DeserializeSecret(object)); });
	});
	deserializer.End();
	context.registered_state->Insert(TaskSecrets::KEY, std::move(state));
}

} // namespace skein
