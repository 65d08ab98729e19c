#pragma once

#include <map>
#include <string>
#include <vector>

namespace skein::test {

//! The stages that EXPLAIN shows, and what they say in few words.
class PlanShape {
public:
	//! `text` is a plan as EXPLAIN shows it. Throws std::runtime_error if it is something else.
	explicit PlanShape(const std::string &text);

	//! What happens to the rows, from the leaves to the head: `partial AGGREGATE, NetworkShuffle by k, final AGGREGATE,
	//! NetworkCoalesce`. Projections are left out. Whatever runs in one task, or in the head, is said to; so is what is
	//! read more than once.
	std::string Describe() const;

	//! Whether a line that starts with one of these words is in a stage of several tasks.
	bool IsSpread(const std::vector<std::string> &words) const;
	//! Whether any stage has several tasks.
	bool IsSpread() const;
	//! Whether a line starts with one of these words.
	bool Contains(const std::vector<std::string> &words) const;

private:
	struct Line {
		size_t level;
		std::string text;

		std::string FirstWord() const;
	};
	struct Stage {
		std::vector<Line> lines;
		//! 0: the head, or another part of the session.
		size_t tasks = 0;
	};
	//! The steps of the subtree that starts at line `at` of a stage; `at` becomes the line after it.
	std::string Steps(const Stage &stage, size_t &at) const;
	std::string ExchangeSteps(const std::string &text) const;
	//! Whether several exchanges read this stage.
	bool IsShared(const std::string &stage) const;
	static std::string Step(const Stage &stage, const Line &line);

	Stage head_;
	std::map<std::string, Stage> stages_;
};

} // namespace skein::test
