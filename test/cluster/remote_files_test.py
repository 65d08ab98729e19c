#!/usr/bin/env python3
"""Files of web servers and object stores: read by the tasks where all workers can, with the session's secrets.

    remote_files_test.py PROGRAM EXTENSIONS

EXTENSIONS is the folder of DuckDB's extension httpfs. Needs Python's module duckdb.
"""

import email.utils
import hashlib
import http.server
import os
import re
import sys
import threading
import unittest
import urllib.parse
import xml.sax.saxutils

from cluster_fixture import ClusterTest, Programs, Worker, main, start

try:
    import duckdb
except ImportError:
    duckdb = None

KEY = "the_only_key"


class StoreHandler(http.server.BaseHTTPRequestHandler):
    """As much of S3 as DuckDB uses, under /BUCKET; without a key under /web."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, with_body):
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        key = re.search(r"Credential=([^/]*)/", self.headers.get("Authorization", ""))
        self.server.store.count(path, self.command, key and key.group(1))
        if not path.startswith("/web/") and (not key or key.group(1) != KEY):
            self.respond(403, b"<Error><Code>AccessDenied</Code></Error>", with_body)
        elif "list-type" in query:
            self.respond(200, self.server.store.listing(path, query.get("prefix", "")), with_body)
        else:
            self.answer_file(path, with_body)

    def answer_file(self, path, with_body):
        try:
            body, headers = self.server.store.read(path)
        except (FileNotFoundError, IsADirectoryError):
            self.respond(404, b"", with_body)
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not wanted:
            self.respond(200, body, with_body, headers)
            return
        first = int(wanted.group(1))
        last = min(int(wanted.group(2) or len(body)), len(body) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
        self.respond(206, body[first : last + 1], with_body, headers)

    def respond(self, status, body, with_body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)


class Store:
    """A folder as a bucket `b`, and as web pages below `web`."""

    def __init__(self, folder):
        self.folder = folder
        self.requests = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StoreHandler)
        self.server.daemon_threads = True
        self.server.store = self
        self.address = f"127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def count(self, path, command, key):
        self.requests.append((path, command, key))

    def local(self, path):
        return os.path.join(self.folder, path.split("/", 2)[2])

    def read(self, path):
        with open(self.local(path), "rb") as file:
            body = file.read()
        changed = os.stat(self.local(path)).st_mtime
        return body, {"ETag": self.tag(body), "Last-Modified": email.utils.formatdate(changed, usegmt=True)}

    @staticmethod
    def tag(body):
        return f'"{hashlib.md5(body).hexdigest()}"'

    def listing(self, bucket, prefix):
        items = ""
        for folder, _, names in sorted(os.walk(self.folder)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                key = os.path.relpath(path, self.folder)
                if not key.startswith(prefix):
                    continue
                with open(path, "rb") as file:
                    tag = xml.sax.saxutils.escape(self.tag(file.read()))
                # Finer than what a file's own headers say.
                items += (
                    f"<Contents><Key>{xml.sax.saxutils.escape(key)}</Key><LastModified>2026-01-02T03:04:05.678Z"
                    f"</LastModified><ETag>{tag}</ETag><Size>{os.path.getsize(path)}</Size></Contents>"
                )
        return (
            f'<?xml version="1.0"?><ListBucketResult><Name>{bucket.strip("/")}</Name><IsTruncated>false</IsTruncated>'
            f"{items}</ListBucketResult>"
        ).encode()


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class RemoteFilesTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plain = duckdb.connect()
        for format in ("csv", "csv.gz", "json"):
            for file in range(3):
                plain.execute(
                    f"COPY (SELECT range AS id, 'a \"b\" ' || range AS t FROM range({file * 1000}, {file * 1000 + 1000})) "
                    f"TO '{cls.folder}/text_{file}.{format}'"
                )
        plain.execute(
            f"COPY (SELECT range AS id, range % 5 AS day, 'x' || range AS t FROM range(20000)) TO '{cls.folder}/hive' "
            "(FORMAT parquet, PARTITION_BY (day))"
        )

    def setUp(self):
        self.store = Store(self.folder)
        self.addCleanup(self.store.stop)

    def loading_workers(self, count):
        workers = [Worker(options=("--load", RemoteFilesTest.httpfs)) for _ in range(count)]
        for worker in workers:
            self.addCleanup(worker.stop)
        return workers

    def session(self, workers, secret=True):
        connection = self.connect(workers)
        connection.execute("SET allow_persistent_secrets = false")
        connection.execute(f"LOAD '{RemoteFilesTest.httpfs}'")
        connection.execute("SET http_retries = 0")
        if secret:
            self.create_secret(connection, KEY)
        return connection

    def create_secret(self, connection, key):
        connection.execute(
            f"CREATE OR REPLACE SECRET store (TYPE s3, KEY_ID '{key}', SECRET 'hush', REGION 'here', "
            f"ENDPOINT '{self.store.address}', URL_STYLE 'path', USE_SSL false)"
        )

    def last(self, connection):
        return connection.execute("SELECT distributed, reason FROM skein_last_query()").fetchone()

    def compare(self, connection, sql):
        """The answer of `sql`, which is that of DuckDB alone, and how it was distributed."""
        actual = connection.execute(sql).fetchall()
        last = self.last(connection)
        connection.execute("SET skein_mode = 'off'")
        expected = connection.execute(sql).fetchall()
        connection.execute("SET skein_mode = 'force'")
        self.assertEqual(sorted(actual, key=str), sorted(expected, key=str), sql)
        return actual, last

    def queries(self, root):
        return [
            f"SELECT k, count(*), sum(id), min(t) FROM '{root}/keys/*.parquet' GROUP BY k",
            f"SELECT day, count(*), max(t) FROM read_parquet('{root}/hive/*/*.parquet', hive_partitioning = true) "
            "WHERE day IN (1, 3) GROUP BY day",
            f"SELECT count(*), min(t), sum(id) FROM '{root}/text_*.csv'",
            f"SELECT count(*), min(t), sum(id) FROM '{root}/text_*.csv.gz'",
            f"SELECT count(*), min(t), sum(id) FROM '{root}/text_*.json'",
            f"SELECT count(*) FROM '{root}/keys/*.parquet' a JOIN '{self.folder}/keys/*.parquet' b USING (id) WHERE b.k < 7",
            f"SELECT id, filename[-9:] FROM '{root}/keys/*.parquet' ORDER BY id DESC LIMIT 5",
        ]

    def test_an_object_store(self):
        for count in (1, 3):
            connection = self.session(self.loading_workers(count))
            for sql in self.queries("s3://b"):
                with self.subTest(workers=count, sql=sql):
                    _, (distributed, reason) = self.compare(connection, sql)
                    self.assertTrue(distributed, reason)
                    plan = connection.execute(f"EXPLAIN {sql}").fetchone()[1]
                    self.assertNotIn("in the session", plan)
                    self.assertIn("DistributedLeaf", plan)
            self.assertEqual({key for _, _, key in self.store.requests}, {KEY})

    def test_a_web_server(self):
        connection = self.session(self.loading_workers(2), secret=False)
        files = ", ".join(f"'http://{self.store.address}/web/keys/{file}.parquet'" for file in range(4))
        for sql in (
            f"SELECT k, count(*), sum(id) FROM read_parquet([{files}]) GROUP BY k",
            f"SELECT count(*), sum(id) FROM 'http://{self.store.address}/web/text_1.csv'",
            f"SELECT count(*), sum(id) FROM 'http://{self.store.address}/web/text_1.json'",
        ):
            _, (distributed, reason) = self.compare(connection, sql)
            self.assertTrue(distributed, reason)

    def test_settings_instead_of_a_secret(self):
        connection = self.session(self.loading_workers(2), secret=False)
        connection.execute(f"SET s3_endpoint = '{self.store.address}'")
        connection.execute(f"SET s3_access_key_id = '{KEY}'")
        connection.execute("SET s3_secret_access_key = 'hush'")
        connection.execute("SET s3_url_style = 'path'")
        connection.execute("SET s3_use_ssl = false")
        _, (distributed, reason) = self.compare(connection, "SELECT count(*), sum(id) FROM 's3://b/keys/*.parquet'")
        self.assertTrue(distributed, reason)

    def test_secrets_stay_with_their_session(self):
        workers = self.loading_workers(2)
        sql = "SELECT sum(id) FROM read_parquet(['s3://b/keys/0.parquet', 's3://b/keys/1.parquet'])"
        self.compare(self.session(workers), sql)
        stranger = self.session(workers, secret=False)
        for setting in (f"s3_endpoint = '{self.store.address}'", "s3_url_style = 'path'", "s3_use_ssl = false"):
            stranger.execute(f"SET {setting}")
        with self.assertRaisesRegex(duckdb.Error, "403"):
            stranger.execute(sql)
        # A secret for other files does not travel, the longest scope wins as in DuckDB.
        connection = self.session(workers)
        connection.execute("CREATE SECRET other (TYPE s3, KEY_ID 'wrong', SECRET 'w', SCOPE 's3://elsewhere')")
        self.store.requests.clear()
        self.compare(connection, sql)
        self.assertEqual({key for _, _, key in self.store.requests}, {KEY})
        connection.execute("CREATE SECRET nearer (TYPE s3, KEY_ID 'wrong', SECRET 'w', SCOPE 's3://b/keys', "
                           f"ENDPOINT '{self.store.address}', URL_STYLE 'path', USE_SSL false)")
        with self.assertRaisesRegex(duckdb.Error, "403"):
            connection.execute(sql)

    def test_workers_without_the_extension(self):
        connection = self.session([*self.loading_workers(1), *self.workers(1)])
        sql = "SELECT k, count(*), sum(id) FROM 's3://b/keys/*.parquet' GROUP BY k"
        self.compare(connection, sql)
        plan = connection.execute(f"EXPLAIN {sql}").fetchone()[1]
        self.assertRegex(plan, "needs the extension httpfs, which worker 127.0.0.1:[0-9]+ has not loaded")
        self.assertNotIn("DistributedLeaf", plan)
        # In this process, too: workers have an instance of their own.
        connection.execute("RESET skein_cluster")
        connection.execute("SET skein_workers = 2")
        self.compare(connection, sql)

    def test_a_cluster_on_this_machine(self):
        cluster = start("cluster", "--workers", "2", "--load", RemoteFilesTest.httpfs)
        self.addCleanup(self.end, cluster)
        connection = self.session([], secret=True)
        addresses = cluster.stdout.readline().split()[-1]
        connection.execute(f"SET skein_cluster = '{addresses}'")
        sql = "SELECT k, count(*), sum(id) FROM 's3://b/keys/*.parquet' GROUP BY k"
        self.compare(connection, sql)
        self.assertIn("DistributedLeaf", connection.execute(f"EXPLAIN {sql}").fetchone()[1])

    def test_a_mixed_list_is_read_by_the_session(self):
        connection = self.session(self.loading_workers(2))
        for files in (("s3://b", self.folder), (self.folder, "s3://b")):
            list_of_files = ", ".join(f"'{root}/keys/{file}.parquet'" for file, root in enumerate(files))
            sql = f"SELECT count(*), sum(id) FROM read_parquet([{list_of_files}])"
            self.compare(connection, sql)
            plan = connection.execute(f"EXPLAIN {sql}").fetchone()[1]
            self.assertNotIn("DistributedLeaf", plan)

    def test_a_file_that_changes_is_noticed(self):
        connection = self.session(self.loading_workers(2))
        path = f"{self.folder}/changing.parquet"
        duckdb.execute(f"COPY (SELECT range AS id FROM range(1000)) TO '{path}'")
        sql = "SELECT sum(id) FROM 's3://b/changing.parquet'"
        self.assertEqual(self.compare(connection, sql)[0], [(499500,)])
        duckdb.execute(f"COPY (SELECT range + 1 AS id FROM range(1000)) TO '{path}'")
        self.assertEqual(self.compare(connection, sql)[0], [(500500,)])

    def test_an_extension_that_is_not_there(self):
        worker = start("worker", "--listen", "127.0.0.1:0", "--load", "/nowhere/x.duckdb_extension")
        code, out, err = self.finish(worker)
        self.assertEqual((code, out), (1, ""))
        self.assert_one_line(err, "extension '/nowhere/x.duckdb_extension' cannot be loaded")


if __name__ == "__main__":
    RemoteFilesTest.httpfs = os.path.join(os.path.abspath(sys.argv.pop(2)), "httpfs.duckdb_extension")
    main()
