#!/usr/bin/env python3
"""Workers of which one is slow: the others take what it has not begun to read.

    work_stealing_test.py PROGRAM
"""

import json
import signal
import threading
import unittest

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, duckdb, main


class Slowed:
    """Lets a worker's process run for a quarter of the time only."""

    def __init__(self, worker):
        self.process = worker.process
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopping.wait(0.01) and self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            self.stopping.wait(0.03)
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGCONT)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *error):
        self.stopping.set()
        self.thread.join()


@unittest.skipIf(duckdb is None, "the module duckdb is not there")
class WorkStealingTest(ClusterTest):
    def scanning(self):
        """As in the base class, but done in seconds."""
        heavy = "list_sum(list_transform(range(k % 100 + 20), x -> hash(x, h) % 7))"
        return f"SELECT max({heavy}) AS m, sum(id) AS s, count(*) AS n FROM '{self.facts}'"

    def alone(self, connection, sql):
        connection.execute("SET skein_mode='off'")
        rows = connection.execute(sql).fetchall()
        connection.execute("SET skein_mode='force'")
        return rows

    def units(self, connection):
        """By worker, the planned and the actual units of the last query's scan."""
        rows = connection.execute(
            "SELECT worker, units_planned, units_read FROM skein_tasks() WHERE units_planned IS NOT NULL"
        ).fetchall()
        return {worker: (planned, read) for worker, planned, read in rows}

    def test_the_others_read_what_a_slow_process_has_not_begun(self):
        workers = self.workers(3)
        connection = self.connect(workers)
        expected = self.alone(connection, self.scanning())
        with Slowed(workers[1]):
            rows = connection.execute(self.scanning()).fetchall()
        self.assertEqual(rows, expected)
        units = self.units(connection)
        self.assertEqual(len(units), 3)
        planned, read = units[workers[1].address]
        self.assertLess(read, planned, units)
        self.assertEqual(sum(entry[0] for entry in units.values()), sum(entry[1] for entry in units.values()))
        self.assert_free(workers)

    def test_every_task_reads_its_own_if_the_setting_says_so(self):
        workers = self.workers(3)
        connection = self.connect(workers)
        connection.execute("SET skein_work_stealing='off'")
        expected = self.alone(connection, self.scanning())
        with Slowed(workers[1]):
            self.assertEqual(connection.execute(self.scanning()).fetchall(), expected)
        self.assertEqual(self.units(connection), {})

    def slow_query(self, workers):
        """Of which task 1 reads slowly and the others take most of its units."""
        slow = ["--set", "skein_debug_unit_delay=1:200 ms", "--set", "skein_work_stealing=force"]
        return self.command(workers, self.scanning(), "--stats", *slow)

    def assert_survives(self, victim):
        workers = self.workers(3)
        ((m, s, n),) = self.alone(self.connect(workers), self.scanning())
        query = self.slow_query(workers)
        with self.assertRaises(TimeoutError):
            self.wait_for(query, 1.5)
        workers[victim].kill()
        workers.pop(victim)
        code, out, err = self.finish(query, LIMIT)
        self.assertEqual((code, out), (0, f"m,s,n\n{m},{s},{n}\n"), err)
        self.assertEqual(json.loads(err)["retries"], 1)
        self.assert_free(workers)

    @staticmethod
    def wait_for(query, seconds):
        try:
            query.wait(seconds)
        except Exception as ex:
            raise TimeoutError from ex

    def test_a_worker_is_lost_that_gives_units(self):
        self.assert_survives(1)

    def test_a_worker_is_lost_that_takes_units(self):
        self.assert_survives(0)

    def test_a_query_is_interrupted_while_tasks_wait_for_units(self):
        workers = self.workers(3)
        query = self.slow_query(workers)
        with self.assertRaises(TimeoutError):
            self.wait_for(query, 1.5)
        query.send_signal(signal.SIGINT)
        code, out, _ = self.finish(query, FAILURE_LIMIT)
        self.assertEqual((code, out), (130, ""))
        self.assert_free(workers)

    def test_workers_with_slots(self):
        workers = self.workers(3, options=("--slots", "1"))
        connection = self.connect(workers)
        sql = f"SELECT k, count(*) AS n, sum(id) AS s FROM '{self.facts}' JOIN '{self.keys}' USING (k, id) GROUP BY k"
        expected = sorted(self.alone(connection, sql))
        connection.execute("SET skein_work_stealing='force'")
        connection.execute("SET preserve_insertion_order=false")
        connection.execute("SET skein_debug_unit_delay='0:20 ms'")
        self.assertEqual(sorted(connection.execute(sql).fetchall()), expected)
        self.assert_free(workers)


if __name__ == "__main__":
    main()
