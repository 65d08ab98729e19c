#!/usr/bin/env python3
"""Traces: what a collector of OpenTelemetry gets of a query, and that a query never waits for one.

    trace_test.py PROGRAM

Needs Python's module duckdb.
"""

import http.server
import json
import os
import re
import socket
import socketserver
import threading
import time
import unittest

from cluster_fixture import FAILURE_LIMIT, LIMIT, ClusterTest, Programs, free_address, main, until

try:
    import duckdb
except ImportError:
    duckdb = None

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


class Collector:
    """Takes what is posted; as long as `gate` is not set, it does not answer."""

    def __init__(self, status=200):
        self.requests = []
        self.gate = threading.Event()
        self.gate.set()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.gate.wait(LIMIT)
                collector.requests.append((self.path, self.headers["Content-Type"], json.loads(body)))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def spans(self, request):
        """The spans of a request that must be as OTLP wants it."""
        (resource,) = self.requests[request][2]["resourceSpans"]
        (scope,) = resource["scopeSpans"]
        return scope["spans"]


class BadCollector:
    """Does `behave(connection)` with every connection until that returns, or the test is over."""

    def __init__(self, behave):
        self.over = threading.Event()
        collector = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    behave(self.request, collector.over)
                except OSError:
                    # The other side has given up.
                    pass

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

            def server_bind(self):
                # For the connections: what a reader has not read should not lie in a large buffer of its own.
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
                super().server_bind()

        self.server = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def answer_slowly(connection, over):
    """A byte now and then, for ever."""
    connection.recv(1 << 16)
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1000000:
        connection.sendall(bytes([byte]))
        if over.wait(0.2):
            return


def read_slowly(connection, over):
    """Takes a bit of the question now and then."""
    while connection.recv(1 << 16) and not over.wait(0.2):
        pass


def answer_at_length(connection, over):
    """Far more than anybody wants to know."""
    connection.recv(1 << 16)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\n")
    for _ in range(300):
        connection.sendall(b"x" * 1000000)


#: What is slow, and a query whose trace is long enough for it: more than the buffers between the two hold.
SLOW = ((answer_slowly, "SELECT 42"), (read_slowly, "SELECT 42 /* " + "long " * 1_600_000 + "*/"))


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def attributes(span):
    result = {}
    for entry in span["attributes"]:
        ((kind, value),) = entry["value"].items()
        result[entry["key"]] = int(value) if kind == "intValue" else value
    return result


def times(span):
    return int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class TraceTest(ClusterTest):
    def collector(self, status=200):
        result = Collector(status)
        self.addCleanup(result.close)
        return result

    def traced(self, workers, endpoint):
        connection = self.connect(workers)
        connection.execute(f"SET skein_trace_endpoint='{endpoint}'")
        return connection

    def expect(self, collector, requests):
        until(lambda: len(collector.requests) >= requests, LIMIT, f"{requests} traces have come")
        self.assertEqual(len(collector.requests), requests)

    def test_a_query_its_stages_and_its_tasks(self):
        collector = self.collector()
        connection = self.traced(self.workers(2), collector.endpoint)
        sql = f"SELECT k, count(*) FROM '{self.keys}' GROUP BY k ORDER BY k"
        before = time.time_ns()
        connection.execute(sql).fetchall()
        after = time.time_ns()
        self.expect(collector, 1)
        path, kind, body = collector.requests[0]
        self.assertEqual((path, kind), ("/v1/traces", "application/json"))
        resource = attributes(body["resourceSpans"][0]["resource"])
        self.assertEqual(resource["service.name"], "skein")
        spans = collector.spans(0)

        for span in spans:
            self.assertRegex(span["traceId"], r"\A[0-9a-f]{32}\Z")
            self.assertRegex(span["spanId"], r"\A[0-9a-f]{16}\Z")
            start, end = times(span)
            self.assertTrue(before <= start <= end <= after + 10**9, (before, start, end, after))
        self.assertEqual(len({span["traceId"] for span in spans}), 1)
        self.assertEqual(len({span["spanId"] for span in spans}), len(spans))

        (query,) = [span for span in spans if "parentSpanId" not in span]
        numbers = connection.execute("SELECT stages, tasks, workers, rows_exchanged FROM skein_last_query()").fetchone()
        found = attributes(query)
        self.assertEqual(
            (found["skein.stages"], found["skein.tasks"], found["skein.workers"], found["skein.exchanged_rows"]), numbers
        )
        self.assertEqual((found["db.query.text"], found["skein.distributed"], found["skein.retries"]), (sql, True, 0))
        self.assertEqual(found["skein.query"].replace("-", ""), query["traceId"])
        self.assertNotIn("status", query)

        stages = [span for span in spans if span.get("parentSpanId") == query["spanId"]]
        self.assertEqual([span["name"] for span in stages], [f"stage {i + 1}" for i in range(numbers[0])])
        rows = connection.execute("SELECT stage, task, worker, output_rows FROM skein_tasks() ORDER BY ALL").fetchall()
        tasks = []
        for stage in stages:
            for task in (span for span in spans if span.get("parentSpanId") == stage["spanId"]):
                found = attributes(task)
                self.assertEqual(found["skein.stage"], attributes(stage)["skein.stage"])
                self.assertTrue(times(stage)[0] <= times(task)[0] and times(task)[1] <= times(stage)[1])
                self.assertEqual((found["skein.state"], found["skein.attempt"]), ("finished", 0))
                tasks.append((found["skein.stage"], found["skein.task"], found["skein.worker"], found["skein.sent_rows"]))
        self.assertEqual(sorted(tasks), rows)
        self.assertEqual(len(spans), 1 + numbers[0] + numbers[1])

    def test_a_query_that_fails(self):
        collector = self.collector()
        connection = self.traced(self.workers(2), collector.endpoint)
        with self.assertRaises(duckdb.ConversionException):
            connection.execute(f"SELECT sum(CASE WHEN id = 399999 THEN t::INTEGER ELSE 1 END) FROM '{self.keys}'").fetchall()
        self.expect(collector, 1)
        spans = collector.spans(0)
        self.assertEqual(spans[0]["status"]["code"], 2)
        self.assertIn("Could not convert", spans[0]["status"]["message"])
        states = [attributes(span).get("skein.state") for span in spans if span.get("status", {}).get("code") == 2]
        self.assertIn("failed", states)

    def test_a_query_that_is_not_distributed_is_a_part_of_another_trace(self):
        collector = self.collector()
        connection = self.traced(self.workers(1), collector.endpoint)
        connection.execute(f"SET skein_trace_parent='00-{TRACE}-{SPAN}-01'")
        connection.execute("SET skein_mode='off'")
        connection.execute("SELECT 42").fetchall()
        self.expect(collector, 1)
        (span,) = collector.spans(0)
        self.assertEqual((span["traceId"], span["parentSpanId"]), (TRACE, SPAN))
        found = attributes(span)
        self.assertEqual((found["skein.distributed"], found["skein.reason"]), (False, "skein_mode is off"))

    def test_tasks_that_ran_again_are_there_once(self):
        collector = self.collector()
        workers = self.workers(3)
        connection = self.traced(workers, collector.endpoint)
        before = [worker.cpu_seconds() for worker in workers]

        def kill():
            until(
                lambda: all(worker.cpu_seconds() - used > 0.3 for worker, used in zip(workers, before)),
                LIMIT,
                "the query has begun",
            )
            workers[1].kill()

        thread = threading.Thread(target=kill)
        thread.start()
        heavy = "list_sum(list_transform(range(k % 100 + 30), x -> hash(x, h) % 7))"
        connection.execute(f"SELECT max({heavy}) FROM '{self.facts}'").fetchall()
        thread.join()
        self.expect(collector, 1)
        spans = collector.spans(0)
        self.assertEqual(attributes(spans[0])["skein.retries"], 1)
        tasks = [attributes(span) for span in spans if "skein.task" in attributes(span)]
        self.assertEqual(len({(task["skein.stage"], task["skein.task"]) for task in tasks}), len(tasks))
        self.assertEqual(len(tasks), attributes(spans[0])["skein.tasks"])
        self.assertEqual({task["skein.attempt"] for task in tasks}, {1})
        self.assertNotIn(workers[1].address, {task["skein.worker"] for task in tasks})

    def test_no_query_waits_for_a_collector(self):
        collector = self.collector()
        collector.gate.clear()
        workers = self.workers(1)
        connection = self.traced(workers, collector.endpoint)
        began = time.monotonic()
        for _ in range(20):
            connection.execute("SELECT 42").fetchall()
        self.assertLess(time.monotonic() - began, FAILURE_LIMIT)
        collector.gate.set()

    def test_a_collector_that_is_not_there_or_takes_nothing_is_logged(self):
        workers = self.workers(1)
        for endpoint, reason in ((f"http://{free_address()}", "not taken"), (self.collector(503).endpoint, "status 503")):
            connection = self.traced(workers, endpoint)
            connection.execute("CALL enable_logging(level = 'warning')")
            connection.execute("SELECT 42").fetchall()
            logged = "SELECT message FROM duckdb_logs WHERE message LIKE 'skein: a trace was not taken by %'"
            until(lambda connection=connection: connection.execute(logged).fetchall(), LIMIT, "it is logged")
            self.assertIn(reason, connection.execute(logged).fetchall()[0][0])

    def test_what_waits_is_sent_before_the_database_closes(self):
        collector = self.collector()
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        connection.execute(f"LOAD '{Programs.extension}'")
        connection.execute(f"SET skein_trace_endpoint='{collector.endpoint}'")
        for _ in range(5):
            connection.execute("SELECT 42").fetchall()
        connection.close()
        self.assertEqual(len(collector.requests), 5)

    def test_closing_does_not_wait_for_a_bad_collector(self):
        for behave, sql in SLOW:
            with self.subTest(behave=behave.__name__):
                collector = BadCollector(behave)
                self.addCleanup(collector.close)
                connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
                connection.execute(f"LOAD '{Programs.extension}'")
                connection.execute(f"SET skein_trace_endpoint='{collector.endpoint}'")
                for _ in range(4):
                    connection.execute(sql).fetchall()
                began = time.monotonic()
                connection.close()
                self.assertLess(time.monotonic() - began, FAILURE_LIMIT)

    def test_a_bad_collector_does_not_keep_others_waiting(self):
        good = self.collector()
        connection = self.connect(self.workers(1))
        for behave, sql in SLOW:
            collector = BadCollector(behave)
            self.addCleanup(collector.close)
            connection.execute(f"SET skein_trace_endpoint='{collector.endpoint}'")
            connection.execute(sql).fetchall()
        connection.execute(f"SET skein_trace_endpoint='{good.endpoint}'")
        connection.execute("SELECT 42").fetchall()
        until(lambda: good.requests, 3 * FAILURE_LIMIT, "the good one has its trace")

    def test_a_long_answer_is_not_kept(self):
        collector = BadCollector(answer_at_length)
        self.addCleanup(collector.close)
        connection = self.connect(self.workers(1))
        connection.execute("CALL enable_logging(level = 'warning')")
        connection.execute(f"SET skein_trace_endpoint='{collector.endpoint}'")
        connection.execute("SELECT 42").fetchall()
        before = resident_bytes()
        good = self.collector()
        connection.execute(f"SET skein_trace_endpoint='{good.endpoint}'")
        connection.execute("SELECT 42").fetchall()
        most = [before]

        def taken():
            most.append(resident_bytes())
            return good.requests

        until(taken, LIMIT, "the next trace is taken")
        self.assertLess(max(most) - before, 50_000_000)
        # It was accepted; what else it says does not matter.
        logged = "SELECT message FROM duckdb_logs WHERE message LIKE 'skein: a trace was not taken by %'"
        self.assertEqual(connection.execute(logged).fetchall(), [])

    def test_nothing_is_sent_unasked_or_of_plans_alone(self):
        collector = self.collector()
        workers = self.workers(1)
        self.connect(workers).execute("SELECT 42").fetchall()
        connection = self.traced(workers, collector.endpoint)
        connection.execute(f"EXPLAIN SELECT count(*) FROM '{self.keys}'").fetchall()
        connection.execute("FROM skein_last_query()").fetchall()
        connection.execute("SELECT 17").fetchall()
        self.expect(collector, 1)
        self.assertEqual(attributes(collector.spans(0)[0])["db.query.text"], "SELECT 17")

    def test_settings_that_make_no_sense_are_refused(self):
        connection = self.connect(self.workers(1))
        for endpoint in ("nonsense", "https://host:4318", "http://", "http:///v1/traces", "http://a b"):
            with self.assertRaisesRegex(duckdb.InvalidInputException, re.escape(endpoint)):
                connection.execute(f"SET skein_trace_endpoint='{endpoint}'")
        for parent in ("nonsense", f"00-{TRACE}-{SPAN}", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-{SPAN}-01"):
            with self.assertRaisesRegex(duckdb.InvalidInputException, parent):
                connection.execute(f"SET skein_trace_parent='{parent}'")


if __name__ == "__main__":
    main()
