#!/usr/bin/env python3
"""What a worker tells Prometheus.

    metrics_test.py PROGRAM
"""

import math
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.request

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, free_address, is_idle, main, start, until

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABELS = r"(?:[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\n]|\\[\"\\n])*\"(?:,(?=[a-z])|(?=\})))*"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABELS})\}})? (\S+)")
#: How histograms and summaries call the parts of themselves.
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}
#: Units that are not base units, and abbreviations of units.
FOREIGN_UNITS = {
    *("ms", "us", "ns", "s", "milliseconds", "microseconds", "nanoseconds", "minutes", "hours", "days"),
    *("kb", "mb", "gb", "kib", "mib", "gib", "kilobytes", "megabytes", "gigabytes", "bits", "percent"),
}


class Family:
    def __init__(self):
        self.help = self.type = None
        #: Name, labels without `le` and `quantile`, that label, value.
        self.samples = []


def parse(text, problems):
    """The families of a text by name; what does not fit the format is added to `problems`."""
    families = {}
    current = None
    if not text.endswith("\n"):
        problems.append("the last line has no end")
    for line in text.splitlines():
        comment = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        sample = SAMPLE.fullmatch(line)
        if comment:
            keyword, name, rest = comment.groups()
            if name != current and name in families:
                problems.append(f"{name} is in two places")
            family = families.setdefault(name, Family())
            if getattr(family, keyword.lower()) is not None or family.samples:
                problems.append(f"{name} has a {keyword} too many or too late")
            setattr(family, keyword.lower(), rest)
            current = name
        elif sample:
            name, labels, value = sample.groups()
            family = families.get(current)
            if family is None or name not in [current + suffix for suffix in SUFFIXES.get(family.type, ("",))]:
                problems.append(f"{line} does not belong to {current}")
                continue
            pairs = re.findall(r'([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"', labels or "")
            if len({key for key, _ in pairs}) < len(pairs):
                problems.append(f"{line} has a label twice")
            own = [value for key, value in pairs if key in ("le", "quantile")]
            rest = tuple(sorted((key, value) for key, value in pairs if key not in ("le", "quantile")))
            family.samples.append((name, rest, own[0] if own else None, float(value)))
        else:
            problems.append(f"malformed: {line}")
    return families


def check_histogram(name, family, problems):
    for labels in {labels for _, labels, _, _ in family.samples}:
        series = [(part[len(name) :], limit, value) for part, rest, limit, value in family.samples if rest == labels]
        buckets = [(float(limit), value) for part, limit, value in series if part == "_bucket"]
        values = [value for _, value in buckets]
        counts = [value for part, _, value in series if part == "_count"]
        if buckets != sorted(buckets) or values != sorted(values):
            problems.append(f"{name} {labels}: the buckets are not cumulative")
        if not buckets or buckets[-1][0] != math.inf or counts != values[-1:]:
            problems.append(f"{name} {labels}: the last bucket is not +Inf, or not the count")
        if [part for part, _, _ in series].count("_sum") != 1:
            problems.append(f"{name} {labels}: no sum")


def check_name(name, family, problems):
    words = name.split("_")
    if re.search("[A-Z:]|__", name) or name.endswith("_"):
        problems.append(f"{name} is not written in snake case")
    if FOREIGN_UNITS & set(words):
        problems.append(f"{name} is not in base units")
    if family.type in words[-2:]:
        problems.append(f"{name} says its type")
    if (words[-1] == "total") != (family.type == "counter"):
        problems.append(f"{name} ends in _total, or does not, and is a {family.type}")
    if words[-1] in ("count", "sum", "bucket"):
        problems.append(f"{name} ends like a part of a histogram")


def problems_of(text):
    """What is wrong with a text of metrics by Prometheus' format and conventions; the rules are those of `promtool`."""
    problems = []
    for name, family in parse(text, problems).items():
        if not family.help:
            problems.append(f"{name} has no HELP")
        if family.type not in ("counter", "gauge", "histogram", "summary"):
            problems.append(f"{name} has no TYPE")
        if not family.samples:
            problems.append(f"{name} has no samples")
        series = [sample[:3] for sample in family.samples]
        if len(set(series)) < len(series):
            problems.append(f"{name} has a series twice")
        if family.type == "counter" and any(not value >= 0 for _, _, _, value in family.samples):
            problems.append(f"{name} is a counter below zero")
        if family.type == "histogram":
            check_histogram(name, family, problems)
        check_name(name, family, problems)
    return problems


class LintTest(unittest.TestCase):
    """The rules themselves: each line of a good text, made bad, is found."""

    GOOD = (
        "# HELP a_rows_total Rows\n# TYPE a_rows_total counter\na_rows_total{k=\"x\"} 1\na_rows_total{k=\"y\"} 2\n"
        "# HELP a_seconds Time\n# TYPE a_seconds histogram\n"
        "a_seconds_count 3\na_seconds_sum 0.5\na_seconds_bucket{le=\"0.1\"} 1\na_seconds_bucket{le=\"+Inf\"} 3\n"
    )

    def test_a_good_text_has_no_problems(self):
        self.assertEqual(problems_of(self.GOOD), [])

    def test_bad_texts_have_problems(self):
        for old, new in (
            ("# HELP a_rows_total Rows\n", ""),
            ("# TYPE a_rows_total counter\n", ""),
            ('k="y"', 'k="x"'),
            ('{k="y"}', '{k="y",k="y"}'),
            ('{k="y"}', '{k="y}'),
            ("a_rows_total", "a_rows"),
            ("a_rows_total", "a_rowsSeen_total"),
            ("a_seconds", "a_ms"),
            ("a_seconds", "a_seconds_total"),
            ("a_seconds", "a_seconds_histogram"),
            ("a_seconds", "a_seconds_count"),
            ("counter\na_rows_total{k=\"x\"} 1", "counter\na_rows_total{k=\"x\"} -1"),
            ('{le="0.1"} 1', '{le="0.1"} 4'),
            ('a_seconds_bucket{le="+Inf"} 3\n', ""),
            ("a_seconds_count 3", "a_seconds_count 2"),
            ("a_seconds_sum 0.5\n", ""),
            ("a_seconds_sum 0.5", "b_sum 0.5"),
            ('le="+Inf"} 3\n', 'le="+Inf"} 3'),
            ("# HELP a_seconds Time\n", "# HELP a_rows_total Rows\n# HELP a_seconds Time\n"),
        ):
            with self.subTest(old=old, new=new):
                self.assertIn(old, self.GOOD)
                self.assertNotEqual(problems_of(self.GOOD.replace(old, new)), [])


class MetricsTest(ClusterTest):
    def worker_with_metrics(self):
        address = free_address()
        (worker,) = self.workers(1, options=("--metrics", address))
        return worker, address

    def text(self, address):
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=FAILURE_LIMIT) as answer:
            self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
            return answer.read().decode()

    def scrape(self, address):
        lines = self.text(address).splitlines()
        return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))

    def test_counts_what_has_run(self):
        worker, address = self.worker_with_metrics()
        self.assertEqual(self.scrape(address)["skein_worker_queries_total"], "0")
        self.assert_works([worker])
        metrics = self.scrape(address)
        self.assertEqual(metrics["skein_worker_queries_total"], "1")
        self.assertGreater(float(metrics['skein_worker_tasks_total{result="finished"}']), 1)
        self.assertEqual(metrics['skein_worker_tasks{state="running"}'], "0")
        self.assertGreater(float(metrics["skein_worker_output_rows_total"]), 1000)
        self.assertGreater(float(metrics['skein_worker_output_bytes_total{kind="page"}']), 8000)
        self.assertEqual(metrics["skein_worker_threads"], "1")

    def test_a_busy_worker_answers_too(self):
        worker, address = self.worker_with_metrics()
        query = self.begun([worker], self.scanning())
        until(lambda: self.scrape(address)['skein_worker_tasks{state="running"}'] != "0", LIMIT, "a task runs")
        began = time.monotonic()
        for _ in range(20):
            self.scrape(address)
        self.assertLess(time.monotonic() - began, FAILURE_LIMIT)
        query.send_signal(signal.SIGINT)
        self.finish(query, FAILURE_LIMIT)
        until(
            lambda: self.scrape(address)['skein_worker_tasks_total{result="cancelled"}'] != "0", LIMIT, "it is counted"
        )

    def test_the_text_has_no_problems(self):
        worker, address = self.worker_with_metrics()
        self.assertEqual(problems_of(self.text(address)), [])
        query = self.begun([worker], self.shuffling())
        self.assertEqual(problems_of(self.text(address)), [])
        query.send_signal(signal.SIGINT)
        self.finish(query, FAILURE_LIMIT)
        text = self.text(address)
        self.assertEqual(problems_of(text), [])
        promtool = shutil.which("promtool")
        if promtool:
            check = subprocess.run(
                [promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=LIMIT, check=False
            )
            self.assertEqual((check.returncode, check.stdout + check.stderr), (0, ""))

    def test_scrapes_and_queries_do_not_wait_for_each_other(self):
        address = free_address()
        workers = self.workers(1, options=("--metrics", address)) + self.workers(1)
        # Some that ask and never read the answer, and some that never end their question.
        for question in (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost:") * 4:
            silent = socket.create_connection(address.split(":"))
            self.addCleanup(silent.close)
            silent.sendall(question)
        ended = threading.Event()
        slowest = []

        def scrape():
            took = [0]
            while not ended.is_set():
                began = time.monotonic()
                self.text(address)
                took.append(time.monotonic() - began)
            slowest.append((len(took), max(took)))

        scrapers = [threading.Thread(target=scrape) for _ in range(4)]
        for scraper in scrapers:
            scraper.start()
        try:
            for _ in range(3):
                began = time.monotonic()
                self.assert_works(workers)
                self.assertLess(time.monotonic() - began, FAILURE_LIMIT)
            query = self.begun(workers, self.shuffling())
            query.send_signal(signal.SIGINT)
            code, _, err = self.finish(query, FAILURE_LIMIT)
            self.assertEqual(code, 130, err)
        finally:
            ended.set()
            for scraper in scrapers:
                scraper.join(LIMIT)
        self.assertEqual(len(slowest), len(scrapers))
        for count, seconds in slowest:
            self.assertGreater(count, 3)
            self.assertLess(seconds, FAILURE_LIMIT)

    def test_connections_that_ask_nothing_do_not_delay_a_scrape(self):
        worker, address = self.worker_with_metrics()
        before = worker.descriptors()
        idle = []
        for _ in range(30):
            idle.append(socket.create_connection(address.split(":")))
            self.addCleanup(idle[-1].close)
        for _ in range(5):
            began = time.monotonic()
            self.text(address)
            self.assertLess(time.monotonic() - began, 1)
        # Their time ends, and the worker rests then.
        for connection in idle:
            connection.settimeout(FAILURE_LIMIT)
            self.assertEqual(connection.recv(1), b"")
        until(lambda: worker.descriptors() <= before, FAILURE_LIMIT, "all are closed")
        until(lambda: is_idle(worker), FAILURE_LIMIT, "the worker is idle")

    def test_an_address_that_is_in_use(self):
        _, address = self.worker_with_metrics()
        second = start("worker", "--listen", "127.0.0.1:0", "--metrics", address)
        self.addCleanup(self.end, second)
        code, _, err = self.finish(second, FAILURE_LIMIT)
        self.assertEqual(code, 1)
        self.assert_one_line(err, f"cannot serve metrics at {address}")


if __name__ == "__main__":
    main()
