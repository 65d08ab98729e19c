#pragma once

#include "judge.hpp"

#include <chrono>
#include <map>
#include <ostream>
#include <string>

namespace skein::test {

//! How often each thing was found.
struct Tally {
	size_t equal = 0;
	size_t local = 0;
	size_t different = 0;
	size_t open = 0;
	//! Queries of which plain DuckDB gives not what the file expects.
	size_t alone_mismatches = 0;

	size_t Queries() const {
		return equal + local + different + open;
	}
	void Add(const Tally &other);
};

//! Prints a line for each query, and sums for each file and in total.
//!
//!     agg.test:12 [3_workers]: equal
//!     agg.test:15 [3_workers]: local: a temporary table
//!     agg.test:20 [3_workers]: different: 3 rows instead of 4
//!         SELECT ...
//!         - 1 | a
//!     agg.test [3_workers]: 3 queries: 1 equal, 1 local, 1 different; 0.2 s
//!     total: 1 files: 3 queries: 1 equal, 1 local, 1 different; 0.2 s
class Report {
public:
	//! `only_findings`: no lines for what is equal, local or open. `strict`: it is a failure when plain DuckDB gives
	//! not what a file expects, or when a file is skipped.
	Report(std::ostream &stream, bool only_findings, bool strict)
		: stream_(stream), only_findings_(only_findings), strict_(strict) {
	}

	//! From here on it is about one run of a file.
	void BeginFile(const std::string &path, const std::string &configuration);
	void Add(size_t line, const std::string &sql, const Verdict &verdict);
	//! Something in the file that is wrong, apart from answers.
	void Fail(size_t line, const std::string &what);
	//! A part of the file is left out.
	void Skip(size_t line, const std::string &why);
	//! The rest of the file is left out.
	void SkipFile(size_t line, const std::string &why);
	void EndFile();
	//! A file that cannot be run at all.
	void FailFile(const std::string &what);

	void PrintTotal();
	//! Whether nothing was different or wrong.
	bool Ok() const {
		return total_.different == 0 && failures_ == 0 && !(strict_ && (total_.alone_mismatches > 0 || skipped_ > 0));
	}
	//! What was found so far in the file that is being run, for one that ends early.
	size_t FindingsInFile() const {
		return file_.different + file_failures_;
	}

private:
	std::string Place(size_t line) const;
	void PrintSums(const Tally &tally, size_t failures, std::chrono::steady_clock::time_point since);

	std::ostream &stream_;
	const bool only_findings_;
	const bool strict_;
	std::string path_;
	std::string configuration_;
	std::chrono::steady_clock::time_point file_begin_;
	const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
	Tally file_;
	Tally total_;
	size_t file_failures_ = 0;
	size_t failures_ = 0;
	size_t runs_ = 0;
	size_t skipped_ = 0;
};

} // namespace skein::test
