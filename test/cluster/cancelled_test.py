#!/usr/bin/env python3
"""Queries that end early: Ctrl-C, interrupt(), a client that goes away, LIMIT.

    cancelled_test.py PROGRAM

The tests of a DuckDB client need Python's module duckdb; they are skipped without it.
"""

import signal
import threading
import time
import unittest

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, is_idle, main, until

try:
    import duckdb
except ImportError:
    duckdb = None


class CommandTest(ClusterTest):
    def test_ctrl_c(self):
        workers = self.workers(2)
        for sql in (self.scanning(), self.shuffling()):
            with self.subTest(sql=sql):
                query = self.begun(workers, sql, after=0.05)
                query.send_signal(signal.SIGINT)
                self.assertEqual(self.finish(query, 2), (130, "", "skein: interrupted\n"))
                self.assert_free(workers)

    def test_a_client_that_is_killed(self):
        workers = self.workers(2)
        for sql in (self.scanning(), self.shuffling()):
            with self.subTest(sql=sql):
                query = self.begun(workers, sql)
                query.kill()
                self.assert_free(workers)

    def test_a_reader_that_goes_away(self):
        workers = self.workers(2)
        query = self.command(workers, f"SELECT * FROM '{self.facts}'")
        query.stdout.readline()
        query.stdout.close()
        query.stdout = None
        query.wait(FAILURE_LIMIT)
        self.assert_free(workers)

    def test_limit_stops_the_producers(self):
        workers = self.workers(2)
        self.assert_works(workers)
        before = sum(worker.cpu_seconds() for worker in workers)
        heavy = "list_sum(list_transform(range(k + 300), x -> hash(x, h) % 7))"
        query = self.command(workers, f"SELECT count(*) AS n FROM (SELECT {heavy} FROM '{self.facts}' LIMIT 5)")
        self.assertEqual(self.finish(query), (0, "n\n5\n", ""))
        self.assert_free(workers)
        # The whole would take more than a minute.
        self.assertLess(sum(worker.cpu_seconds() for worker in workers) - before, 10)

    def test_ctrl_c_in_the_middle_of_the_rows(self):
        workers = self.workers(2)
        query = self.command(workers, f"SELECT * FROM '{self.facts}'")
        query.stdout.readline()
        query.send_signal(signal.SIGINT)
        code, _, err = self.finish(query, FAILURE_LIMIT)
        self.assertEqual((code, err), (130, "skein: interrupted\n"))
        self.assert_free(workers)

    def test_a_time_limit(self):
        workers = self.workers(2)
        query = self.command(workers, self.scanning(), "--set", "skein_query_timeout=1s")
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        self.assert_free(workers)

    def test_two_coordinators_do_not_disturb_each_other(self):
        workers = self.workers(2)
        cancelled = self.begun(workers, self.shuffling())
        sql = f"SELECT count(*) AS n FROM (SELECT DISTINCT id, h FROM '{self.keys}')"
        others = [self.command(workers, sql) for _ in range(3)]
        cancelled.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(cancelled, 2)[0], 130)
        for other in others:
            self.assertEqual(self.finish(other), (0, "n\n400000\n", ""))
        self.assert_free(workers)


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class ClientTest(ClusterTest):
    def assert_works_here(self, connection):
        rows = connection.execute(f"SELECT count(DISTINCT k), count(*) FROM '{self.keys}'").fetchall()
        self.assertEqual(rows, [(1000, 400000)])
        self.assertEqual(connection.execute("SELECT distributed FROM skein_last_query()").fetchall(), [(True,)])

    def interrupted(self, connection, workers, sql):
        before = workers[0].cpu_seconds()
        failures = []

        def run():
            try:
                connection.execute(sql).fetchall()
            except duckdb.Error as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        until(lambda: workers[0].cpu_seconds() - before > 0.05, LIMIT, "the query has begun")
        connection.interrupt()
        began = time.monotonic()
        thread.join(LIMIT)
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual([type(failure) for failure in failures], [duckdb.InterruptException], failures)

    def test_interrupt_ends_the_query_and_not_the_connection(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        for sql in (self.scanning(), self.shuffling()):
            self.interrupted(connection, workers, sql)
            self.assert_works_here(connection)
        self.assert_free(workers)

    def test_thirty_cancelled_queries_leave_nothing(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        for _ in range(5):
            self.interrupted(connection, workers, self.shuffling())
        self.assert_works_here(connection)
        threads = [worker.threads() for worker in workers]
        descriptors = [worker.descriptors() for worker in workers]
        bytes_before = [worker.resident_bytes() for worker in workers]
        for _ in range(30):
            self.interrupted(connection, workers, self.shuffling())
        self.assert_works_here(connection)
        for worker, before in zip(workers, threads):
            self.assertLess(worker.threads(), before + 4)
        for worker, before in zip(workers, descriptors):
            self.assertLess(worker.descriptors(), before + 4)
        for worker, used in zip(workers, bytes_before):
            self.assertLess(worker.resident_bytes(), used + (300 << 20))
        self.assert_free(workers)

    def test_a_stream_that_is_closed(self):
        workers = self.workers(2)
        for close in ("connection", "next query"):
            with self.subTest(close=close):
                connection = self.connect(workers)
                stream = connection.execute(f"SELECT * FROM '{self.facts}' a, range(1000)")
                self.assertEqual(len(stream.fetchmany(10)), 10)
                if close == "connection":
                    connection.close()
                else:
                    self.assert_works_here(connection)
                for worker in workers:
                    until(lambda worker=worker: is_idle(worker), FAILURE_LIMIT, "the worker is idle")
        self.assert_free(workers)

    def test_a_stream_whose_worker_is_lost_is_not_complete(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        stream = connection.execute(f"SELECT * FROM '{self.facts}' a, range(1000)")
        self.assertEqual(len(stream.fetchmany(10)), 10)
        workers[1].kill()
        self.assert_stream_fails(stream, "lost worker " + workers[1].address)
        self.assert_free(workers[:1])

    def test_a_worker_that_is_lost_while_the_client_waits_for_rows(self):
        # A few rows at once, then none for minutes.
        heavy = "list_sum(list_transform(range(k % 100 + 3000), x -> hash(x, h) % 7))"
        sql = f"SELECT id FROM '{self.facts}' WHERE id % 500000 < 2048 OR {heavy} % 1000003 = 17"
        (survivor,) = self.workers(1)
        for _ in range(5):
            (victim,) = self.workers(1)
            connection = self.connect([survivor, victim])
            for setting in ("skein_page_bytes=1000", "streaming_buffer_size='1KB'", "preserve_insertion_order=false"):
                connection.execute(f"SET {setting}")
            stream = connection.execute(sql)
            self.assertEqual(len(stream.fetchmany(1000)), 1000)
            killing = threading.Timer(0.3, victim.kill)
            killing.start()
            self.assert_stream_fails(stream, "lost worker " + victim.address)
            killing.join()
        self.assert_free([survivor])

    def assert_stream_fails(self, stream, message):
        with self.assertRaisesRegex(duckdb.Error, message):
            while stream.fetchmany(100_000):
                pass

    def test_an_idle_connection_uses_no_processor(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        self.assert_works_here(connection)
        began = time.process_time()
        seconds = []
        for _ in range(4):
            switches = voluntary_switches()
            time.sleep(1)
            seconds.append(voluntary_switches() - switches)
        self.assertLess(time.process_time() - began, 0.2)
        # The quietest second: gRPC's own threads wake up now and then, a thread that polls does so in each.
        self.assertLess(min(seconds), 20)
        for worker in workers:
            self.assertTrue(is_idle(worker))

    def test_a_closed_connection_is_not_looked_at(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        for _ in range(10):
            cursor = connection.cursor()
            cursor.execute("SET skein_mode='force'")
            self.assertEqual(cursor.execute(f"SELECT count(*) FROM '{self.keys}'").fetchall(), [(400000,)])
            cursor.close()
        self.assert_works_here(connection)

    def test_many_sessions_at_once(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        queries = [
            (f"SELECT count(*) FROM '{self.facts}' WHERE k = {k}", [(2000,)]) for k in range(4)
        ] + [
            (f"SELECT count(DISTINCT id) FROM '{self.keys}'", [(400000,)]),
            (f"SELECT sum(a.k) FROM '{self.keys}' a JOIN '{self.keys}' b USING (id)", [(199800000,)]),
            (f"SELECT id FROM '{self.facts}' ORDER BY id DESC LIMIT 2", [(1999999,), (1999998,)]),
            (f"SELECT k, count(*) FROM '{self.keys}' GROUP BY k ORDER BY k LIMIT 1", [(0, 400)]),
        ]
        failures = []

        def run(sql, expected):
            try:
                session = connection.cursor()
                for _ in range(4):
                    rows = session.execute(sql).fetchall()
                    if rows != expected:
                        failures.append(f"{sql}: {rows}")
            except duckdb.Error as error:
                failures.append(f"{sql}: {error}")

        threads = [threading.Thread(target=run, args=query) for query in queries]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
            self.assertFalse(thread.is_alive(), "a session hangs")
        self.assertEqual(failures, [])
        self.assert_free(workers)

    def test_a_lost_worker_does_not_end_the_session(self):
        workers = self.workers(3)
        connection = self.connect(workers)
        connection.execute("SET skein_retry='none'")
        self.assert_works_here(connection)
        victim = workers.pop()
        victim.kill()
        began = time.monotonic()
        with self.assertRaisesRegex(duckdb.IOException, victim.address):
            connection.execute(self.scanning()).fetchall()
        self.assertLess(time.monotonic() - began, FAILURE_LIMIT)
        for worker in workers:
            until(lambda worker=worker: is_idle(worker), FAILURE_LIMIT, "the worker is idle")
        connection.execute(f"SET skein_cluster='{','.join(worker.address for worker in workers)}'")
        self.assert_works_here(connection)


def voluntary_switches():
    """How often the threads of this process have gone to sleep."""
    import os

    total = 0
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("voluntary_ctxt_switches"):
                    total += int(line.split()[1])
    return total


if __name__ == "__main__":
    main()
