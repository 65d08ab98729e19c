#!/usr/bin/env python3
"""What a cluster says of itself: table functions, `skein top`.

    status_test.py PROGRAM
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, Programs, free_address, main, start, until

try:
    import duckdb
except ImportError:
    duckdb = None


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class TableFunctionTest(ClusterTest):
    def cluster_of(self, *workers):
        return f"SET skein_cluster='{','.join(getattr(worker, 'address', worker) for worker in workers)}'"

    def test_workers_that_are_well_and_one_that_is_not(self):
        workers = self.workers(1, threads=3, options=("--slots", "7"))
        nobody = free_address()
        connection = self.connect_with(self.cluster_of(workers[0], nobody))
        rows = connection.execute(
            "SELECT address, state, slots, threads, running_tasks, memory_limit, duckdb_version = version() "
            "FROM skein_cluster()"
        ).fetchall()
        self.assertEqual(rows[0], (workers[0].address, "ready", 7, 3, 0, 1_000_000_000, True))
        self.assertEqual(rows[1], (nobody, "unreachable", None, None, None, None, None))
        reasons = connection.execute("SELECT reason FROM skein_cluster()").fetchall()
        self.assertIsNone(reasons[0][0])
        self.assertIn("refused", reasons[1][0])

    def test_a_host_that_says_nothing_is_given_up(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            connection = self.connect_with(self.cluster_of(f"127.0.0.1:{silent.getsockname()[1]}"))
            connection.execute("SET skein_connect_timeout='500 ms'")
            began = time.monotonic()
            rows = connection.execute("SELECT state, reason <> '' FROM skein_cluster()").fetchall()
            self.assertEqual(rows, [("unreachable", True)])
            self.assertLess(time.monotonic() - began, FAILURE_LIMIT)

    def test_a_worker_that_stands_still_is_given_up(self):
        workers = self.workers(2)
        connection = self.connect_with(self.cluster_of(*workers))
        self.assertEqual(connection.execute("SELECT count(*) FROM skein_cluster() WHERE state = 'ready'").fetchall(), [(2,)])
        workers[1].stand_still()
        rows = connection.execute("SELECT state FROM skein_cluster()").fetchall()
        self.assertEqual(rows, [("ready",), ("unreachable",)])

    def test_queries_are_told_soon_though_a_worker_stands_still(self):
        workers = self.workers(2)
        connection = self.connect_with(self.cluster_of(*workers))
        query = self.begun(workers, self.scanning())
        ((name,),) = connection.execute("SELECT query FROM skein_queries() WHERE state = 'running'").fetchall()
        workers[1].stand_still()
        began = time.monotonic()
        # The session that waits gives the query up some seconds later: until then it runs.
        tasks = connection.execute("SELECT stage, worker, state FROM skein_tasks($1) ORDER BY ALL", [name]).fetchall()
        took = time.monotonic() - began
        self.assertLess(took, 3)
        self.assertEqual(tasks[-1], (None, workers[1].address, "unreachable"))
        self.assertEqual({task[1:] for task in tasks[:-1]}, {(workers[0].address, "running")})
        began = time.monotonic()
        rows = connection.execute("SELECT query, state, workers FROM skein_queries() ORDER BY ALL").fetchall()
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual(rows[-1], (None, "unreachable", 1))
        began = time.monotonic()
        connection.execute("FROM skein_stages($1)", [name]).fetchall()
        self.assertLess(time.monotonic() - began, 3)
        query.send_signal(signal.SIGINT)
        self.finish(query, LIMIT)

    def test_a_query_without_a_name_is_none(self):
        connection = self.connect_with(self.cluster_of(*self.workers(1)))
        for function in ("skein_cancel", "skein_tasks", "skein_stages"):
            for name in ("''", "NULL"):
                with self.assertRaisesRegex(duckdb.BinderException, "which query"):
                    connection.execute(f"FROM {function}({name})")

    def test_a_name_that_nobody_knows(self):
        connection = self.connect_with("SET skein_cluster='dns:///no-such-host.invalid:1'")
        rows = connection.execute("SELECT address, state, reason <> '' FROM skein_cluster()").fetchall()
        self.assertEqual(rows, [("dns:///no-such-host.invalid:1", "unreachable", True)])

    def test_workers_inside_the_process(self):
        connection = self.connect_with("SET skein_workers=3")
        rows = connection.execute("SELECT address, state FROM skein_cluster()").fetchall()
        self.assertEqual(rows, [("local-1", "ready"), ("local-2", "ready"), ("local-3", "ready")])

    def test_without_workers_there_are_no_rows(self):
        connection = self.connect_with("SET skein_mode='auto'")
        self.assertEqual(connection.execute("FROM skein_cluster()").fetchall(), [])
        self.assertEqual(connection.execute("FROM skein_queries()").fetchall(), [])
        self.assertEqual(connection.execute("FROM skein_stages()").fetchall(), [])

    def test_queries_of_this_session_and_of_others(self):
        workers = self.workers(2)
        connection = self.connect_with(self.cluster_of(*workers))
        connection.execute(f"SELECT count(*) FROM '{self.keys}'").fetchall()
        rows = connection.execute("SELECT is_own, state, attempt, workers FROM skein_queries()").fetchall()
        self.assertEqual(rows, [(True, "finished", 0, 2)])
        query = self.begun(workers, self.shuffling())
        rows = connection.execute(
            "SELECT is_own, state, workers, running_tasks > 0, age_ms > 0 FROM skein_queries() ORDER BY is_own"
        ).fetchall()
        self.assertEqual(rows, [(False, "running", 2, True, True), (True, "finished", 2, False, True)])
        query.send_signal(signal.SIGINT)
        self.finish(query, FAILURE_LIMIT)

    def test_stages_and_tasks_of_a_query_that_runs(self):
        workers = self.workers(2)
        connection = self.connect_with(self.cluster_of(*workers))
        query = self.begun(workers, self.shuffling())
        ((name,),) = connection.execute("SELECT query FROM skein_queries() WHERE state = 'running'").fetchall()
        stages = connection.execute("SELECT stage, tasks, inputs, outputs, ended_tasks FROM skein_stages($1)", [name]).fetchall()
        self.assertEqual(stages[0][:4], (1, 2, [], None))
        self.assertEqual(stages[1][:3], (2, 2, [1]))
        tasks = connection.execute("SELECT stage, task, worker, state, wall_ms > 0 FROM skein_tasks($1)", [name]).fetchall()
        self.assertEqual([task[:2] for task in tasks[:4]], [(1, 0), (1, 1), (2, 0), (2, 1)])
        self.assertEqual({task[2] for task in tasks}, {worker.address for worker in workers})
        self.assertTrue({task[3] for task in tasks} <= {"running", "finished"}, tasks)
        self.assertTrue(all(task[4] for task in tasks), tasks)

        def rows():
            return connection.execute("SELECT sum(output_rows) FROM skein_tasks($1)", [name]).fetchone()[0]

        before = rows()
        until(lambda: rows() > before, LIMIT, "it puts out more rows")
        query.send_signal(signal.SIGINT)
        self.finish(query, FAILURE_LIMIT)
        self.assert_free(workers)
        for function in ("skein_stages", "skein_tasks"):
            self.assertEqual(connection.execute(f"FROM {function}($1)", [name]).fetchall(), [])
            with self.assertRaisesRegex(duckdb.BinderException, "which query"):
                connection.execute(f"FROM {function}('')")
        # That of the session's last one is the same with and without its name.
        connection.execute(f"SELECT count(*) FROM '{self.keys}'").fetchall()
        ((name,),) = connection.execute("SELECT query FROM skein_queries() WHERE is_own").fetchall()
        for function in ("skein_stages", "skein_tasks"):
            rows_of_last = connection.execute(f"FROM {function}()").fetchall()
            self.assertEqual(connection.execute(f"FROM {function}($1)", [name]).fetchall(), rows_of_last)
            self.assertGreater(len(rows_of_last), 0)

    def test_a_query_of_another_process_is_cancelled(self):
        workers = self.workers(2)
        connection = self.connect_with(self.cluster_of(*workers))
        query = self.begun(workers, self.shuffling())
        ((name,),) = connection.execute("SELECT query FROM skein_queries() WHERE state = 'running'").fetchall()
        rows = connection.execute("FROM skein_cancel($1)", [name]).fetchall()
        self.assertEqual(rows, [(name, True)])
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertEqual((code, out), (130, ""), err)
        self.assert_free(workers)
        self.assertEqual(connection.execute("FROM skein_cancel($1)", [name]).fetchall(), [(name, False)])

    def test_a_query_of_the_same_process_is_cancelled(self):
        connection = self.connect_with("SET skein_workers=2")
        other = connection.cursor()
        for statement in ("SET skein_mode='force'", "SET skein_workers=2"):
            other.execute(statement)
        errors = []

        def run():
            try:
                connection.execute(self.scanning()).fetchall()
            except duckdb.Error as error:
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        running = "SELECT query FROM skein_queries() WHERE state = 'running' AND running_tasks > 0"
        until(lambda: other.execute(running).fetchall(), LIMIT, "the query runs")
        ((name,),) = other.execute(running).fetchall()
        self.assertEqual(other.execute("FROM skein_cancel($1)", [name]).fetchall(), [(name, True)])
        thread.join(FAILURE_LIMIT)
        self.assertFalse(thread.is_alive())
        (error,) = errors
        self.assertIsInstance(error, duckdb.InterruptException)
        self.assertIn("cancelled by skein_cancel()", str(error))
        self.assertEqual(other.execute("SELECT cancelled FROM skein_cancel('nonsense')").fetchall(), [(False,)])

    def test_the_progress_only_grows(self):
        connection = self.connect_with("SET skein_workers=2")
        for statement in ("SET enable_progress_bar=true", "SET enable_progress_bar_print=false"):
            connection.execute(statement)
        heavy = "list_sum(list_transform(range(k % 100 + 300), x -> hash(x, h) % 7))"
        # The first stage has ended long before the second.
        sql = f"SELECT max({heavy}) FROM (SELECT DISTINCT id, h, k FROM '{self.keys}' WHERE id < 100000)"
        seen = []
        ended = threading.Event()

        def run():
            connection.execute(sql).fetchall()
            ended.set()

        thread = threading.Thread(target=run)
        thread.start()
        while not ended.wait(0.01):
            seen.append(connection.query_progress())
        thread.join()
        # Before and after the query it is -1.
        seen = [value for value in seen if value >= 0]
        self.assertEqual(seen, sorted(seen))
        self.assertTrue(any(0 < value < 100 for value in seen), seen[-1:])

    def test_the_progress_only_grows_in_the_command(self):
        addresses = ",".join(worker.address for worker in self.workers(2))
        heavy = "list_sum(list_transform(range(k % 100 + 1200), x -> hash(x, h) % 7))"
        sql = f"SELECT max({heavy}) > 0 AS m FROM (SELECT DISTINCT id, h, k FROM '{self.keys}' WHERE id < 300000)"
        ours, theirs = os.openpty()
        query = subprocess.Popen(
            [Programs.skein, "sql", "--cluster", addresses, "--format", "csv", "-c", sql],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        self.addCleanup(self.end, query)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError), open(ours, "rb", buffering=0) as terminal:
            # Ends with an error when the other side is closed.
            while True:
                shown += terminal.read(1000)
        out, _ = query.communicate(timeout=LIMIT)
        self.assertEqual((query.returncode, out), (0, b"m\ntrue\n"), shown)
        percents = [int(percent) for percent in re.findall(rb"(\d+)%", shown)]
        self.assertTrue(any(0 < percent < 100 for percent in percents), shown)
        self.assertEqual(percents, sorted(set(percents)))
        # Nothing of it is left on the screen.
        self.assertTrue(shown.endswith(b"\r\033[K"), shown)

    def test_stages_are_those_of_the_last_query(self):
        connection = self.connect_with(self.cluster_of(*self.workers(2)))
        connection.execute(f"SELECT k, count(*) FROM '{self.keys}' GROUP BY k ORDER BY k").fetchall()
        stages, tasks = connection.execute("SELECT stages, tasks FROM skein_last_query()").fetchone()
        rows = connection.execute(
            "SELECT count(*), sum(tasks), sum(ended_tasks), sum(output_rows), min(len(outputs)) FROM skein_stages()"
        ).fetchone()
        rows_of_tasks = connection.execute("SELECT sum(output_rows) FROM skein_tasks()").fetchone()[0]
        self.assertEqual(rows, (stages, tasks, tasks, rows_of_tasks, 1))
        inputs = connection.execute("SELECT stage, inputs FROM skein_stages() ORDER BY stage LIMIT 2").fetchall()
        self.assertEqual(inputs, [(1, []), (2, [1])])
        names = [row[0] for row in connection.execute("SELECT outputs[1] FROM skein_stages() ORDER BY stage").fetchall()]
        self.assertEqual((names[0], names[-1]), ("shuffle", "coalesce"))


class TopTest(ClusterTest):
    def test_one_snapshot_without_a_terminal(self):
        workers = self.workers(2)
        addresses = ",".join(worker.address for worker in workers)
        top = start("top", "--cluster", addresses)
        self.addCleanup(self.end, top)
        code, out, err = self.finish(top, FAILURE_LIMIT)
        self.assertEqual((code, err), (0, ""))
        for worker in workers:
            self.assertEqual(out.count(worker.address), 1, out)
        self.assertEqual(out.count("ready"), 2, out)
        self.assertNotIn("\033", out)

    def look(self, workers):
        """What `skein top` shows once: its rows of workers and of queries."""
        top = start("top", "--cluster", ",".join(worker.address for worker in workers))
        self.addCleanup(self.end, top)
        code, out, err = self.finish(top, LIMIT)
        self.assertEqual((code, err), (0, ""))
        lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
        heads = [line for line in lines if line[0] in ("address", "query")]
        self.assertEqual([head[0] for head in heads], ["address", "query"], out)
        addresses = [worker.address for worker in workers]
        rows = [dict(zip(heads[0], line)) for line in lines if line[0] in addresses]
        self.assertEqual([row["address"] for row in rows], addresses, out)
        return rows, [dict(zip(heads[1], line)) for line in lines if re.fullmatch("[0-9a-f-]{36}", line[0])]

    def test_rates_and_queries_while_one_runs(self):
        workers = self.workers(2)
        rows = f"SELECT a.id * 100 + b.i AS id, a.h AS h FROM '{self.facts}' a, range(200) b(i)"
        query = self.begun(
            workers, f"SELECT max(r) FROM (SELECT row_number() OVER (PARTITION BY id ORDER BY h) AS r FROM ({rows}))"
        )
        seen = []

        def has_rates():
            seen[:] = self.look(workers)
            return all(row[way] != "0 bytes/s" for row in seen[0] for way in ("sent", "received"))

        until(has_rates, LIMIT, "rows go from worker to worker")
        query.send_signal(signal.SIGINT)
        self.finish(query, FAILURE_LIMIT)
        rows, (running,) = seen
        for row in rows:
            self.assertGreater(int(row["running"]), 0)
            self.assertRegex(row["sent"], r"\A[0-9.]+ ([KMG]iB|bytes)/s\Z")
            self.assertRegex(row["received"], r"\A[0-9.]+ ([KMG]iB|bytes)/s\Z")
        self.assertEqual(running["workers"], "2")
        self.assertGreater(int(running["running"]), 0)

    def test_a_worker_that_stands_still_delays_it_little(self):
        workers = self.workers(2)
        workers[1].stand_still()
        began = time.monotonic()
        rows, _ = self.look(workers)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual([row["state"] for row in rows], ["ready", "unreachable"])

    def test_wrong_usage(self):
        top = start("top", "--cluster", "nonsense")
        self.addCleanup(self.end, top)
        code, out, err = self.finish(top, FAILURE_LIMIT)
        self.assertEqual((code, out), (2, ""), err)


if __name__ == "__main__":
    main()
