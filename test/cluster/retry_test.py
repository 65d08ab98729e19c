#!/usr/bin/env python3
"""Queries that survive the loss of a worker (skein_retry = 'query'), and those that cannot.

    retry_test.py PROGRAM
"""

import glob
import json
import signal
import socket
import threading
import unittest

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, is_idle, main, until

try:
    import duckdb
except ImportError:
    duckdb = None


class RetryTest(ClusterTest):
    def scanning(self):
        """As in the base class, but done in seconds."""
        heavy = "list_sum(list_transform(range(k % 100 + 30), x -> hash(x, h) % 7))"
        return f"SELECT max({heavy}) AS m, count(*) AS n FROM '{self.facts}' WHERE id % 2 = 0"

    def shuffling(self):
        return (
            f"SELECT count(*) AS n, sum(c) AS c FROM (SELECT id, h, count(*) AS c FROM "
            f"(SELECT a.id * 100 + b.i AS id, a.h AS h FROM '{self.facts}' a, range(10) b(i)) GROUP BY ALL)"
        )

    def alone(self, sql):
        """What plain DuckDB answers."""
        query = self.command(["127.0.0.1:1"], sql, "--set", "skein_mode=off")
        code, out, err = self.finish(query)
        self.assertEqual((code, err), (0, ""))
        return out

    def assert_survives(self, sql, break_worker, after, count=3, retries=1):
        expected = self.alone(sql)
        workers = self.workers(count)
        query = self.begun(workers, sql, "--stats", after=after)
        victim = workers.pop(1)
        break_worker(victim)
        code, out, err = self.finish(query)
        self.assertEqual((code, out), (0, expected), err)
        stats = json.loads(err)
        self.assertEqual((stats["distributed"], stats["retries"]), (True, retries))
        self.assert_free(workers)

    def test_a_worker_that_is_killed_while_it_scans(self):
        self.assert_survives(self.scanning(), lambda worker: worker.kill(), 0.2)

    def test_a_worker_that_is_killed_while_it_shuffles(self):
        self.assert_survives(self.shuffling(), lambda worker: worker.kill(), 0.4)

    def test_a_worker_that_stands_still(self):
        self.assert_survives(self.scanning(), lambda worker: worker.process.send_signal(signal.SIGSTOP), 0.2)

    def test_two_workers_that_are_killed_one_after_the_other(self):
        sql = self.scanning()
        expected = self.alone(sql)
        workers = self.workers(3)
        query = self.begun(workers, sql, "--stats", after=0.2)
        for _ in range(2):
            workers.pop(1).kill()
            until(lambda: not all(is_idle(worker) for worker in workers) or query.poll() is not None, LIMIT, "again")
        code, out, err = self.finish(query)
        self.assertEqual((code, out), (0, expected), err)
        self.assertEqual(json.loads(err)["retries"], 2)
        self.assert_free(workers)

    def test_no_worker_that_is_left(self):
        (worker,) = self.workers(1)
        query = self.begun([worker], self.shuffling(), after=0.1)
        worker.kill()
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertEqual((code, out), (1, ""), err)
        self.assert_one_line(err, "lost worker " + worker.address, "not tried again: no other worker is left")

    def test_an_address_at_which_nobody_listens(self):
        sql = f"SELECT k, count(*) AS n FROM '{self.keys}' GROUP BY k ORDER BY k"
        expected = self.alone(sql)
        workers = self.workers(2)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            nobody = f"127.0.0.1:{free.getsockname()[1]}"
        query = self.command([workers[0], nobody, workers[1]], sql, "--stats")
        code, out, err = self.finish(query)
        self.assertEqual((code, out), (0, expected), err)
        self.assertEqual(json.loads(err)["retries"], 1)
        self.assert_free(workers)

    def test_a_worker_that_is_being_stopped(self):
        workers = self.workers(2)
        # Keeps the second worker busy in its grace.
        first = self.begun(workers, self.scanning(), "--set", "skein_retry=none", after=0.1)
        workers[1].process.send_signal(signal.SIGTERM)
        until(lambda: self.command([workers[1]], "SELECT 1").wait() == 0, LIMIT, "the signal has come")
        query = self.command(workers, f"SELECT count(*) AS n, sum(k) AS k FROM '{self.keys}'", "--stats")
        code, out, err = self.finish(query)
        self.assertEqual((code, out), (0, "n,k\n400000,199800000\n"), err)
        self.assertEqual(self.finish(first)[0], 0)
        self.assert_free(workers[:1])

    def test_an_error_of_the_query_is_not_tried_again(self):
        workers = self.workers(2)
        query = self.command(workers, f"SELECT sum((t || k)::INTEGER) FROM '{self.facts}'", "--stats")
        code, out, err = self.finish(query)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn("Conversion Error", err)
        self.assertNotIn("not tried again", err)

    def test_rows_that_have_been_read_are_not_read_twice(self):
        workers = self.workers(3)
        query = self.begun(workers, self.everything(), after=0.03)
        for worker in workers:
            until(lambda worker=worker: is_idle(worker), LIMIT, "the worker has finished")
        victim = workers.pop(1)
        victim.kill()
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertEqual(code, 1, err)
        self.assertLess(out.count("\n"), 2_000_000)
        self.assert_one_line(err, "lost worker " + victim.address, "not tried again: ")
        self.assert_free(workers)


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class SessionTest(ClusterTest):
    def lose_one_during(self, sql, expected_retries=1):
        """Executes `sql` and kills a worker when it is in the middle of it; returns the connection."""
        workers = self.workers(3)
        connection = self.connect(workers)
        connection.execute("CREATE TABLE own AS SELECT range AS k, range % 7 AS g FROM range(1000)")
        victim = workers.pop(1)
        before = victim.cpu_seconds()

        def kill():
            until(lambda: victim.cpu_seconds() - before > 0.2, LIMIT, "the query has begun")
            victim.kill()

        killing = threading.Thread(target=kill)
        killing.start()
        connection.execute(sql)
        self.rows = connection.fetchall()
        killing.join()
        retries = connection.execute("SELECT retries FROM skein_last_query()").fetchone()[0]
        self.assertEqual(retries, expected_retries)
        self.assert_free(workers)
        return connection

    def heavy(self):
        heavy = "list_sum(list_transform(range(k % 100 + 30), x -> hash(x, h) % 7))"
        return f"SELECT id, k, {heavy} AS s FROM '{self.facts}' WHERE id % 3 = 0"

    def assert_same(self, connection, rows, sql):
        """`rows` are those that plain DuckDB makes of `sql`."""
        connection.execute("SET skein_mode='off'")
        connection.execute(f"CREATE TABLE expected AS {sql}")
        different = f"SELECT count(*) FROM (({rows} EXCEPT ALL FROM expected) UNION ALL (FROM expected EXCEPT ALL {rows}))"
        self.assertEqual(connection.execute(different).fetchall(), [(0,)])

    def test_rows_of_the_session_are_given_again(self):
        sql = f"SELECT g, sum(s), count(*) FROM ({self.heavy()}) JOIN own USING (k) GROUP BY g ORDER BY g"
        connection = self.lose_one_during(sql)
        connection.execute("SET skein_mode='off'")
        self.assertEqual(self.rows, connection.execute(sql).fetchall())

    def test_an_insert_is_made_once(self):
        sql = f"SELECT k, sum(s) AS s FROM ({self.heavy()}) GROUP BY k"
        connection = self.lose_one_during(f"CREATE TABLE made AS {sql}")
        self.assertEqual(connection.execute("SELECT count(*) FROM made").fetchall(), [(1000,)])
        self.assert_same(connection, "FROM made", sql)

    def test_a_copy_is_made_once(self):
        sql = f"SELECT k, sum(s) AS s FROM ({self.heavy()}) GROUP BY k"
        connection = self.lose_one_during(f"COPY ({sql}) TO '{self.folder}/copied.parquet'")
        self.assertEqual(glob.glob(f"{self.folder}/*copied*"), [f"{self.folder}/copied.parquet"])
        self.assert_same(connection, f"FROM '{self.folder}/copied.parquet'", sql)

    def test_what_is_not_there_is_said(self):
        connection = self.connect(self.workers(1))
        with self.assertRaisesRegex(duckdb.NotImplementedException, "skein_retry = 'task' is not there yet"):
            connection.execute("SET skein_retry='task'")
        with self.assertRaises(duckdb.InvalidInputException):
            connection.execute("SET skein_retry='always'")
        setting = "SELECT value, description <> '' FROM duckdb_settings() WHERE name = 'skein_retry'"
        self.assertEqual(connection.execute(setting).fetchall(), [("query", True)])


if __name__ == "__main__":
    main()
