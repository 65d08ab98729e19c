#!/usr/bin/env python3
"""A worker's log: what it says of queries and tasks.

    log_test.py PROGRAM
"""

import json
import os
import re
import signal
import time
import unittest

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, duckdb, main, start, until


class LogTest(ClusterTest):
    def worker_with_log(self, name):
        path = f"{self.folder}/{name}.log"
        (worker,) = self.workers(1, options=("--log", path))
        return worker, path

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        for line in lines:
            self.assertRegex(line["time"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
            self.assertEqual(list(line)[:6], ["time", "level", "event", "worker", "query", "attempt"])
        self.assertEqual(lines, sorted(lines, key=lambda line: line["time"]))
        return lines

    def ended(self, path):
        """The lines once the query has ended."""
        until(lambda: "query_ended" in [line["event"] for line in self.read(path)], LIMIT, "the query has ended")
        return self.read(path)

    def test_a_query_from_its_start_to_its_end(self):
        worker, path = self.worker_with_log("works")
        self.assertEqual(self.read(path), [])
        self.assert_works([worker])
        lines = self.ended(path)
        self.assertEqual({line["worker"] for line in lines}, {worker.address})
        (query,) = {line["query"] for line in lines}
        self.assertTrue(re.fullmatch("[0-9a-f-]{36}", query))
        self.assertEqual((lines[0]["event"], lines[-1]["event"]), ("query_started", "query_ended"))
        tasks = lines[0]["tasks"]
        self.assertGreater(tasks, 1)
        for event in ("task_started", "task_ended"):
            found = {(line["stage"], line["task"]) for line in lines if line["event"] == event}
            self.assertEqual(len(found), tasks, lines)
        self.assertEqual(len(lines), 2 + 2 * tasks)
        for line in lines:
            self.assertEqual((line["level"], line["attempt"]), ("info", 0))
            if line["event"] == "task_ended":
                self.assertEqual(line["state"], "finished")
                self.assertGreaterEqual(line["wall_ms"], line["queue_ms"])
        self.assertGreater(sum(line.get("rows", 0) for line in lines), 1000)

    def test_a_failure_and_a_cancellation(self):
        worker, path = self.worker_with_log("fails")
        bad = f"SELECT sum(CASE WHEN id = 399999 THEN t::INTEGER ELSE 1 END) FROM '{self.keys}'"
        code, _, _ = self.finish(self.command([worker], bad))
        self.assertEqual(code, 1)
        (failed,) = [line for line in self.ended(path) if line.get("state") == "failed"]
        self.assertEqual(failed["level"], "error")
        self.assertIn("Could not convert", failed["error"])

        worker, path = self.worker_with_log("cancelled")
        query = self.begun([worker], self.scanning())
        query.send_signal(signal.SIGINT)
        self.finish(query, FAILURE_LIMIT)
        states = [line["state"] for line in self.ended(path) if line["event"] == "task_ended"]
        self.assertIn("cancelled", states)

    def test_a_log_goes_on_and_to_the_standard_error(self):
        path = f"{self.folder}/appended.log"
        for _ in range(2):
            (worker,) = self.workers(1, options=("--log", path))
            self.assert_works([worker])
            self.ended(path)
            worker.stop()
        self.assertEqual(len({line["worker"] for line in self.read(path)}), 2)

        (worker,) = self.workers(1, options=("--log", "-"))
        self.assert_works([worker])
        worker.process.send_signal(signal.SIGTERM)
        _, err = worker.process.communicate(timeout=LIMIT)
        self.assertEqual(json.loads(err.splitlines()[0])["event"], "query_started")

    @unittest.skipUnless(duckdb, "Python has no module duckdb")
    def test_nobody_waits_for_a_log_that_nobody_reads(self):
        (worker,) = self.workers(1, options=("--log", "-"))
        connection = self.connect([worker])
        # More lines than a pipe holds.
        for _ in range(60):
            connection.execute(f"SELECT count(*) FROM (SELECT DISTINCT k FROM '{self.keys}')").fetchall()
        connection.close()
        self.assert_works([worker])
        worker.process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        until(lambda: worker.process.poll() is not None, LIMIT, "the worker has ended")
        self.assertLess(time.monotonic() - began, FAILURE_LIMIT)
        _, err = worker.process.communicate()
        self.assertGreater(len(err), 60_000)
        self.assertEqual(worker.process.returncode, 0)

    def test_a_log_that_takes_nothing_is_told_once(self):
        (worker,) = self.workers(1, options=("--log", "/dev/full"))
        self.assert_works([worker])
        self.assert_works([worker])
        worker.process.send_signal(signal.SIGTERM)
        _, err = worker.process.communicate(timeout=LIMIT)
        self.assertEqual(worker.process.returncode, 0)
        first, second = err.splitlines()
        self.assertEqual(first, "skein: cannot write the log '/dev/full': No space left on device")
        self.assertRegex(second, r"\Askein: the last \d\d+ lines of the log '/dev/full' were not written\Z")

    def test_a_file_that_cannot_be_written(self):
        path = os.path.join(self.folder, "nosuch", "file")
        worker = start("worker", "--listen", "127.0.0.1:0", "--log", path)
        self.addCleanup(self.end, worker)
        code, _, err = self.finish(worker, FAILURE_LIMIT)
        self.assertEqual(code, 2)
        self.assert_one_line(err, path, "No such file or directory")


if __name__ == "__main__":
    main()
