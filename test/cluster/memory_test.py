#!/usr/bin/env python3
"""Shuffles of far more than a worker's memory: limits of real processes, and what they leave behind.

    memory_test.py PROGRAM
"""

import os
import tempfile
import threading
import unittest

from cluster_fixture import LIMIT, ClusterTest, Worker, main, until

try:
    import duckdb
except ImportError:
    duckdb = None

#: A worker's memory limit, and the least that all workers together must have shuffled for the test to mean anything.
MEMORY_LIMIT = 120_000_000
SHUFFLED = 10 * MEMORY_LIMIT
#: What a process may have above its size at the start: its limit, which DuckDB keeps, and what lies outside of it.
BESIDE_LIMIT = 45_000_000
MOST_RESIDENT = MEMORY_LIMIT + BESIDE_LIMIT


class LimitedWorker(Worker):
    """A worker with a small limit and a temp folder that the test can look into."""

    def __init__(self, folder):
        self.temp = folder
        super().__init__(
            options=["--temp-directory", folder], memory_limit=f"{MEMORY_LIMIT // 1_000_000}MB"
        )
        self.size_at_start = self.anonymous_bytes()


def files_in(folder):
    """The sizes of the temp files in it; not the lock that says whose they are."""
    sizes = []
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".lock"):
                try:
                    sizes.append(os.path.getsize(os.path.join(path, name)))
                except FileNotFoundError:
                    pass
    return sizes


class Watch:
    """Notes the most memory that workers had, above their size at the start, while it runs."""

    def __init__(self, workers):
        self.workers = workers
        self.most = [0] * len(workers)
        self.most_files = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while not self.ended.wait(0.01):
            for i, worker in enumerate(self.workers):
                self.most[i] = max(self.most[i], worker.anonymous_bytes() - worker.size_at_start)
            self.most_files = max(self.most_files, sum(sum(files_in(worker.temp)) for worker in self.workers))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class MemoryTest(ClusterTest):
    def folder_of_temp_files(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def limited(self, count):
        result = []
        for _ in range(count):
            worker = LimitedWorker(self.folder_of_temp_files())
            self.addCleanup(worker.stop)
            result.append(worker)
        return result

    def alone(self, sql):
        with duckdb.connect() as connection:
            return connection.execute(sql).fetchall()

    def run_within_limits(self, workers, sql, expected):
        """Runs a query; its answer is right, no worker grows beyond its limit, and no file is left."""
        connection = self.connect(workers)
        connection.execute("SET skein_join='shuffle'")
        with Watch(workers) as watch:
            rows = connection.execute(sql).fetchall()
        self.assertEqual(rows, expected)
        moved = connection.execute("SELECT distributed, bytes_exchanged FROM skein_last_query()").fetchone()
        self.assertTrue(moved[0])
        self.assertGreaterEqual(moved[1], SHUFFLED)
        print(f"moved {moved[1] / 1e6:.0f} MB, most memory {[round(most / 1e6) for most in watch.most]} MB, "
              f"temp files {round(watch.most_files / 1e6)} MB", flush=True)
        for most in watch.most:
            self.assertLessEqual(most, MOST_RESIDENT)
        connection.close()
        self.assert_no_files(workers)
        return watch

    def rows(self, times):
        return f"(SELECT a.id, a.h, a.t, b.i FROM '{self.facts}' a, range({times}) b(i))"

    def test_shuffle_into_a_join(self):
        sql = f"SELECT count(*), sum(a.h % 1000), max(a.t) FROM {self.rows(20)} a JOIN '{self.facts}' k USING (id)"
        expected = self.alone(f"SELECT count(*) * 20, sum(h % 1000) * 20, max(t) FROM '{self.facts}'")
        self.run_within_limits(self.limited(3), sql, expected)

    def test_rows_that_two_stages_read(self):
        sql = (
            f"WITH c AS MATERIALIZED {self.rows(20)} SELECT (SELECT count(*) FROM c JOIN '{self.facts}' k USING (id)), "
            f"(SELECT sum(c.h % 1000) FROM c JOIN '{self.facts}' k ON c.h = k.h)"
        )
        expected = self.alone(f"SELECT count(*) * 20, sum(h % 1000) * 20 FROM '{self.facts}'")
        self.run_within_limits(self.limited(3), sql, expected)

    def test_files_of_a_killed_worker_go_with_the_next(self):
        workers = self.limited(2)
        folders = [worker.temp for worker in workers]
        # Groups that do not fit into memory.
        query = self.command(workers, f"SELECT max(n) FROM (SELECT id, i, h, count(*) AS n FROM {self.rows(20)} GROUP BY ALL)")

        def stopped_with_files():
            """Files come and go while a worker runs."""
            for worker in workers:
                worker.stand_still()
            if all(files_in(folder) for folder in folders):
                return True
            for worker in workers:
                worker.go_on()
            return False

        until(stopped_with_files, LIMIT, "both workers have written temp files")
        for worker in workers:
            worker.kill()
        self.assertNotEqual(self.finish(query)[0], 0)
        self.assertTrue(all(files_in(folder) for folder in folders))
        restarted = [LimitedWorker(folder) for folder in folders]
        for worker in restarted:
            self.addCleanup(worker.stop)
        self.assert_no_files(restarted)
        self.assert_works(restarted)

    def assert_no_files(self, workers):
        for worker in workers:
            until(lambda w=worker: not files_in(w.temp), LIMIT, f"no files in {worker.temp}")


if __name__ == "__main__":
    main()
