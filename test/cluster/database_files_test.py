#!/usr/bin/env python3
"""Files of DuckDB databases that worker processes read are free again when the session attaches them for writing.

    database_files_test.py PROGRAM

Needs Python's module duckdb.
"""

import unittest

from cluster_fixture import ClusterTest, main

try:
    import duckdb
except ImportError:
    duckdb = None

ROUNDS = 30


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class DatabaseFilesTest(ClusterTest):
    def test_a_file_is_attached_for_writing_at_once(self):
        connection = self.connect(self.workers(2))
        path = f"{self.folder}/shop.db"
        connection.execute(f"ATTACH '{path}' AS shop")
        connection.execute("CREATE TABLE shop.t AS SELECT range AS k, 'x' || range AS s FROM range(300000)")
        for _ in range(ROUNDS):
            connection.execute("DETACH shop")
            connection.execute(f"ATTACH '{path}' AS shop (READ_ONLY)")
            rows = connection.execute("SELECT count(*), max(k), max(s) FROM shop.t").fetchall()
            self.assertEqual(rows, [(300000, 299999, "x99999")])
            self.assertEqual(connection.execute("SELECT distributed FROM skein_last_query()").fetchall(), [(True,)])
            rows = connection.execute("SELECT min(k), min(s) FROM shop.t").fetchall()
            self.assertEqual(rows, [(0, "x0")])
            connection.execute("DETACH shop")
            connection.execute(f"ATTACH '{path}' AS shop")


if __name__ == "__main__":
    main()
