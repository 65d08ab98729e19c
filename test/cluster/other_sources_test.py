#!/usr/bin/env python3
"""Tables of other systems give DuckDB's answer: SQLite files, DuckLake, Delta; and loaded extensions change nothing else.

    other_sources_test.py PROGRAM EXTENSIONS

EXTENSIONS is the folder of DuckDB's extensions sqlite_scanner, ducklake, delta, httpfs, inet and tpch; what needs one that
is not there is skipped. Needs Python's module duckdb.

Every query runs on workers inside the process and on as many worker processes, the ones over tables of the first kind of
each system on 1, 2, 3 and 7, and its rows must be those of the same session with skein_mode=off. The workers have none of
the extensions.
"""

import json
import math
import os
import sqlite3
import struct
import sys
import unittest

from cluster_fixture import ClusterTest, Programs, main

try:
    import duckdb
except ImportError:
    duckdb = None

WORKERS = (1, 2, 3, 7)
NEEDED = ("sqlite_scanner", "ducklake", "delta", "httpfs", "inet")
ROWS = 30_000

#: Of every table with the columns id, k, s, r, d.
QUERIES = (
    "SELECT * FROM {t}",
    "SELECT count(*), count(s), min(s), max(s), sum(id), min(d), max(d) FROM {t}",
    "SELECT k, count(*), sum(id), min(s), max(r), count(DISTINCT s) FROM {t} GROUP BY k",
    "SELECT * FROM {t} ORDER BY s NULLS FIRST, id LIMIT 20 OFFSET 3",
    "SELECT id, row_number() OVER (PARTITION BY k ORDER BY id DESC), lag(s) OVER (PARTITION BY k ORDER BY id) FROM {t}",
    "SELECT id, s FROM {t} WHERE id BETWEEN 1000 AND 12000 AND k IN (1, 3) AND s IS NOT NULL",
    "SELECT k, count(*) FROM {t} WHERE d >= DATE '2024-02-01' OR s IS NULL GROUP BY ROLLUP (k)",
    "SELECT t.k, p.s, count(*) FROM {t} t JOIN '{p}' p USING (id) GROUP BY ALL",
    "SELECT p.id, t.s FROM '{p}' p LEFT JOIN {t} t ON p.id = t.id + 7 AND t.k < 3 WHERE p.id < 4000",
    "SELECT p.id FROM '{p}' p WHERE p.id NOT IN (SELECT id FROM {t})",
    "SELECT p.k, count(*) FROM '{p}' p WHERE EXISTS (FROM {t} t WHERE t.id = p.id AND t.k = p.k) GROUP BY p.k",
    "SELECT id, (SELECT max(id) FROM {t} u WHERE u.k = p.k) FROM '{p}' p WHERE id < 2000",
    "SELECT DISTINCT k, left(s, 4) FROM (SELECT k, s FROM {t} UNION ALL SELECT k, s FROM '{p}')",
    "SELECT k FROM {t} INTERSECT SELECT k FROM '{p}'",
    "WITH c AS MATERIALIZED (SELECT k, sum(id) AS n FROM {t} GROUP BY k) SELECT a.k, b.n FROM c a JOIN c b ON a.n >= b.n",
)

#: Of several tables at once; `both` is a view of all of them and of Parquet files.
TOGETHER = (
    "SELECT a.k, count(*), sum(b.id) FROM sq.t a JOIN lake.t b USING (id) GROUP BY a.k",
    "SELECT a.id, b.s, c.s FROM lake.t a JOIN delta_t b USING (id) FULL JOIN sq.t c USING (id) WHERE a.id % 10 < 3",
    "SELECT k, source, count(*), sum(id), min(s) FROM everything GROUP BY ALL",
    "SELECT * FROM everything ORDER BY s DESC NULLS LAST, id, source LIMIT 50",
    "SELECT source, id, sum(id) OVER (PARTITION BY source, k ORDER BY id) FROM everything WHERE id < 3000",
    "SELECT count(*) FROM everything e JOIN '{p}' p USING (id) WHERE e.k <> p.k",
    "SELECT id FROM lake.t EXCEPT SELECT id FROM delta_t",
)

SELECTED = (
    "SELECT range AS id, range % 7 AS k, CASE WHEN range % 11 <> 0 THEN 'row ' || range % 500 END AS s, "
    "range / 8 AS r, DATE '2024-01-01' + (range % 90)::INT AS d FROM range({begin}, {end})"
)


def same(left, right):
    """Whether two rows are equal; sums of floating point numbers may differ by the order of addition."""
    return len(left) == len(right) and all(
        math.isclose(a, b, rel_tol=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(left, right)
    )


def z85(data):
    """Text for bytes (ZeroMQ's RFC 32), as Delta's names of deletion vectors have it."""
    letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    text = ""
    for (number,) in struct.iter_unpack(">I", data):
        text += "".join(letters[number // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return text


def deletion_vector(positions):
    """Delta's inline deletion vector: a 64-bit roaring bitmap of one array container."""
    container = struct.pack("<IIHHI", 12346, 1, 0, len(positions) - 1, 16)
    container += struct.pack(f"<{len(positions)}H", *positions)
    data = struct.pack("<IQI", 1681511377, 1, 0) + container
    padded = data + bytes(-len(data) % 4)
    return {"storageType": "i", "pathOrInlineDv": z85(padded), "sizeInBytes": len(data), "cardinality": len(positions)}


@unittest.skipIf(duckdb is None, "Python has no module duckdb")
class OtherSourcesTest(ClusterTest):
    extensions = None

    @classmethod
    def setUpClass(cls):
        for name in NEEDED:
            if not os.path.exists(cls.extension(name)):
                raise unittest.SkipTest(f"there is no extension {name} in {cls.extensions}")
        super().setUpClass()
        cls.parquet = f"{cls.folder}/p*.parquet"
        alone = duckdb.connect()
        for file in range(3):
            rows = SELECTED.format(begin=file * 11_000, end=(file + 1) * 11_000)
            alone.execute(f"COPY ({rows}) TO '{cls.folder}/p{file}.parquet' (ROW_GROUP_SIZE 2048)")
        cls.make_sqlite(alone)
        cls.make_delta(alone)
        alone.close()
        cls.make_lake()

    @classmethod
    def extension(cls, name):
        return f"{cls.extensions}/{name}.duckdb_extension"

    @classmethod
    def make_sqlite(cls, alone):
        rows = alone.execute(f"SELECT id, k, s, r, d::VARCHAR, s::BLOB FROM ({SELECTED})".format(begin=0, end=ROWS)).fetchall()
        file = sqlite3.connect(f"{cls.folder}/t.sqlite")
        file.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, s TEXT, r REAL, d DATE, b BLOB)")
        file.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)
        file.execute("CREATE TABLE odd(i BIGINT, d DATE, ts TIMESTAMP, n NUMERIC, v VARCHAR(3), x, b BLOB, f BOOLEAN)")
        odd = [
            (1, "2024-02-29", "2024-02-29 23:59:59", 1.5, "longer than three", "text", b"\x00\xff", 1),
            (2**62, None, None, None, "", None, b"", 0),
            (-(2**63), "1900-01-01", "1970-01-01 00:00:00", -3, "\u00e4\u4e2d\U0001f600", "7", None, None),
        ]
        file.executemany("INSERT INTO odd VALUES (?, ?, ?, ?, ?, ?, ?, ?)", odd * 500)
        file.execute("CREATE VIEW few AS SELECT k, count(*) AS n FROM t GROUP BY k")
        file.commit()
        file.close()

    @classmethod
    def make_delta(cls, alone):
        """Partitioned by k, in two versions: the second replaces the file of k = 2, and gives that of k = 4 a deletion vector."""
        folder = f"{cls.folder}/delta"
        os.makedirs(f"{folder}/_delta_log")
        types = {"id": "long", "k": "long", "s": "string", "r": "double", "d": "date"}
        fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in types.items()]
        first = [
            {
                "protocol": {
                    "minReaderVersion": 3,
                    "minWriterVersion": 7,
                    "readerFeatures": ["deletionVectors"],
                    "writerFeatures": ["deletionVectors"],
                }
            },
            {
                "metaData": {
                    "id": "0d3c7f6e-0000-4000-8000-000000000001",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": json.dumps({"type": "struct", "fields": fields}),
                    "partitionColumns": ["k"],
                    "configuration": {"delta.enableDeletionVectors": "true"},
                    "createdTime": 1,
                }
            },
        ]
        adds = [{"add": cls.delta_file(alone, folder, k, f"k = {k}")} for k in range(7)]
        rewritten = cls.delta_file(alone, folder, 2, "k = 2 AND id % 3 <> 0", "again")
        vector = {"deletionVector": deletion_vector([0, 1, 5, 700, 1999, 4000])}
        second = [{"remove": {"path": adds[k]["add"]["path"], "deletionTimestamp": 2, "dataChange": True}} for k in (2, 4)]
        second += [{"add": rewritten}, {"add": {**adds[4]["add"], **vector}}]
        first += adds
        for version, actions in enumerate((first, second)):
            with open(f"{folder}/_delta_log/{version:020}.json", "w", encoding="utf-8") as log:
                log.writelines(json.dumps(action) + "\n" for action in actions)

    @classmethod
    def delta_file(cls, alone, folder, k, condition, name="part"):
        path = f"k={k}/{name}.parquet"
        os.makedirs(f"{folder}/k={k}", exist_ok=True)
        rows = f"SELECT id, s, r, d FROM ({SELECTED}) WHERE {condition}".format(begin=0, end=ROWS)
        alone.execute(f"COPY ({rows}) TO '{folder}/{path}' (ROW_GROUP_SIZE 2048)")
        return {
            "path": path,
            "partitionValues": {"k": str(k)},
            "size": os.path.getsize(f"{folder}/{path}"),
            "modificationTime": 1,
            "dataChange": True,
        }

    @classmethod
    def make_lake(cls):
        """DuckLake's table t: many small files, a column that came later, rows deleted and changed; p by folders, inlined, versions."""
        session = cls.session()
        session.execute("SET skein_mode='off'")
        rows = SELECTED.format(begin=0, end=12_000)
        session.execute(f"CREATE TABLE lake.t AS SELECT id, k, s, d FROM ({rows})")
        session.execute("ALTER TABLE lake.t ADD COLUMN r DOUBLE DEFAULT 4.25")
        rows = SELECTED.format(begin=12_000, end=ROWS)
        session.execute(f"INSERT INTO lake.t SELECT id, k, s, d, r FROM ({rows})")
        session.execute("DELETE FROM lake.t WHERE id % 10 = 3")
        session.execute("UPDATE lake.t SET s = 'changed', k = 3 WHERE id % 100 = 1")
        session.execute("ALTER TABLE lake.t RENAME COLUMN d TO day")
        session.execute("ALTER TABLE lake.t RENAME COLUMN day TO d")
        session.execute(f"CREATE TABLE lake.parts AS FROM ({rows}) LIMIT 0")
        session.execute("ALTER TABLE lake.parts SET PARTITIONED BY (k)")
        session.execute(f"INSERT INTO lake.parts FROM ({rows})")
        session.execute("CREATE TABLE lake.inlined(id BIGINT, k BIGINT, s VARCHAR, r DOUBLE, d DATE)")
        session.execute("INSERT INTO lake.inlined VALUES (1, 1, 'a', 1.5, '2024-01-01'), (2, NULL, NULL, NULL, NULL)")
        session.execute("INSERT INTO lake.inlined FROM lake.parts LIMIT 2000")
        session.execute("INSERT INTO lake.inlined VALUES (8, 5, 'b', 0, '2024-03-01')")
        session.execute("DELETE FROM lake.inlined WHERE id = 1")
        session.execute("CREATE TABLE lake.empty AS FROM lake.parts LIMIT 0")
        session.close()

    @classmethod
    def session(cls):
        """A DuckDB client of its own with all extensions, the tables of all systems, and the view `everything` of them."""
        session = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "2"})
        for name in NEEDED:
            session.execute(f"LOAD '{cls.extension(name)}'")
        session.execute(f"LOAD '{Programs.extension}'")
        session.execute(f"ATTACH '{cls.folder}/t.sqlite' AS sq (TYPE sqlite)")
        session.execute(
            f"ATTACH 'ducklake:{cls.folder}/lake.ducklake' AS lake (DATA_PATH '{cls.folder}/lake', DATA_INLINING_ROW_LIMIT 10)"
        )
        session.execute(f"CREATE VIEW delta_t AS FROM delta_scan('{cls.folder}/delta')")
        return session

    def setUp(self):
        self.processes = self.workers(max(WORKERS))
        self.client = self.session()
        self.addCleanup(self.client.close)

    def clusters(self, counts=WORKERS):
        """The statements that set each of the clusters."""
        for count in counts:
            yield f"SET skein_cluster=''; SET skein_workers={count}"
            yield f"SET skein_cluster='{','.join(worker.address for worker in self.processes[:count])}'"

    def rows(self, sql):
        return sorted(self.client.execute(sql).fetchall(), key=repr)

    def check(self, queries, counts=WORKERS):
        """Compares every query on every cluster with the session alone; returns why each was not distributed wholly, or None."""
        self.client.execute("SET skein_mode='off'")
        expected = {sql: self.rows(sql) for sql in queries}
        self.client.execute("SET skein_mode='force'")
        reasons = {}
        for cluster in self.clusters(counts):
            self.client.execute(cluster)
            for sql in queries:
                self.assert_same(self.rows(sql), expected[sql], f"{cluster}: {sql}")
                distributed, reason = self.client.execute("SELECT distributed, reason FROM skein_last_query()").fetchone()
                self.assertTrue(distributed or reason, sql)
                reasons[sql] = reason
        return reasons

    def assert_same(self, found, expected, what):
        self.assertEqual(len(found), len(expected), what)
        different = [pair for pair in zip(found, expected) if not same(*pair)]
        self.assertEqual(different[:3], [], what)

    def queries(self, table):
        return [sql.format(t=table, p=self.parquet) for sql in QUERIES]

    def test_sqlite_tables(self):
        self.check(self.queries("sq.t"))
        self.check(
            (
                "FROM sq.few",
                "SELECT count(b), sum(octet_length(b)) FROM sq.t",
                "SELECT i, d, ts, n, v, x, b, f FROM sq.odd ORDER BY ALL",
                "SELECT d, x, count(*), min(b), max(v) FROM sq.odd GROUP BY ALL",
                "SELECT count(*) FROM sq.odd o JOIN sq.t t ON o.d = t.d",
                "SELECT rowid, id FROM sq.t WHERE rowid % 5000 = 1",
                f"SELECT name, value FROM sqlite_scan('{self.folder}/t.sqlite', 't') CROSS JOIN "
                "(SELECT 'x' AS name, 1 AS value) WHERE id < 5",
            ),
            [3],
        )

    def test_ducklake_tables(self):
        self.check(self.queries("lake.t"))
        self.check(self.queries("lake.parts"), [3])

    def test_ducklake_versions_and_inlined_rows(self):
        versions = [version for (version,) in self.client.execute("SELECT snapshot_id FROM lake.snapshots()").fetchall()]
        self.assertGreater(len(versions), 10)
        (after_delete,) = self.client.execute(
            "SELECT min(snapshot_id) FROM lake.snapshots() WHERE list_contains(map_keys(changes), 'tables_deleted_from')"
        ).fetchone()
        self.check(
            (
                f"SELECT count(*), sum(id), max(s) FROM lake.t AT (VERSION => {after_delete - 1})",
                f"SELECT count(*), sum(id), max(s) FROM lake.t AT (VERSION => {after_delete})",
                f"SELECT id FROM lake.t AT (VERSION => {after_delete - 1}) EXCEPT SELECT id FROM lake.t",
                "SELECT id, rowid, snapshot_id FROM lake.t WHERE id % 97 = 1",
                "SELECT file_row_number, count(DISTINCT filename) FROM lake.t GROUP BY ALL ORDER BY 1 LIMIT 10",
                f"SELECT change_type, count(*), sum(id) FROM lake.table_changes('t', {after_delete - 1}, {after_delete + 1}) "
                "GROUP BY ALL",
                *self.queries("lake.inlined"),
                *self.queries("lake.empty"),
            ),
            [1, 3],
        )

    def test_delta_tables(self):
        self.client.execute("SET skein_mode='off'")
        deleted = self.rows(f"SELECT k, count(*) FROM ({SELECTED}) WHERE id NOT IN (SELECT id FROM delta_t) GROUP BY k".format(begin=0, end=ROWS))
        self.assertEqual(deleted, [(2, 1429), (4, 6)])
        self.check(self.queries("delta_t"))

    def test_tables_of_several_systems(self):
        self.client.execute(
            "CREATE VIEW everything AS "
            "SELECT id, k, s, 'sqlite' AS source FROM sq.t UNION ALL SELECT id, k, s, 'lake' FROM lake.t "
            "UNION ALL SELECT id, k, s, 'delta' FROM delta_t "
            f"UNION ALL SELECT id, k, s, 'parquet' FROM '{self.parquet}' UNION ALL FROM (SELECT id, k, s, 'parts' FROM lake.parts)"
        )
        self.check([sql.format(p=self.parquet) for sql in TOGETHER])

    #: Statements of one transaction; those with a SELECT in front answer.
    WRITES = (
        "CREATE TABLE {db}.w AS SELECT id, k, s FROM '{p}' WHERE id % 3 = 0",
        "SELECT k, count(*), sum(id), min(s) FROM {db}.w GROUP BY k",
        "INSERT INTO {db}.w SELECT max(id) + 100000, k, min(s) FROM '{p}' GROUP BY k",
        "INSERT INTO {db}.w SELECT w.id + 200000, p.k, p.s FROM {db}.w w JOIN '{p}' p ON w.id = p.id + 3",
        "SELECT id, k, s FROM {db}.w ORDER BY id DESC LIMIT 100",
        "SELECT count(*), sum(w.id) FROM {db}.w w JOIN '{p}' p USING (k, s)",
        "DELETE FROM {db}.w WHERE id IN (SELECT id FROM '{p}' WHERE k = 3)",
        "SELECT k, count(*) FROM {db}.w GROUP BY k",
        "UPDATE {db}.w SET s = 'changed' WHERE id % 100 = (SELECT min(k) FROM '{p}')",
        "SELECT s, count(*), sum(id) FROM {db}.w GROUP BY s ORDER BY 2 DESC, 1 LIMIT 20",
        "SELECT p.id FROM '{p}' p WHERE NOT EXISTS (FROM {db}.w WHERE w.id = p.id)",
        "INSERT INTO {db}.t SELECT id + 1000000, k, s, r, d {more} FROM '{p}' WHERE id % 50 = 0",
        "SELECT count(*), sum(id), max(s) FROM {db}.t",
        "SELECT count(*) FROM {db}.t t JOIN '{p}' p ON t.id = p.id + 1000000",
    )

    def written(self, database):
        """What a transaction sees of what it writes; it is rolled back, and then nothing of it is left."""
        columns = {"more": ", NULL"} if database == "sq" else {"more": ""}
        answers = []
        self.client.execute("BEGIN")
        for statement in self.WRITES:
            sql = statement.format(db=database, p=self.parquet, **columns)
            if database == "lake" and sql.startswith("INSERT INTO lake.t "):
                sql = sql.replace("INTO lake.t", "INTO lake.t BY NAME").replace("id + 1000000", "id + 1000000 AS id")
            answers.append((sql, self.rows(sql)))
        self.client.execute("ROLLBACK")
        answers.append(("rolled back", self.rows(f"SELECT count(*), sum(id), max(s) FROM {database}.t")))
        tables = self.rows(f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{database}'")
        self.assertNotIn(("w",), tables)
        return answers

    def check_writes(self, database):
        self.client.execute("SET skein_mode='off'")
        expected = self.written(database)
        self.assertTrue(all(len(rows) > 0 for _, rows in expected))
        self.client.execute("SET skein_mode='force'")
        for cluster in self.clusters([1, 3]):
            self.client.execute(cluster)
            for (sql, found), (_, alone) in zip(self.written(database), expected):
                self.assert_same(found, alone, f"{cluster}: {sql}")

    def test_a_transaction_reads_what_it_wrote_to_ducklake(self):
        self.check_writes("lake")

    def test_a_transaction_reads_what_it_wrote_to_sqlite(self):
        self.check_writes("sq")

    def test_what_was_committed_is_read_by_the_next_query(self):
        self.client.execute("SET skein_mode='force'")
        for number, cluster in enumerate(self.clusters()):
            self.client.execute(cluster)
            self.client.execute(f"CREATE TABLE lake.made{number} AS SELECT k, sum(id) AS n FROM '{self.parquet}' GROUP BY k")
            self.assertIsNone(self.client.execute("SELECT reason FROM skein_last_query()").fetchone()[0])
            found = self.rows(f"SELECT m.k, m.n, count(*) FROM lake.made{number} m JOIN '{self.parquet}' p USING (k) GROUP BY ALL")
            self.client.execute("SET skein_mode='off'")
            expected = self.rows(f"SELECT k, sum(id), count(*) FROM '{self.parquet}' GROUP BY k")
            self.client.execute("SET skein_mode='force'")
            self.assertEqual(found, expected)

    def test_functions_and_types_that_workers_do_not_have(self):
        address = "('10.0.' || k || '.1')::INET"
        text = f"{address}::VARCHAR"
        reasons = self.check(
            (
                f"SELECT host({address}), count(*) FROM '{self.parquet}' GROUP BY ALL",
                f"SELECT {address} AS a, count(*) FROM '{self.parquet}' GROUP BY a ORDER BY a LIMIT 5",
                f"SELECT {text} AS a, count(*) FROM '{self.parquet}' GROUP BY a",
                f"SELECT TRY_CAST(s AS INET) AS a, count(*) FROM '{self.parquet}' GROUP BY a",
                f"SELECT id, [{address}]::VARCHAR[] FROM '{self.parquet}' WHERE {{'a': {address}}}::VARCHAR LIKE '%10.0.3.1%'",
                f"SELECT min(id) FROM '{self.parquet}' WHERE {address} <<= '10.0.2.0/23'::INET",
                f"SELECT p.k, count(*) FROM '{self.parquet}' p JOIN (SELECT '10.0.3.1'::INET AS a) q ON {address} = q.a GROUP BY ALL",
                f"SELECT html_escape('<' || s || '>') AS h, count(*) FROM '{self.parquet}' GROUP BY h",
                f"SELECT id, max(family({address})) OVER (PARTITION BY k) FROM '{self.parquet}' WHERE id < 500",
            )
        )
        for sql, reason in reasons.items():
            self.assertRegex(reason or "", "is a (function|type) that only this session has", sql)

    def test_queries_of_files_are_distributed_as_without_the_extensions(self):
        plain = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "2"})
        self.addCleanup(plain.close)
        plain.execute(f"LOAD '{Programs.extension}'")
        plain.execute(f"LOAD '{self.extension('tpch')}'")
        plain.execute("SET skein_mode='off'")
        plain.execute("CREATE SCHEMA made; USE made; CALL dbgen(sf = 0.01); USE main")
        tables = [name for (name,) in plain.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        for table in tables:
            path = f"{self.folder}/{table}.tpch"
            plain.execute(f"COPY made.{table} TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
        queries = plain.execute("SELECT query FROM tpch_queries()").fetchall()
        self.assertEqual(len(queries), 22)
        plain.execute("DROP SCHEMA made CASCADE")
        for session in (plain, self.client):
            for table in tables:
                session.execute(f"CREATE VIEW {table} AS FROM read_parquet('{self.folder}/{table}.tpch')")
            session.execute(f"SET skein_cluster='{','.join(worker.address for worker in self.processes[:3])}'")
        how = "SELECT distributed, reason, stages, tasks FROM skein_last_query()"
        for (sql,) in queries:
            self.client.execute("SET skein_mode='off'")
            expected = self.rows(sql)
            self.client.execute("SET skein_mode='force'")
            self.assert_same(self.rows(sql), expected, sql)
            found = self.client.execute(how).fetchone()
            plain.execute("SET skein_mode='force'")
            plain.execute(sql).fetchall()
            self.assertEqual(found, plain.execute(how).fetchone(), sql)
            self.assertEqual(found[:2], (True, None), sql)


if __name__ == "__main__":
    OtherSourcesTest.extensions = os.path.abspath(sys.argv.pop(2))
    main()
