#include "scenario.hpp"

namespace skein::test {
namespace {

//! Stages that several consumers read which wait for one another.
Scenario Diamonds() {
	Scenario result;
	result.name = "diamonds";
	result.queries = {
		"WITH s AS MATERIALIZED (SELECT id, k, v FROM facts) "
		"SELECT count(*), sum(a.v), sum(b.v) FROM s a JOIN s b ON a.k = b.k + 1",
		"WITH s AS MATERIALIZED (SELECT k, count(*) AS c, sum(v) AS t FROM facts GROUP BY k) "
		"SELECT a.k, a.c, b.t FROM s a JOIN s b ON a.k = b.k + 1 ORDER BY ALL",
		"WITH s AS MATERIALIZED (SELECT id, k, v FROM facts) SELECT count(*), sum(a.id) "
		"FROM s a JOIN (SELECT k, max(v) AS m FROM s GROUP BY k) b ON a.k = b.k AND a.v = b.m",
		"WITH s AS MATERIALIZED (SELECT id, k, v FROM facts) "
		"SELECT count(*), sum(b.v), sum(c.v) FROM s a JOIN s b ON a.id = b.v JOIN s c ON b.k = c.id",
		"WITH s AS MATERIALIZED (SELECT id, k, v FROM facts), t AS MATERIALIZED (SELECT a.k AS k, b.v AS v FROM s a "
		"JOIN "
		"s b ON a.id = b.v) SELECT count(*), sum(x.v + y.v) FROM t x JOIN t y ON x.v = y.k",
		"WITH s AS MATERIALIZED (SELECT id, k, v FROM facts) SELECT count(*) FROM s WHERE v > (SELECT avg(v) FROM s)",
		"WITH s AS MATERIALIZED (SELECT id, k, v FROM facts) "
		"SELECT (SELECT count(*) FROM (SELECT * FROM s LIMIT 3)), (SELECT sum(v) FROM s), (SELECT min(id) FROM s)",
		"SELECT count(DISTINCT k), count(DISTINCT v), count(DISTINCT t), sum(v) FROM facts",
		"WITH s AS MATERIALIZED (SELECT id, k, v FROM owned) "
		"SELECT count(*), sum(a.v) FROM s a JOIN facts f ON a.k = f.k JOIN s b ON f.id = b.v",
		"WITH s AS MATERIALIZED (SELECT range AS id, range % 61 AS k FROM range(3000)) "
		"SELECT count(*) FROM s a JOIN s b ON a.id = b.k WHERE EXISTS (SELECT 1 FROM s c WHERE c.k = a.id)",
	};
	return result;
}

//! One side of a join sent to 64 tasks, which all read it at their own pace or not to its end.
Scenario Broadcasts() {
	Scenario result;
	result.name = "broadcasts";
	result.clients = 1;
	result.needs_memory = true;
	result.settings = {{"skein_join", "broadcast"}, {"skein_max_tasks", "64"}, {"skein_broadcast_limit", "1GiB"}};
	result.queries = {
		"SELECT count(*), sum(v), max(name) FROM facts JOIN (SELECT DISTINCT k, name FROM keys) USING (k)",
		"SELECT count(*) FROM facts f JOIN (SELECT k, max(v) AS m FROM facts GROUP BY k) g ON f.k = g.k AND f.v < g.m",
		"SELECT count(*), sum(f.v) FROM facts f JOIN (SELECT k, count(*) AS c FROM keys GROUP BY k) g ON f.v < g.c * 3",
		"SELECT count(*) FROM facts WHERE k NOT IN (SELECT DISTINCT k FROM owned)",
		"SELECT count(*) FROM facts f WHERE EXISTS (SELECT 1 FROM owned o WHERE o.k = f.k AND o.v > f.v)",
		"SELECT count(*) FROM (SELECT f.id FROM facts f JOIN owned o ON f.k = o.k LIMIT 7)",
		"SELECT f.id, o.id FROM facts f LEFT JOIN owned o ON f.id = o.v ORDER BY f.id, o.id LIMIT 20",
	};
	return result;
}

//! Very many at a time.
Scenario Crowd() {
	Scenario result;
	result.name = "crowd";
	result.clients = 40;
	result.queries_of_a_client = 1;
	result.settings = {{"skein_max_tasks", "2"}};
	result.queries = {
		"SELECT count(*) FROM keys",
		"SELECT k, count(*) FROM keys WHERE k < 5 GROUP BY k ORDER BY k",
		"SELECT 1 AS one FROM keys WHERE k = 17",
		"SELECT count(*), sum(o.v) FROM owned o JOIN keys USING (k)",
		"SELECT name FROM keys ORDER BY name DESC LIMIT 3",
		"SELECT count(*) FROM (SELECT * FROM keys LIMIT 2)",
		"WITH s AS MATERIALIZED (SELECT * FROM keys) SELECT count(*) FROM s a JOIN s b ON a.k = b.k + 1",
	};
	return result;
}

//! Whose consumers, or whose session, need no more before everything was read.
Scenario EarlyEnds() {
	Scenario result;
	result.name = "early ends";
	result.abandons = true;
	result.queries = {
		"SELECT count(*) FROM (SELECT * FROM facts LIMIT 5)",
		"SELECT count(*) FROM (SELECT * FROM facts UNION ALL SELECT * FROM facts LIMIT 100)",
		"SELECT count(*) FROM (SELECT a.id FROM facts a JOIN facts b ON a.k = b.k LIMIT 11)",
		"SELECT count(*) FROM (SELECT k, count(*) FROM facts GROUP BY k LIMIT 3)",
		"SELECT id, v FROM facts ORDER BY v, id LIMIT 4",
		"SELECT count(*) FROM facts f WHERE EXISTS (SELECT 1 FROM facts g WHERE g.k = f.k)",
		"SELECT count(*) FROM facts f SEMI JOIN owned o ON f.k = o.k AND f.v <> o.v",
		"SELECT a.id, b.id FROM facts a JOIN facts b ON a.id = b.v ORDER BY ALL",
		"SELECT count(*) FROM facts a JOIN facts b ON a.k = b.id WHERE b.v < 0",
	};
	return result;
}

//! Sorted streams of many tasks, and streams that are read task by task.
Scenario Merges() {
	Scenario result;
	result.name = "merges";
	result.queries = {
		"SELECT id, k, v, t FROM facts ORDER BY v DESC, id",
		"SELECT id, t FROM facts ORDER BY t, k, id LIMIT 50 OFFSET 1000",
		"SELECT k, sum(v) AS s FROM facts GROUP BY k ORDER BY s DESC, k",
		"SELECT id, row_number() OVER (PARTITION BY k ORDER BY v, id) AS n FROM facts ORDER BY id",
		"SELECT id, v FROM facts WHERE v % 3 = 0 ORDER BY id DESC",
		"SELECT f.id, o.v FROM facts f JOIN owned o ON f.k = o.k WHERE f.v < 200 ORDER BY ALL",
		"SELECT k, v FROM facts UNION ALL SELECT k, v FROM owned ORDER BY ALL",
		"SELECT id FROM (SELECT id FROM facts ORDER BY v, id LIMIT 300) ORDER BY id",
	};
	return result;
}

} // namespace

const std::vector<Scenario> &AllScenarios() {
	static const std::vector<Scenario> ALL{Diamonds(), Broadcasts(), Crowd(), EarlyEnds(), Merges()};
	return ALL;
}

} // namespace skein::test
