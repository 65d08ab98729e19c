#!/usr/bin/env python3
"""What is reported of the operators when a query ends before its end: by LIMIT, an error, an interrupt, a lost worker.

    analyze_test.py PROGRAM

Needs Python's module duckdb.
"""

import json
import os
import threading
import unittest

from cluster_fixture import LIMIT, ClusterTest, Worker, main, until

try:
    import duckdb
except ImportError:
    duckdb = None

ROWS = 2_000_000


def leaves(operator):
    found = [operator] if operator["kind"] == "leaf" else []
    for child in operator["children"]:
        found += leaves(child)
    return found


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class AnalyzeTest(ClusterTest):
    def analyze(self, connection, sql):
        (row,) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT json) {sql}").fetchall()
        plan = json.loads(row[1])
        self.assertTrue(plan["distributed"])
        return plan

    def scans(self, connection):
        """Rows that the leaves of the last query returned and read, by task."""
        return connection.execute(
            "SELECT task, rows, rows_read FROM skein_operators() WHERE name = 'DistributedLeaf' ORDER BY ALL"
        ).fetchall()

    def during(self, connection, workers, sql, event):
        """Executes `sql`, and calls `event` when every worker is in the middle of it."""
        before = [worker.cpu_seconds() for worker in workers]

        def wait():
            until(
                lambda: all(worker.cpu_seconds() - used > 0.3 for worker, used in zip(workers, before)),
                LIMIT,
                "the query has begun",
            )
            event()

        thread = threading.Thread(target=wait)
        thread.start()
        try:
            return self.analyze(connection, sql)
        finally:
            thread.join()

    def heavy(self, numbers):
        return f"list_sum(list_transform(range(k % 100 + {numbers}), x -> hash(x, h) % 7))"

    def test_a_query_that_runs_to_its_end(self):
        workers = self.workers(3)
        plan = self.analyze(self.connect(workers), f"SELECT k, count(*) FROM '{self.facts}' WHERE id % 2 = 0 GROUP BY k")
        (leaf,) = leaves(plan["stages"][0]["plan"])
        self.assertEqual(leaf["rows_read"], ROWS)
        self.assertEqual([task["task"] for task in leaf["tasks"]], [0, 1, 2])
        self.assertEqual(plan["plan"]["rows"], 500)
        # Of two columns of four, and the footers. What a task was to read another one may have taken.
        read = sum(report["bytes_read"] for report in plan["stages"][0]["task_reports"])
        planned = sum(variant["bytes"] for variant in leaf["variants"])
        self.assertGreaterEqual(read, planned)
        self.assertLess(read, 1.2 * planned + (200 << 10))
        links = 0
        for stage in plan["stages"]:
            self.assertEqual([report["state"] for report in stage["task_reports"]], ["finished"] * stage["tasks"])
            self.assertEqual(
                sorted({report["worker"] for report in stage["task_reports"]}),
                sorted(worker.address for worker in workers),
            )
            self.assertEqual(stage["sink"]["rows"], stage["plan"]["rows"])
            for report in stage["task_reports"]:
                self.assertGreaterEqual(report["wall_ms"], report["queue_ms"])
            links += sum(output["link_bytes"] for output in stage["outputs"])
        self.assertGreater(links, 0)

    def test_waiting_row_groups_pages_and_processor_time(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        connection.execute("SET skein_page_bytes='16KiB'")
        # Known while it runs: the filter comes from the other side of the join.
        sql = f"SELECT sum(a.h % 7) FROM '{self.facts}' a JOIN (FROM '{self.keys}' WHERE id < 1000) b ON a.id = b.id + 1000"
        plan = self.analyze(connection, sql)
        found = [leaf for stage in plan["stages"] for leaf in leaves(stage["plan"])]
        facts = max(found, key=lambda leaf: sum(variant["rows"] for variant in leaf["variants"]))
        groups = 4 * -(-500_000 // 20480)
        self.assertEqual(facts["row_groups_read"] + facts["row_groups_skipped"], groups)
        self.assertGreater(facts["row_groups_skipped"], 0)
        self.assertGreaterEqual(facts["row_groups_read"] * 20480, facts["rows_read"])

        # 16 bytes a row in pages of 16 KiB; the stage that reads them waits for the one that makes them: of five row
        # groups no task has more than three, so that a thread is left for it.
        threads = 4
        connection = self.connect(self.workers(2, threads=threads))
        connection.execute("SET skein_page_bytes='16KiB'")
        heavy = f"SELECT {self.heavy(30)} AS v, id FROM '{self.folder}/keys/0.parquet'"
        plan = self.analyze(connection, f"SELECT v, count(DISTINCT id) FROM ({heavy}) GROUP BY v")
        producer = plan["stages"][0]
        (output,) = producer["outputs"]
        self.assertGreater(output["pages"], output["bytes"] // (64 << 10))
        self.assertEqual(output["pages"], sum(report["pages"] for report in producer["task_reports"]))
        reader = plan["stages"][1]["plan"]
        while reader["kind"] != "input":
            (reader,) = reader["children"]
        self.assertGreater(reader["blocked_ms"], 1)
        self.assertAlmostEqual(reader["blocked_ms"], sum(task["blocked_ms"] for task in reader["tasks"]), places=2)
        for report in producer["task_reports"]:
            self.assertGreater(report["cpu_ms"], 1)
            self.assertLessEqual(report["cpu_ms"], threads * report["wall_ms"] + 10)
        connection.execute("SET skein_buffer_bytes=1")
        plan = self.analyze(connection, f"SELECT max({self.heavy(30)}) FROM (SELECT DISTINCT id, h, k FROM '{self.keys}')")
        self.assertGreater(sum(stage["sink"]["blocked_ms"] for stage in plan["stages"]), 0)

    def test_memory_and_temporary_files(self):
        workers = [Worker(memory_limit="50MB") for _ in range(2)]
        for worker in workers:
            self.addCleanup(worker.stop)
        connection = self.connect(workers)
        # 2,000,000 rows of over 40 bytes to sort, half of them in each worker.
        numbered = f"SELECT h, t, row_number() OVER (PARTITION BY k ORDER BY h) AS n FROM '{self.facts}'"
        sql = f"SELECT max(n), max(t) FROM ({numbered})"
        plan = self.analyze(connection, sql)
        for report in plan["stages"][-1]["task_reports"]:
            self.assertGreater(report["peak_temp_bytes"], 1 << 20)
            self.assertGreater(report["peak_memory_bytes"], 10 << 20)
        ((_, text),) = connection.execute(f"EXPLAIN ANALYZE {sql}").fetchall()
        self.assertIn("in its worker's temporary files", text)

    def test_a_limit(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        plan = self.analyze(connection, f"SELECT {self.heavy(300)} FROM '{self.facts}' LIMIT 5")
        self.assertEqual(plan["plan"]["rows"], 5)
        for stage in plan["stages"]:
            self.assertEqual(len(stage["task_reports"]), stage["tasks"])
        (leaf,) = leaves(plan["stages"][0]["plan"])
        self.assertEqual(len(leaf["tasks"]), 2)
        self.assertGreaterEqual(leaf["rows"], 5)
        self.assertGreaterEqual(leaf["rows_read"], leaf["rows"])
        self.assertLess(leaf["rows_read"], ROWS)

    def test_an_error(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        bad = f"CASE WHEN id = 499999 THEN t::INTEGER ELSE {self.heavy(3)} END"
        with self.assertRaises(duckdb.ConversionException):
            self.analyze(connection, f"SELECT sum({bad}) FROM '{self.facts}'")
        states = connection.execute("SELECT state, count(*) FROM skein_tasks() GROUP BY ALL").fetchall()
        self.assertIn("failed", dict(states))
        rows = self.scans(connection)
        self.assertEqual([task for task, _, _ in rows], [0, 1])
        read = sum(read for _, _, read in rows)
        self.assertGreater(read, 0)
        self.assertLessEqual(read, ROWS)
        for _, returned, read in rows:
            self.assertLessEqual(returned, read)

    def test_an_interrupt(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        with self.assertRaises(duckdb.InterruptException):
            self.during(connection, workers, self.scanning(), connection.interrupt)
        rows = self.scans(connection)
        self.assertEqual([task for task, _, _ in rows], [0, 1])
        for _, returned, read in rows:
            self.assertGreater(returned, 0)
            self.assertLessEqual(returned, read)
            self.assertLess(read, ROWS)
        self.assert_free(workers)

    def test_tasks_that_ran_again_are_counted_once(self):
        workers = self.workers(3)
        connection = self.connect(workers)
        victim = workers[1]
        sql = f"SELECT max({self.heavy(30)}) FROM '{self.facts}'"
        plan = self.during(connection, workers, sql, victim.kill)
        self.assertEqual(connection.execute("SELECT retries FROM skein_last_query()").fetchall(), [(1,)])
        (leaf,) = leaves(plan["stages"][0]["plan"])
        self.assertEqual((leaf["rows"], leaf["rows_read"]), (ROWS, ROWS))
        reports = [report for stage in plan["stages"] for report in stage["task_reports"]]
        self.assertNotIn(victim.address, {report["worker"] for report in reports})
        self.assertEqual((plan["retries"], {report["attempt"] for report in reports}), (1, {1}))

        # The next query is planned for the lost worker, too.
        ((_, text),) = connection.execute(f"EXPLAIN ANALYZE {sql}").fetchall()
        self.assertRegex(text.splitlines()[0], r"Distributed ── workers=3 ── retries=1$")

    def test_a_query_that_is_not_distributed(self):
        connection = self.connect(self.workers(2))
        ((name, text),) = connection.execute("EXPLAIN ANALYZE SELECT 42").fetchall()
        self.assertEqual(name, "analyzed_plan")
        ((_, planned),) = connection.execute("EXPLAIN SELECT 42").fetchall()
        self.assertRegex(planned, r"\Anot distributed: \w")
        self.assertEqual(text.splitlines()[0], planned.splitlines()[0])
        self.assertIn("DUMMY_SCAN", text)
        ((_, text),) = connection.execute("EXPLAIN (ANALYZE, FORMAT json) SELECT 42").fetchall()
        plan = json.loads(text)
        self.assertEqual(list(plan), ["distributed", "reason", "head"])
        self.assertFalse(plan["distributed"])
        self.assertEqual("not distributed: " + plan["reason"], planned.splitlines()[0])
        ((_, text),) = connection.execute("EXPLAIN (ANALYZE, FORMAT graphviz) SELECT 42").fetchall()
        self.assertIn("digraph", text)

    def test_a_stage_in_the_session_reports_what_is_known_of_it(self):
        connection = self.connect(self.workers(2))
        connection.execute("CREATE TABLE here AS FROM range(100) t(id)")
        plan = self.analyze(connection, f"SELECT count(*) FROM '{self.facts}' JOIN here USING (id)")
        (report,) = next(stage for stage in plan["stages"] if stage["in_session"])["task_reports"]
        self.assertEqual(list(report), ["task", "worker", "state", "rows", "bytes", "link_bytes", "pages"])
        self.assertGreaterEqual(report["rows"], 100)

    def test_files_of_all_formats(self):
        """What counts the bytes read must be in the way of no format, compressed ones included."""
        connection = self.connect(self.workers(2))
        for format in ("parquet", "csv", "csv.gz", "csv.zst", "json", "json.gz", "json.zst"):
            folder = f"{self.folder}/{format}"
            os.makedirs(folder, exist_ok=True)
            for file in range(2):
                connection.execute(f"COPY (SELECT range AS k, range::VARCHAR AS t FROM range({file}, 20000, 2)) "
                                   f"TO '{folder}/{file}.{format}'")
            plan = self.analyze(connection, f"SELECT sum(k), count(t) FROM '{folder}/*.{format}'")
            (leaf,) = leaves(plan["stages"][0]["plan"])
            self.assertEqual(leaf["rows"], 20000, format)
            read = sum(report["bytes_read"] for report in plan["stages"][0]["task_reports"])
            self.assertGreater(read, 0.9 * sum(variant["bytes"] for variant in leaf["variants"]), format)

    def test_nothing_is_reported_without_being_asked(self):
        connection = self.connect(self.workers(2))
        self.assertEqual(connection.execute(f"SELECT count(*) FROM '{self.keys}'").fetchall(), [(400_000,)])
        self.assertEqual(connection.execute("SELECT count(*) FROM skein_operators()").fetchall(), [(0,)])


if __name__ == "__main__":
    main()
