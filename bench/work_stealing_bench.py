#!/usr/bin/env python3
"""What a slow task costs, with and without work stealing, and what stealing costs when no task is slow.

    work_stealing_bench.py slow        PROGRAM [--tasks N,...] [--units N] [--delay MS]
    work_stealing_bench.py stopped     PROGRAM PATTERN [--tasks N,...] [--sql SQL]
    work_stealing_bench.py undisturbed PROGRAM PATTERN [--tasks N,...] [--sql SQL]

PROGRAM is the command `skein`; each worker is a process with one thread. All take --runs N and print medians of
interleaved runs.

`slow` makes files of its own. Every unit of every task takes a fixed time in which it uses no processor, that of one task
four times as long, so that any number of tasks runs on any number of cores. Beside the times it prints the best that is
possible: N tasks, of which one has a quarter of the speed, are N / (N - 1 + 1/4) times slower than N equal ones.

`stopped` and `undisturbed` read PATTERN, which names Parquet files of many row groups, as the lineitem table of TPC-H.
`stopped` stops one worker for three quarters of the time; with more workers than cores the slow one gets the time that
others leave, so that it is less than four times as slow. `undisturbed` also prints the processor time of all workers.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import tempfile
import threading

SQL = "SELECT sum(hash(l_comment, l_shipinstruct, l_orderkey, l_extendedprice) % 1000) FROM '{}'"
SLOWNESS = 4
ROWS_PER_UNIT = 2048


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

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for worker in self.workers:
            worker.terminate()
            worker.wait()

    @contextlib.contextmanager
    def stopped(self):
        """Lets the last worker run for a quarter of the time only."""
        process = self.workers[-1]
        stopping = threading.Event()

        def run():
            while not stopping.wait(0.005):
                process.send_signal(signal.SIGSTOP)
                stopping.wait(0.005 * (SLOWNESS - 1))
                process.send_signal(signal.SIGCONT)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()

    def milliseconds(self, sql, *settings):
        """How long the query took, planning included."""
        command = [self.program, "sql", "--cluster", self.addresses, "--stats", "--format", "none", "-c", sql]
        for setting in ("skein_mode=force", *settings):
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stderr)["total_ms"]

    def processor_milliseconds(self):
        """What all workers have used so far."""
        ticks = 0
        for worker in self.workers:
            with open(f"/proc/{worker.pid}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def medians(runs, measure, modes):
    """By mode, the median of what `measure` returns for it; the modes take turns."""
    taken = {mode: [] for mode in modes}
    for _ in range(runs):
        for mode in modes:
            taken[mode].append(measure(mode))
    return {mode: statistics.median(values) for mode, values in taken.items()}


def make_files(program, folder, tasks, units):
    """A file of so many small row groups for each task. Returns the pattern of the files."""
    for task in range(tasks):
        rows = units * ROWS_PER_UNIT
        subprocess.run(
            [program, "sql", "-c"]
            + [
                f"COPY (SELECT hash(range) AS v FROM range({task * rows}, {(task + 1) * rows})) "
                f"TO '{folder}/{task}.parquet' (FORMAT parquet, ROW_GROUP_SIZE {ROWS_PER_UNIT})"
            ],
            capture_output=True,
            check=True,
        )
    return f"{folder}/*.parquet"


def measure_slow(options, tasks):
    each = f"{options.delay:g} ms"
    slow = f"{tasks - 1}:{options.delay * SLOWNESS:g} ms"
    equal = f"{tasks - 1}:{each}"
    modes = {
        "undisturbed": ("skein_work_stealing=off", f"skein_debug_unit_delay={each}, {equal}"),
        "off": ("skein_work_stealing=off", f"skein_debug_unit_delay={each}, {slow}"),
        "auto": ("skein_work_stealing=auto", f"skein_debug_unit_delay={each}, {slow}"),
    }
    with tempfile.TemporaryDirectory() as folder, Cluster(options.program, tasks) as cluster:
        sql = f"SELECT sum(v) FROM '{make_files(options.program, folder, tasks, options.units)}'"
        cluster.milliseconds(sql)
        taken = medians(options.runs, lambda mode: cluster.milliseconds(sql, *modes[mode]), modes)
    base = taken["undisturbed"]
    best = tasks / (tasks - 1 + 1 / SLOWNESS)
    print(
        f"{tasks} tasks of {options.units} units of {each}, one {SLOWNESS} times slower: undisturbed {base:.0f} ms, "
        f"off {taken['off'] / base:.2f}, auto {taken['auto'] / base:.2f}, best possible {best:.2f} times",
        flush=True,
    )


def measure_stopped(options, tasks):
    sql = options.sql.format(options.pattern)
    with Cluster(options.program, tasks) as cluster:
        cluster.milliseconds(sql)

        def measure(mode):
            return cluster.milliseconds(sql, f"skein_work_stealing={mode}")

        base = medians(options.runs, measure, ["off"])["off"]
        with cluster.stopped():
            taken = medians(options.runs, measure, ["off", "auto"])
    print(
        f"{tasks} workers, one stopped: undisturbed {base:.0f} ms, off {taken['off'] / base:.2f}, "
        f"auto {taken['auto'] / base:.2f} times",
        flush=True,
    )


def measure_undisturbed(options, tasks):
    sql = options.sql.format(options.pattern)
    processor = {"off": 0, "auto": 0}
    with Cluster(options.program, tasks) as cluster:
        cluster.milliseconds(sql)

        def measure(mode):
            before = cluster.processor_milliseconds()
            result = cluster.milliseconds(sql, f"skein_work_stealing={mode}")
            processor[mode] += cluster.processor_milliseconds() - before
            return result

        taken = medians(options.runs, measure, ["off", "auto"])
    print(
        f"{tasks} workers, undisturbed: off {taken['off']:.0f} ms, auto {taken['auto']:.0f} ms "
        f"({taken['auto'] / taken['off']:.3f}); processor time off {processor['off'] / options.runs:.0f} ms, "
        f"auto {processor['auto'] / options.runs:.0f} ms ({processor['auto'] / processor['off']:.3f})",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("slow", "stopped", "undisturbed"):
        command = commands.add_parser(name)
        command.add_argument("program")
        if name != "slow":
            command.add_argument("pattern")
            command.add_argument("--sql", default=SQL)
        command.add_argument("--tasks", default="2,3,4")
        command.add_argument("--runs", type=int, default=5)
        if name == "slow":
            command.add_argument("--units", type=int, default=100)
            command.add_argument("--delay", type=float, default=5, help="of a unit, in milliseconds")
    options = parser.parse_args()
    measure = {"slow": measure_slow, "stopped": measure_stopped, "undisturbed": measure_undisturbed}
    for tasks in options.tasks.split(","):
        measure[options.command](options, int(tasks))


if __name__ == "__main__":
    main()
