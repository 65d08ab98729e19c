#!/usr/bin/env python3
"""How the command starts, watches and stops processes, and how it ends on signals.

    processes_test.py PROGRAM
"""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import unittest

SKEIN = None
#: Seconds in which anything here must happen.
LIMIT = 60
#: Runs until it is interrupted.
ENDLESS = "SELECT count(*) FROM range(1000000000000) a, range(1000000000000) b WHERE a.range + b.range = 1"


def start(*arguments):
    return subprocess.Popen(
        [SKEIN, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def children(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def wait_for_end(pids):
    """Waits until processes that are not our own children have ended."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            ready, _, _ = select.select([handle], [], [], LIMIT)
            if not ready:
                raise AssertionError(f"process {pid} is still there")
        finally:
            os.close(handle)


class ProcessTest(unittest.TestCase):
    def started(self, *arguments):
        process = start(*arguments)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def finish(self, process):
        """Returns exit code, rest of the standard output, standard error."""
        out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err

    def ready_worker(self, *arguments):
        process = self.started("worker", "--listen", "127.0.0.1:0", *arguments)
        line = process.stdout.readline()
        self.assertRegex(line, r"^skein worker listening on 127\.0\.0\.1:\d+\n$")
        return process, line.split()[-1]

    def ready_cluster(self, *arguments):
        process = self.started("cluster", *arguments)
        line = process.stdout.readline()
        self.assertRegex(line, r"^--cluster 127\.0\.0\.1:\d+(,127\.0\.0\.1:\d+)*\n$")
        return process, line.split()[1].split(",")


class WorkerTest(ProcessTest):
    def test_accepts_connections_once_it_says_so(self):
        _, address = self.ready_worker()
        host, port = address.split(":")
        socket.create_connection((host, int(port)), timeout=LIMIT).close()

    def test_sigterm_and_sigint_stop_it_cleanly(self):
        for stop in (signal.SIGTERM, signal.SIGINT):
            worker, _ = self.ready_worker("--threads", "1", "--memory-limit", "1GB")
            worker.send_signal(stop)
            self.assertEqual(self.finish(worker), (0, "", ""))

    def test_port_in_use_is_one_clear_line(self):
        _, address = self.ready_worker()
        code, out, err = self.finish(self.started("worker", "--listen", address))
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, rf"\A[^\n]*{re.escape(address)}[^\n]*\n\Z")


class ClusterTest(ProcessTest):
    def test_prints_its_addresses_and_stops_all_on_sigterm(self):
        for stop in (signal.SIGTERM, signal.SIGINT):
            cluster, addresses = self.ready_cluster("--workers", "3")
            workers = children(cluster)
            self.assertEqual((len(addresses), len(set(addresses)), len(workers)), (3, 3, 3))
            cluster.send_signal(stop)
            self.assertEqual(self.finish(cluster), (0, "", ""))
            wait_for_end(workers)

    def test_a_query_uses_it(self):
        _, addresses = self.ready_cluster("--workers", "2")
        query = self.started("sql", "--cluster", ",".join(addresses), "--format", "csv", "-c", "SELECT count(*) AS n FROM range(1000)")
        self.assertEqual(self.finish(query), (0, "n\n1000\n", ""))

    def test_a_worker_that_dies_ends_it(self):
        cluster, addresses = self.ready_cluster("--workers", "2")
        workers = children(cluster)
        os.kill(workers[1], signal.SIGKILL)
        code, out, err = self.finish(cluster)
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, f"skein: worker {addresses[1]} was killed by signal 9 (Killed); stopping the others\n")
        wait_for_end(workers)

    def test_workers_die_with_it(self):
        cluster, _ = self.ready_cluster("--workers", "2")
        workers = children(cluster)
        cluster.kill()
        wait_for_end(workers)

    def test_takes_the_ports_that_follow(self):
        # Two neighbouring ports that are free now; someone else may take them, so try again.
        for _ in range(10):
            with socket.socket() as first:
                first.bind(("127.0.0.1", 0))
                port = first.getsockname()[1]
            cluster = self.started("cluster", "--workers", "2", "--listen", f"127.0.0.1:{port}")
            line = cluster.stdout.readline()
            if line:
                self.assertEqual(line, f"--cluster 127.0.0.1:{port},127.0.0.1:{port + 1}\n")
                return
        self.fail("no neighbouring ports were free")

    def test_a_port_in_use_ends_it(self):
        _, address = self.ready_worker()
        code, out, err = self.finish(self.started("cluster", "--workers", "1", "--listen", address))
        self.assertEqual((code, out), (1, ""))
        self.assertIn(address, err.splitlines()[0])
        self.assertEqual(err.splitlines()[1:], ["skein: a worker process ended with exit code 1 before it was ready"])


class QueryTest(ProcessTest):
    def endless(self, *cluster):
        """A query that has begun and never ends."""
        query = self.started("sql", *cluster, "--format", "csv", "-c", "SELECT 'begun' AS word; " + ENDLESS)
        self.assertEqual([query.stdout.readline(), query.stdout.readline()], ["word\n", "begun\n"])
        return query

    def test_ctrl_c_ends_the_query(self):
        for cluster in (["--set", "skein_mode=off"], ["--workers", "2"], ["--processes", "2"]):
            with self.subTest(cluster=cluster):
                query = self.endless(*cluster)
                workers = children(query)
                query.send_signal(signal.SIGINT)
                code, out, err = self.finish(query)
                self.assertEqual((code, out, err), (130, "", "skein: interrupted\n"))
                wait_for_end(workers)

    def test_worker_processes_end_with_the_command(self):
        query = self.started("sql", "--processes", "2", "--format", "csv", "-c", "SELECT 1 AS a")
        self.assertEqual(self.finish(query), (0, "a\n1\n", ""))

    def test_worker_processes_die_when_the_command_is_killed(self):
        query = self.endless("--processes", "2")
        workers = children(query)
        self.assertEqual(len(workers), 2)
        query.kill()
        wait_for_end(workers)

    def test_a_reader_that_goes_away_ends_the_query(self):
        query = self.started("sql", "--set", "skein_mode=off", "--format", "csv", "-c", "FROM range(100000000000)")
        query.stdout.readline()
        query.stdout.close()
        query.stdout = None
        self.assertNotEqual(query.wait(LIMIT), 0)

    def test_ctrl_c_ends_a_benchmark(self):
        with self.subTest("the query"):
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/a.sql", "w", encoding="ascii") as file:
                    file.write("SELECT 1")
                with open(f"{folder}/b.sql", "w", encoding="ascii") as file:
                    file.write(ENDLESS)
                bench = self.started("bench", folder, "--runs", "1")
                header, first = bench.stdout.readline(), bench.stdout.readline()
                self.assertTrue(header.startswith("query") and first.startswith("a "), header + first)
                bench.send_signal(signal.SIGINT)
                code, _, err = self.finish(bench)
                self.assertEqual(code, 130)
                self.assertTrue(err.endswith("skein: interrupted\n"), err)


if __name__ == "__main__":
    SKEIN = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
