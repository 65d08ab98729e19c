#include "fuzz/supervisor.hpp"

#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skein::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int REPLACE_ME = 75;
constexpr std::chrono::seconds PROGRESS_INTERVAL{60};
//! Processes that end without having run a seed, one after the other, before this is given up.
constexpr int MAX_FAILED_STARTS = 3;

//! One process that runs every jobs-th seed.
class Job {
public:
	Job(const FuzzOptions &options, Report &report, uint64_t first, Clock::time_point deadline)
		: options_(options), report_(report), next_(first), deadline_(deadline) {
		Start();
	}
	Job(Job &&) = delete;
	~Job() {
		if (pid_ > 0) {
			kill(pid_, SIGKILL);
			waitpid(pid_, nullptr, 0);
			close(input_);
		}
	}

	//! -1 when nothing more comes.
	int Input() const {
		return pid_ > 0 ? input_ : -1;
	}

	//! To be called when something can be read.
	void Read() {
		char bytes[4096];
		auto count = read(input_, bytes, sizeof(bytes));
		if (count <= 0) {
			return Ended();
		}
		buffer_.append(bytes, static_cast<size_t>(count));
		for (size_t end; (end = buffer_.find('\n')) != std::string::npos;) {
			Handle(buffer_.substr(0, end));
			buffer_.erase(0, end + 1);
		}
	}

private:
	bool IsLast(uint64_t seed) const {
		return seed >= options_.first_seed + options_.count || Clock::now() >= deadline_;
	}

	void Start() {
		int ends[2];
		if (pipe(ends) != 0) {
			throw std::runtime_error("no pipe for a process");
		}
		auto parent = getpid();
		std::cout << std::flush;
		pid_ = fork();
		if (pid_ < 0) {
			throw std::runtime_error("no process");
		}
		if (pid_ == 0) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			close(ends[0]);
			_exit(getppid() == parent ? RunSeeds(ends[1]) : 1);
		}
		close(ends[1]);
		input_ = ends[0];
		running_.clear();
	}

	int RunSeeds(int output) const {
		auto tell = [&](const std::string &line) {
			auto text = line + "\n";
			if (write(output, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
				_exit(1);
			}
		};
		try {
			FuzzLoop loop(options_, tell);
			for (auto seed = next_; !IsLast(seed); seed += options_.jobs) {
				if (!loop.Run(seed)) {
					return REPLACE_ME;
				}
			}
		} catch (const std::exception &error) {
			std::cerr << "skein-fuzz: " << duckdb::ErrorData(error).Message() << std::endl;
			return 1;
		}
		return 0;
	}

	void Handle(const std::string &line) {
		std::stringstream stream(line);
		std::string word;
		stream >> word;
		if (word == "end") {
			report_.Add(SeedResult::Parse(line.substr(word.size() + 1)));
			running_.clear();
			return;
		}
		uint64_t seed = 0;
		stream >> seed >> configuration_;
		next_ = seed + options_.jobs;
		shrinking_ = word == "shrink";
		alone_ = word == "alone";
		running_ = line;
		failed_starts_ = 0;
	}

	void Ended() {
		int status = 0;
		waitpid(pid_, &status, 0);
		close(input_);
		pid_ = 0;
		buffer_.clear();
		auto replace = WIFEXITED(status) && WEXITSTATUS(status) == REPLACE_ME;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
			return;
		}
		if (!replace && running_.empty() && ++failed_starts_ >= MAX_FAILED_STARTS) {
			throw std::runtime_error("the process that runs queries does not start");
		}
		if (!replace && !running_.empty()) {
			if (alone_) {
				ReportAlone();
			} else {
				ReportCrash(status);
			}
		}
		if (!IsLast(next_)) {
			Start();
		}
	}

	//! Plain DuckDB has ended the process, or could not be interrupted.
	void ReportAlone() {
		SeedResult result;
		result.seed = next_ - options_.jobs;
		result.verdict = Verdict::SKIPPED;
		result.what = "plain DuckDB ends the process";
		report_.Add(result);
	}

	void ReportCrash(int status) {
		report_.AddCrash();
		auto seed = next_ - options_.jobs;
		auto query = QueryOf(Catalog(), options_, seed);
		std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it could not be interrupted";
		WriteFinding(options_, "=== seed " + std::to_string(seed) + ", " + configuration_ + ": crash: " + how +
								   (shrinking_ ? ", while a difference was shrunk" : "") + "\n" + query.sql +
								   "\n  again:  " +
								   CommandLine(options_, seed, FuzzConfiguration::Parse(configuration_)) + "\n\n");
	}

	const FuzzOptions &options_;
	Report &report_;
	uint64_t next_;
	const Clock::time_point deadline_;
	pid_t pid_ = 0;
	int input_ = -1;
	std::string buffer_;
	//! The line that said what is running; empty: nothing is.
	std::string running_;
	std::string configuration_;
	bool shrinking_ = false;
	//! What runs is plain DuckDB.
	bool alone_ = false;
	int failed_starts_ = 0;
};

} // namespace

bool RunSupervised(const FuzzOptions &options) {
	auto start = Clock::now();
	auto deadline = options.seconds > 0
						? start + std::chrono::milliseconds(static_cast<int64_t>(options.seconds * 1000))
						: Clock::time_point::max();
	Report report;
	std::vector<std::unique_ptr<Job>> jobs;
	for (size_t i = 0; i < std::min<uint64_t>(options.jobs, options.count); i++) {
		jobs.push_back(std::make_unique<Job>(options, report, options.first_seed + i, deadline));
	}
	auto next_progress = start + PROGRESS_INTERVAL;
	for (;;) {
		if (Clock::now() >= next_progress) {
			next_progress = Clock::now() + PROGRESS_INTERVAL;
			std::cerr << report.Queries() << " queries, " << report.Findings() << " findings" << std::endl;
		}
		std::vector<pollfd> inputs;
		std::vector<Job *> readers;
		for (auto &job : jobs) {
			if (job->Input() >= 0) {
				inputs.push_back({job->Input(), POLLIN, 0});
				readers.push_back(job.get());
			}
		}
		if (inputs.empty() || (options.until_found && report.Findings() > 0)) {
			break;
		}
		if (poll(inputs.data(), inputs.size(), -1) < 0 && errno != EINTR) {
			throw std::runtime_error("cannot wait for processes");
		}
		for (size_t i = 0; i < inputs.size(); i++) {
			if (inputs[i].revents != 0) {
				readers[i]->Read();
			}
		}
	}
	report.Print(std::cout, std::chrono::duration<double>(Clock::now() - start).count());
	return report.Findings() == 0;
}

} // namespace skein::fuzz
