#!/usr/bin/env python3
"""Workers that run a few tasks at a time (--slots).

    slots_test.py PROGRAM
"""

import signal
import threading
import unittest

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, main, until

try:
    import duckdb
except ImportError:
    duckdb = None


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class SlotsTest(ClusterTest):
    def connect(self, workers):
        connection = super().connect(workers)
        # Whoever had to wait for a reader would wait for ever.
        connection.execute("SET skein_buffer_bytes=1")
        connection.execute("SET skein_page_bytes=10000")
        return connection

    def queries(self):
        """Queries of several stages, and their answers."""
        return [
            (f"SELECT count(DISTINCT id), count(*) FROM '{self.keys}'", [(400000, 400000)]),
            (f"SELECT sum(a.k) FROM '{self.keys}' a JOIN '{self.keys}' b USING (id)", [(199800000,)]),
            (
                f"SELECT k, n FROM (SELECT a.k, count(*) AS n FROM '{self.keys}' a JOIN '{self.keys}' b "
                f"ON a.id = b.id + 1 GROUP BY a.k) ORDER BY n, k LIMIT 2",
                [(0, 399), (1, 400)],
            ),
            (f"SELECT id FROM '{self.keys}' ORDER BY h, id LIMIT 0", []),
            (f"SELECT id FROM '{self.keys}' ORDER BY id DESC LIMIT 2", [(399999,), (399998,)]),
        ]

    def run_together(self, workers, rounds=2):
        """Every query in a session of its own, all at once; meanwhile nobody runs more tasks than it has slots."""
        connection = self.connect(workers)
        failures = []

        def run(sql, expected):
            try:
                session = self.connect(workers)
                for _ in range(rounds):
                    rows = session.execute(sql).fetchall()
                    if rows != expected:
                        failures.append(f"{sql}: {rows}")
            except duckdb.Error as error:
                failures.append(f"{sql}: {error}")

        threads = [threading.Thread(target=run, args=query, daemon=True) for query in self.queries()]
        for thread in threads:
            thread.start()
        seen = set()
        while any(thread.is_alive() for thread in threads):
            states = connection.execute("SELECT slots, running_tasks, waiting_tasks > 0 FROM skein_cluster()").fetchall()
            seen.update(states)
            for thread in threads:
                thread.join(0.02)
            if len(seen) > 10_000:
                self.fail("the sessions hang")
        self.assertEqual(failures, [])
        for slots, running, _ in seen:
            self.assertTrue(slots == 0 or running <= slots, seen)
        self.assertTrue(any(waiting for slots, _, waiting in seen if slots > 0), seen)
        self.assert_free(workers)

    def test_one_slot_each(self):
        self.run_together(self.workers(2, options=("--slots", "1")))

    def test_two_slots_and_more_threads(self):
        self.run_together(self.workers(2, threads=4, options=("--slots", "2")))

    def test_beside_workers_without_a_limit(self):
        self.run_together([*self.workers(1, options=("--slots", "1")), *self.workers(1)])

    def test_a_single_worker(self):
        self.run_together(self.workers(1, options=("--slots", "1")))

    def test_a_query_that_is_cancelled_while_it_waits(self):
        workers = self.workers(2, options=("--slots", "1"))
        holding = self.begun(workers, self.scanning())
        waiting = self.command(workers, self.shuffling())
        connection = self.connect(workers)
        count = "SELECT min(waiting_tasks) > 0, count(*) FROM skein_cluster()"
        until(lambda: connection.execute(count).fetchall() == [(True, 2)], LIMIT, "a task waits on every worker")
        names = connection.execute("SELECT query, waiting_tasks > 0 FROM skein_queries() WHERE state = 'running'").fetchall()
        states = {
            waits: {row[0] for row in connection.execute("SELECT state FROM skein_tasks($1)", [name]).fetchall()}
            for name, waits in names
        }
        self.assertEqual(states[True], {"waiting"})
        self.assertEqual(states[False], {"running"})
        waiting.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(waiting, FAILURE_LIMIT), (130, "", "skein: interrupted\n"))
        holding.send_signal(signal.SIGINT)
        self.finish(holding, FAILURE_LIMIT)
        left = "SELECT sum(waiting_tasks + running_tasks + queries) FROM skein_cluster()"
        until(lambda: connection.execute(left).fetchall() == [(0,)], FAILURE_LIMIT, "nothing is left")
        self.assert_free(workers)

    def test_a_lost_worker(self):
        workers = self.workers(3, options=("--slots", "1"))
        query = self.begun(
            workers, f"SELECT count(*) AS n FROM (SELECT DISTINCT id, h, t FROM '{self.facts}')", after=0.1
        )
        workers.pop(1).kill()
        self.assertEqual(self.finish(query), (0, "n\n2000000\n", ""))
        self.assert_free(workers)


if __name__ == "__main__":
    main()
