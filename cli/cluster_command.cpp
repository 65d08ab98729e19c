#include "address.hpp"
#include "child_processes.hpp"
#include "commands.hpp"
#include "stop_signals.hpp"

#include <iostream>

namespace skein::cli {
namespace {

struct ClusterOptions {
	size_t workers = 0;
	std::string listen = "127.0.0.1:0";
	std::vector<std::string> extensions;
};

ExitCode RunCluster(const ClusterOptions &options) {
	StopSignals signals;
	auto launches = ShareMachine(options.workers, options.listen);
	for (auto &launch : launches) {
		launch.extensions = options.extensions;
	}
	ChildProcesses workers(launches);
	std::cout << "--cluster " << workers.AddressList() << std::endl;
	if (auto ended = workers.WaitForEnd(signals.Descriptor())) {
		std::cerr << "skein: worker " << ended->address << ' ' << DescribeEnd(ended->status)
				  << "; stopping the others\n";
		workers.Stop();
		return ExitCode::FAILED;
	}
	signals.Wait();
	workers.Stop();
	return ExitCode::DONE;
}

} // namespace

void AddClusterCommand(CLI::App &app, Action &action) {
	auto options = std::make_shared<ClusterOptions>();
	auto command = app.add_subcommand("cluster", "Starts worker processes on this machine until it is stopped");
	command->add_option("--workers", options->workers, "How many")->check(CLI::Range(1, 1024))->required();
	command->add_option("--listen", options->listen, "Address of the first; the others take the ports that follow")
		->check(ListenAddress());
	command->add_option("--load", options->extensions, "As that of skein worker");
	command->callback([&action, options] { action = [options] { return RunCluster(*options); }; });
}

} // namespace skein::cli
