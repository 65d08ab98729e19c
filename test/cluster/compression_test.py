#!/usr/bin/env python3
"""Pages that travel compressed between processes.

    compression_test.py PROGRAM
"""

import unittest

from cluster_fixture import ClusterTest, main

try:
    import duckdb
except ImportError:
    duckdb = None


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class CompressionTest(ClusterTest):
    def bytes_of(self, connection, compression):
        """Answer of a query that shuffles, and the bytes of its pages before and after compression."""
        connection.execute(f"SET skein_compression='{compression}'")
        sql = f"SELECT count(*), sum(n) FROM (SELECT id, t, count(*) AS n FROM '{self.keys}' GROUP BY id, t)"
        self.assertEqual(connection.execute(sql).fetchall(), [(400000, 400000)])
        return connection.execute("SELECT sum(output_bytes), sum(link_bytes) FROM skein_tasks()").fetchone()

    def test_shows_what_it_saves(self):
        workers = self.workers(2)
        connection = self.connect(workers)
        raw, sent = self.bytes_of(connection, "none")
        # Half of the rows stay on their worker.
        self.assertGreater(sent, raw * 0.4)
        self.assertLess(sent, raw * 0.6)
        for compression in ("lz4", "zstd"):
            compressed_raw, compressed = self.bytes_of(connection, compression)
            self.assertGreater(compressed_raw, raw * 0.9)
            self.assertLess(compressed, sent * 0.7)
        # Loopback.
        self.assertGreater(self.bytes_of(connection, "auto")[1], sent * 0.9)

    def test_nothing_is_compressed_inside_a_process(self):
        connection = self.connect_with("SET skein_workers=2")
        self.assertEqual(self.bytes_of(connection, "zstd")[1], 0)

    def test_other_words_are_refused(self):
        connection = self.connect_with("SET skein_workers=2")
        with self.assertRaises(duckdb.InvalidInputException):
            connection.execute("SET skein_compression='gzip'")
        setting = "SELECT value, description <> '' FROM duckdb_settings() WHERE name = 'skein_compression'"
        self.assertEqual(connection.execute(setting).fetchall(), [("auto", True)])


if __name__ == "__main__":
    main()
