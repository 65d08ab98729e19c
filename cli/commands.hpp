#pragma once

#include "exit_code.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace skein::cli {

//! What the command line asked for, ready to run.
using Action = std::function<ExitCode()>;

// Each adds one command to `app` and, when that command was given, sets `action`. `action` must outlive parsing.
void AddSqlCommand(CLI::App &app, Action &action);
void AddExplainCommand(CLI::App &app, Action &action);
void AddWorkerCommand(CLI::App &app, Action &action);
void AddClusterCommand(CLI::App &app, Action &action);
//! Adds `bench` and, below it, `bench compare` and `bench simulate`.
void AddBenchCommand(CLI::App &app, Action &action);
void AddBenchCompareCommand(CLI::App &bench, Action &action);
void AddBenchSimulateCommand(CLI::App &bench, Action &action);
void AddTopCommand(CLI::App &app, Action &action);
void AddShellCommand(CLI::App &app, Action &action);

} // namespace skein::cli
