"""What the tests of failures share: workers and commands as real processes, data, and what /proc says of a process."""

import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

try:
    import duckdb
except ImportError:
    # Tests that need it are skipped.
    duckdb = None

#: Seconds in which a failure must have been reported, and everything of the query ended.
FAILURE_LIMIT = 5
#: Seconds in which an attempt to connect that nobody answers must have been given up, with the command's own start and end.
CONNECT_LIMIT = 8
#: Seconds after which something has gone wrong that no test here is about.
LIMIT = 60


class Programs:
    """What the tests run; set by main()."""

    skein = None
    extension = None


def start(*arguments, folder=None):
    return subprocess.Popen(
        [Programs.skein, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


class Worker:
    """A `skein worker` process."""

    def __init__(self, threads=1, folder=None, options=(), memory_limit="1GB"):
        limits = ["--threads", str(threads), "--memory-limit", memory_limit, *options]
        self.process = start("worker", "--listen", "127.0.0.1:0", *limits, folder=folder)
        line = self.process.stdout.readline()
        if not line.startswith("skein worker listening on "):
            raise AssertionError(f"the worker said {line!r}: {self.process.stderr.read()}")
        self.address = line.split()[-1]

    @property
    def pid(self):
        return self.process.pid

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stand_still(self):
        """Returns when none of its threads runs any more."""
        self.process.send_signal(signal.SIGSTOP)
        until(self.stands_still, LIMIT, "all its threads have stopped")

    def stands_still(self):
        states = []
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/stat", encoding="ascii") as file:
                states.append(file.read().rsplit(")", 1)[1].split()[0])
        return set(states) == {"T"}

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.go_on()
            self.process.kill()
        self.process.communicate()

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_bytes(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def anonymous_bytes(self):
        """Resident memory without the pages of programs and libraries, which are files that all processes share."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["RssAnon"].split()[0]) * 1024


def until(condition, limit, what):
    """Waits for what nobody announces: the state of another process as /proc shows it."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {limit} s: {what}")
        time.sleep(0.02)


def is_idle(worker):
    """Whether the worker used (nearly) no processor time for a moment."""
    before = worker.cpu_seconds()
    time.sleep(0.3)
    return worker.cpu_seconds() - before <= 0.01


class ClusterTest(unittest.TestCase):
    """Tests with a folder of data of their own: `facts`, many rows in many row groups, and `keys`."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = cls._folder.name
        cls.facts = cls.make_files("facts", 4, 500_000)
        cls.keys = cls.make_files("keys", 4, 100_000)

    @classmethod
    def make_files(cls, name, files, rows):
        """Writes `files` Parquet files of `rows` rows each; returns the pattern that names them."""
        os.mkdir(f"{cls.folder}/{name}")
        copies = [
            f"COPY (SELECT range AS id, range % 1000 AS k, hash(range) AS h, 'text ' || range AS t "
            f"FROM range({file * rows}, {(file + 1) * rows})) "
            f"TO '{cls.folder}/{name}/{file}.parquet' (ROW_GROUP_SIZE 20480)"
            for file in range(files)
        ]
        done = subprocess.run(
            [Programs.skein, "sql", "--set", "skein_mode=off", "-c", "; ".join(copies)],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return f"{cls.folder}/{name}/*.parquet"

    # Queries that take minutes, each in another phase most of the time.

    def scanning(self):
        """Every worker is busy with its own slice."""
        heavy = "list_sum(list_transform(range(k % 100 + 300), x -> hash(x, h) % 7))"
        return f"SELECT max({heavy}) FROM '{self.facts}' WHERE {heavy} % 1000003 <> 17"

    def shuffling(self):
        """Rows in great number go from every worker to every other."""
        return (
            f"SELECT count(*) FROM (SELECT id, h, count(*) AS c FROM "
            f"(SELECT a.id * 100 + b.i AS id, a.h AS h FROM '{self.facts}' a, range(200) b(i)) "
            f"GROUP BY ALL) WHERE c > 1"
        )

    def everything(self):
        """The tasks have ended soon; a session whose output nobody reads leaves the rows with the workers."""
        return f"SELECT * FROM '{self.facts}'"

    def workers(self, count, threads=1, folder=None, options=()):
        result = []
        for _ in range(count):
            worker = Worker(threads, folder, options)
            self.addCleanup(worker.stop)
            result.append(worker)
        return result

    def connect_with(self, cluster):
        """A DuckDB client of its own whose queries run on the cluster that the statement `cluster` sets."""
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "2"})
        self.addCleanup(connection.close)
        connection.execute(f"LOAD '{Programs.extension}'")
        connection.execute("SET skein_mode='force'")
        connection.execute(cluster)
        return connection

    def connect(self, workers):
        """The same on these workers."""
        return self.connect_with(f"SET skein_cluster='{','.join(worker.address for worker in workers)}'")

    def command(self, workers, sql, *arguments, folder=None):
        """Starts `skein sql` on a cluster."""
        addresses = ",".join(getattr(worker, "address", worker) for worker in workers)
        process = start("sql", "--cluster", addresses, "--format", "csv", *arguments, "-c", sql, folder=folder)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def begun(self, workers, sql, *arguments, after=0.5):
        """Starts a query and returns once its tasks have used `after` seconds of processor time on every worker."""
        before = [worker.cpu_seconds() for worker in workers]
        query = self.command(workers, sql, *arguments)
        until(
            lambda: query.poll() is not None
            or all(worker.cpu_seconds() - used >= after for worker, used in zip(workers, before)),
            LIMIT,
            "the query has begun on every worker",
        )
        if query.poll() is not None:
            self.fail(f"the query ended too early: {query.communicate()}")
        return query

    def finish(self, process, limit=LIMIT):
        """Returns exit code, output and errors of a command that must end within `limit` seconds."""
        began = time.monotonic()
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.fail(f"the command did not end within {limit} s")
        self.took = time.monotonic() - began
        return process.returncode, out, err

    def assert_free(self, workers, limit=FAILURE_LIMIT):
        """All workers come to rest in time, and a next query on them works."""
        for worker in workers:
            until(lambda worker=worker: is_idle(worker), limit, f"worker {worker.address} is idle")
        if workers:
            self.assert_works(workers)

    def assert_works(self, workers):
        query = self.command(workers, f"SELECT count(DISTINCT k) AS n, count(*) AS c FROM '{self.keys}'", "--stats")
        code, out, err = self.finish(query)
        self.assertEqual((code, out), (0, "n,c\n1000,400000\n"), err)
        self.assertIn('"distributed":true', err)

    def assert_one_line(self, err, *words):
        self.assertRegex(err, r"\A[^\n]+\n\Z")
        for word in words:
            self.assertIn(word, err)


def main():
    import sys

    Programs.skein = os.path.abspath(sys.argv.pop(1))
    Programs.extension = os.path.join(os.path.dirname(Programs.skein), "skein.duckdb_extension")
    unittest.main(verbosity=2)
