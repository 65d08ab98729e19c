#!/usr/bin/env python3
"""Files and statements that are not what they should be.

    bad_input_test.py PROGRAM
"""

import os
import shutil
import unittest

from cluster_fixture import FAILURE_LIMIT, ClusterTest, Programs, main

try:
    import duckdb
except ImportError:
    duckdb = None


class BadInputTest(ClusterTest):
    def fail_with(self, workers, sql, *words):
        code, out, err = self.finish(self.command(workers, sql))
        self.assertEqual((code, out), (1, ""), err)
        for word in words:
            self.assertIn(word, err)
        self.assertNotIn("INTERNAL", err)
        self.assert_works(workers)
        return err

    def copy_of_keys(self, name):
        folder = f"{self.folder}/{name}"
        shutil.copytree(f"{self.folder}/keys", folder)
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_a_statement_that_does_not_parse(self):
        self.fail_with(self.workers(1), "SELEKT 1", "SELEKT")

    def test_a_folder_without_files(self):
        self.fail_with(self.workers(1), f"SELECT * FROM '{self.folder}/*.parquet'", self.folder)

    def test_a_file_whose_end_is_missing(self):
        folder = self.copy_of_keys("cut")
        os.truncate(f"{folder}/2.parquet", 1000)
        self.fail_with(self.workers(2), f"SELECT sum(k) FROM '{folder}/*.parquet'", f"{folder}/2.parquet")

    def test_a_file_with_other_bytes_in_the_middle(self):
        folder = self.copy_of_keys("holes")
        with open(f"{folder}/2.parquet", "r+b") as file:
            file.seek(100)
            file.write(b"\xff" * 200_000)
        code, out, _ = self.finish(self.command(self.workers(2), f"SELECT sum(h), max(t) FROM '{folder}/*.parquet'"))
        self.assertEqual((code, out), (1, ""))

    def test_a_file_that_a_worker_does_not_see(self):
        # A name that means another folder in another process.
        workers = [*self.workers(1, folder=self.folder), *self.workers(1, folder=os.path.dirname(self.folder))]
        query = self.command(workers, "SELECT sum(k) FROM '/proc/self/cwd/keys/*.parquet'", folder=self.folder)
        code, out, err = self.finish(query, FAILURE_LIMIT)
        self.assertEqual((code, out), (1, ""), err)
        for word in ("IO Error", "/proc/self/cwd/keys/", workers[1].address):
            self.assertIn(word, err)
        self.assert_works(workers)

    def test_an_error_in_a_row_comes_as_duckdb_says_it(self):
        workers = self.workers(2)
        err = self.fail_with(
            workers, f"SELECT sum((t || k)::INTEGER) FROM '{self.facts}'", "Conversion Error: Could not convert string"
        )
        self.assertEqual(err.count("Conversion Error"), 1)
        self.assertIn("worker ", err)


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class ChangedFileTest(ClusterTest):
    """Files that change between planning and reading: the plan of a prepared statement is older than its execution."""

    def prepared(self, folder):
        workers = self.workers(2)
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "2"})
        self.addCleanup(connection.close)
        connection.execute(f"LOAD '{Programs.extension}'")
        connection.execute("SET skein_mode='force'")
        connection.execute(f"SET skein_cluster='{','.join(worker.address for worker in workers)}'")
        connection.execute(f"PREPARE q AS SELECT count(*), sum(k) FROM '{folder}/*.parquet'")
        self.assertEqual(connection.execute("EXECUTE q").fetchall(), [(400000, 199800000)])
        return workers, connection

    def copy_of_keys(self, name):
        folder = f"{self.folder}/{name}"
        shutil.copytree(f"{self.folder}/keys", folder)
        return folder

    def test_a_file_that_is_gone(self):
        folder = self.copy_of_keys("gone")
        workers, connection = self.prepared(folder)
        os.remove(f"{folder}/1.parquet")
        try:
            rows = connection.execute("EXECUTE q").fetchall()
        except duckdb.Error as error:
            self.assertIn(f"{folder}/1.parquet", str(error))
        else:
            # Planned again: the answer is that of the files as they are.
            self.assertEqual(rows[0][0], 300000)
        self.assert_free(workers)

    def test_a_file_that_is_cut_short(self):
        folder = self.copy_of_keys("short")
        workers, connection = self.prepared(folder)
        os.truncate(f"{folder}/1.parquet", 1000)
        with self.assertRaisesRegex(duckdb.Error, f"{folder}/1.parquet"):
            connection.execute("EXECUTE q").fetchall()
        self.assert_free(workers)

    def test_a_file_that_is_another_one(self):
        folder = self.copy_of_keys("other")
        workers, connection = self.prepared(folder)
        shutil.copy(f"{self.folder}/facts/1.parquet", f"{folder}/1.parquet")
        try:
            rows = connection.execute("EXECUTE q").fetchall()
        except duckdb.Error as error:
            self.assertIn(f"{folder}/1.parquet", str(error))
        else:
            # Planned again: the answer is that of the files as they are.
            self.assertEqual(rows[0][0], 800000)
        self.assert_free(workers)


if __name__ == "__main__":
    main()
