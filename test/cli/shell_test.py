#!/usr/bin/env python3
"""`skein shell` starts DuckDB's command line with Skein loaded and the cluster set.

    shell_test.py PROGRAM
"""

import os
import subprocess
import sys
import tempfile
import unittest

SKEIN = None


def run(*arguments, **environment):
    done = subprocess.run(
        [SKEIN, "shell", *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


class ShellTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        #: Stands for DuckDB's command line: prints its arguments, one a line.
        self.fake = os.path.join(folder.name, "duckdb")
        with open(self.fake, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        os.chmod(self.fake, 0o755)

    def test_loads_skein_and_sets_the_cluster(self):
        code, out, err = run("--cluster", "a:1,b:2", "--set", "threads=1", "--", "my.duckdb", SKEIN_DUCKDB_CLI=self.fake)
        self.assertEqual((code, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(lines[0], "-unsigned")
        self.assertRegex(lines[2], r"^LOAD '.*skein\.duckdb_extension'$")
        self.assertEqual(
            [line for line in lines if line.startswith("SET")],
            ["SET skein_mode = 'force'", "SET skein_cluster = 'a:1,b:2'", "SET threads = '1'"],
        )
        self.assertEqual(lines[-1], "my.duckdb")

    def test_starts_worker_processes(self):
        code, out, err = run("--processes", "2", SKEIN_DUCKDB_CLI=self.fake)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"SET skein_cluster = '127\.0\.0\.1:\d+,127\.0\.0\.1:\d+'")

    def test_says_when_there_is_no_command_line(self):
        code, out, err = run(SKEIN_DUCKDB_CLI="/nosuch/duckdb")
        self.assertEqual((code, out, err), (1, "", "skein: SKEIN_DUCKDB_CLI=/nosuch/duckdb is no program\n"))

    def test_runs_a_query_in_the_real_command_line(self):
        code, out, err = run("--workers", "2", "--", "-csv", "-c", "SELECT 40 + 2 AS answer")
        if "no DuckDB command line" in err:
            self.skipTest(err)
        self.assertEqual((code, out, err), (0, "answer\n42\n", ""))


if __name__ == "__main__":
    SKEIN = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
