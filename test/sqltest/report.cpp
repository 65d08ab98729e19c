#include "report.hpp"

#include "duckdb/common/string_util.hpp"

#include <iomanip>

namespace skein::test {

using duckdb::StringUtil;

void Tally::Add(const Tally &other) {
	equal += other.equal;
	local += other.local;
	different += other.different;
	open += other.open;
	alone_mismatches += other.alone_mismatches;
}

void Report::BeginFile(const std::string &path, const std::string &configuration) {
	path_ = path;
	configuration_ = configuration;
	file_begin_ = std::chrono::steady_clock::now();
	file_ = Tally();
	file_failures_ = 0;
	runs_++;
}

std::string Report::Place(size_t line) const {
	return path_ + (line > 0 ? ":" + std::to_string(line) : "") + " [" + configuration_ + "]: ";
}

void Report::Add(size_t line, const std::string &sql, const Verdict &verdict) {
	using Kind = Verdict::Kind;
	auto &count = verdict.kind == Kind::EQUAL		? file_.equal
				  : verdict.kind == Kind::LOCAL		? file_.local
				  : verdict.kind == Kind::DIFFERENT ? file_.different
													: file_.open;
	count++;
	file_.alone_mismatches += verdict.alone_mismatch ? 1 : 0;
	auto finding = verdict.kind == Kind::DIFFERENT || (strict_ && verdict.alone_mismatch);
	if (only_findings_ && !finding) {
		return;
	}
	static const std::map<Kind, std::string> WORDS{
		{Kind::EQUAL, "equal"}, {Kind::LOCAL, "local"}, {Kind::DIFFERENT, "different"}, {Kind::OPEN, "open"}};
	stream_ << Place(line) << WORDS.at(verdict.kind) << (verdict.reason.empty() ? "" : ": " + verdict.reason);
	if (verdict.alone_mismatch) {
		stream_ << " (plain DuckDB alone is not as the file expects: " << *verdict.alone_mismatch << ")";
	}
	stream_ << "\n";
	if (finding) {
		stream_ << "    " << StringUtil::Replace(sql, "\n", "\n    ") << "\n";
		for (auto &text : verdict.diff) {
			stream_ << "    " << StringUtil::Replace(text, "\n", "\n      ") << "\n";
		}
	}
	stream_.flush();
}

void Report::Fail(size_t line, const std::string &what) {
	file_failures_++;
	stream_ << Place(line) << "wrong: " << what << std::endl;
}

void Report::Skip(size_t line, const std::string &why) {
	skipped_++;
	stream_ << Place(line) << "skipped: " << why << std::endl;
}

void Report::SkipFile(size_t line, const std::string &why) {
	Skip(line, "the rest of the file: " + why);
}

void Report::EndFile() {
	stream_ << Place(0);
	PrintSums(file_, file_failures_, file_begin_);
	total_.Add(file_);
	failures_ += file_failures_;
}

void Report::FailFile(const std::string &what) {
	failures_++;
	stream_ << what << std::endl;
}

void Report::PrintTotal() {
	stream_ << "total: " << runs_ << " runs of files, " << skipped_ << " parts skipped: ";
	PrintSums(total_, failures_, begin_);
}

void Report::PrintSums(const Tally &tally, size_t failures, std::chrono::steady_clock::time_point since) {
	std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - since;
	stream_ << tally.Queries() << " queries: " << tally.equal << " equal, " << tally.local << " local, "
			<< tally.different << " different";
	auto add = [&](size_t count, const std::string &what) {
		if (count > 0) {
			stream_ << ", " << count << " " << what;
		}
	};
	add(tally.open, "open");
	add(failures, "wrong");
	add(tally.alone_mismatches, "not as expected in plain DuckDB");
	stream_ << "; " << std::fixed << std::setprecision(1) << seconds.count() << " s" << std::endl;
}

} // namespace skein::test
