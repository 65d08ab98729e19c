#!/usr/bin/env python3
"""What a slow worker costs, with and without work stealing.

    work_stealing_bench.py PROGRAM PATTERN [--workers N] [--runs N] [--sql SQL]

PROGRAM is the command `skein`, PATTERN names Parquet files of many row groups, as the lineitem table of TPC-H. Each
worker is a process with one thread. One of them is made four times slower by stopping it for three quarters of the
time. Prints the medians. With more workers than cores the slow one gets the time that others leave, so that it is less
than four times as slow.
"""

import argparse
import contextlib
import json
import signal
import statistics
import subprocess
import threading

SQL = "SELECT sum(hash(l_comment, l_shipinstruct, l_orderkey, l_extendedprice) % 1000) FROM '{}'"


class Cluster:
    def __init__(self, program, count):
        self.program = program
        self.workers = []
        addresses = []
        for _ in range(count):
            worker = subprocess.Popen(
                [program, "worker", "--listen", "127.0.0.1:0", "--threads", "1"], stdout=subprocess.PIPE, text=True
            )
            self.workers.append(worker)
            addresses.append(worker.stdout.readline().split()[-1])
        self.addresses = ",".join(addresses)

    @contextlib.contextmanager
    def slowed(self):
        """Lets the last worker run for a quarter of the time only."""
        process = self.workers[-1]
        stopping = threading.Event()

        def run():
            while not stopping.wait(0.005):
                process.send_signal(signal.SIGSTOP)
                stopping.wait(0.015)
                process.send_signal(signal.SIGCONT)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()

    def stop(self):
        for worker in self.workers:
            worker.terminate()
            worker.wait()

    def milliseconds(self, sql, *settings):
        """How long the query took, planning included."""
        command = [self.program, "sql", "--cluster", self.addresses, "--stats", "--format", "none", "-c", sql]
        for setting in ("skein_mode=force", *settings):
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stderr)["total_ms"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("pattern")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sql", default=SQL)
    parser.add_argument("--undisturbed", action="store_true", help="only without a slow task")
    options = parser.parse_args()
    sql = options.sql.format(options.pattern)
    cluster = Cluster(options.program, options.workers)
    try:
        text = subprocess.run(
            [options.program, "sql", "--format", "csv", "-c"]
            + [f"SELECT count(*) FROM (SELECT DISTINCT file_name, row_group_id FROM parquet_metadata('{options.pattern}'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        units = int(text.split()[-1]) / options.workers
        times = {"off": [], "auto": []}
        cluster.milliseconds(sql)
        for _ in range(options.runs):
            for mode, taken in times.items():
                taken.append(cluster.milliseconds(sql, f"skein_work_stealing={mode}"))
        undisturbed = {mode: statistics.median(taken) for mode, taken in times.items()}
        base = undisturbed["off"]
        print(f"{units:.1f} units a task")
        print(f"undisturbed: off {base:.0f} ms, auto {undisturbed['auto']:.0f} ms ({undisturbed['auto'] / base:.3f})")
        if options.undisturbed:
            return
        with cluster.slowed():
            for mode in times:
                runs = [cluster.milliseconds(sql, f"skein_work_stealing={mode}") for _ in range(options.runs)]
                slowed = statistics.median(runs)
                print(f"one worker slowed four times, {mode}: {slowed:.0f} ms ({slowed / base:.2f} times)")
    finally:
        cluster.stop()


if __name__ == "__main__":
    main()
