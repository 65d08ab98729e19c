#pragma once

#include "duckdb.hpp"

#include <string>

namespace skein {

//! The session's secrets on their way to the tasks of a query.
//!
//! DuckDB's secrets belong to an instance, of which a worker has one for all sessions. Those of a session are kept with
//! the connection of each task instead, where only that task finds them.

//! All secrets of the session of which `use` says so, as GiveSecrets() takes them; empty if there are none. Throws
//! duckdb::InvalidInputException if one of them cannot be written.
std::string CollectSecrets(duckdb::ClientContext &context, const std::function<bool(const duckdb::BaseSecret &)> &use);

//! Lets the tasks of an instance have secrets of their own. Called once, before the first task.
void RegisterTaskSecrets(duckdb::DatabaseInstance &db);
//! From now on `context` finds these secrets, before those of its instance that match a path equally well. Before its
//! first transaction; throws duckdb::SerializationException if they cannot be read.
void GiveSecrets(duckdb::ClientContext &context, const std::string &secrets);

} // namespace skein
