#!/usr/bin/env python3
"""The rows of operators, of all tasks together, are those that DuckDB alone reports: TPC-H, TPC-DS, unions; 3 processes.

    totals_test.py PROGRAM EXTENSIONS

EXTENSIONS is the folder of DuckDB's extensions tpch and tpcds. Needs Python's module duckdb.

Compared are the operators that are in both plans, as lists of their rows:

| here | in DuckDB's profile | in Skein's plan |
|---|---|---|
| `scan TABLE` | TABLE_SCAN of files, by table if it has rows | DistributedLeaf |
| `join KIND` | any join with a Join Type; of a delim join, the join in it | any operator with a join type |
| `groups` | HASH_GROUP_BY, PERFECT_HASH_GROUP_BY, PARTITIONED_AGGREGATE | AGGREGATE with groups, DISTINCT, INTERSECT, EXCEPT |
| `filter` | FILTER | FILTER; a boundary's `where` |
| `window` | WINDOW, STREAMING_WINDOW | WINDOW |
| `union` | UNION | DistributedUnion, UNION |
| `result` | rows of the answer | rows of the head's root |

Not in both plans, and so not compared:
- the first step of an aggregate in two steps and of a DISTINCT: DuckDB has one step. Ungrouped aggregates have one row.
- boundaries, runtime filters, top-n and limits of tasks: DuckDB has none. What boundaries send is compared with the
  rows of the stage's root and of its sink instead.
- projections: DuckDB merges and drops some when it makes the physical plan.
- semi and anti joins of INTERSECT and EXCEPT: parts of one operator of Skein's plan; its rows are in `groups`. A DISTINCT
  of rows that are distinct already, as above UNION, INTERSECT and EXCEPT, counts once, and so do windows right above
  one another, which are one operator of Skein's plan for each order of rows that DuckDB needs.

What every task computes alike (leaves that all of them read, broadcast rows, constants, and operators of nothing else)
counts once, as the task that got most.

Whoever needs no more rows stops those who make them, sooner or later: DuckDB does not read one side of a join when the
other turns out to be empty, nor more than a LIMIT without an order needs. Operators below such places are left out of
both lists. Where one side is empty for a task alone, the operators in that task's stage may have fewer rows than in
DuckDB, but not more. Filters that joins hand to scans are switched off, since their effect depends on timing.
"""

import collections
import json
import os
import sys
import unittest

from cluster_fixture import ClusterTest, main

try:
    import duckdb
except ImportError:
    duckdb = None

JOIN_KINDS = {
    "INNER": "inner",
    "LEFT": "one side's rows",
    "RIGHT": "one side's rows",
    "OUTER": "full",
    "FULL": "full",
    "SEMI": "semi",
    "RIGHT_SEMI": "semi",
    "ANTI": "anti",
    "RIGHT_ANTI": "anti",
    "MARK": "mark",
    "SINGLE": "single",
}
GROUP_BYS = ("HASH_GROUP_BY", "PERFECT_HASH_GROUP_BY", "PARTITIONED_AGGREGATE")
LIMITS = ("LIMIT", "STREAMING_LIMIT", "LIMIT_PERCENT")
SET_OPERATIONS = ("INTERSECT", "EXCEPT")
CONSTANTS = ("CHUNK_GET", "EXPRESSION_GET", "DUMMY_SCAN", "EMPTY_RESULT")


class Rows:
    """By kind of operator, the rows of all of that kind; and of those that may have fewer, the most."""

    def __init__(self):
        self.exact = collections.defaultdict(collections.Counter)
        self.at_most = collections.defaultdict(list)

    def add(self, kind, rows, exact=True):
        if exact:
            self.exact[kind][rows] += 1
        else:
            self.at_most[kind].append(rows)

    def differences(self, expected):
        """What does not fit `expected`, which has exact rows only."""
        found = []
        for kind in sorted({*self.exact, *self.at_most, *expected.exact}):
            left = collections.Counter(expected.exact[kind])
            left.subtract(self.exact[kind])
            missing = sorted(left.elements())
            unexpected = sorted((-left).elements())
            fewer = sorted(self.at_most[kind])
            fits = len(missing) == len(fewer) and all(rows <= most for rows, most in zip(fewer, missing))
            if unexpected or not fits:
                found.append(f"{kind}: {missing} in DuckDB alone, here {unexpected + fewer}")
        return found

    def count(self):
        return sum(sum(rows.values()) for rows in self.exact.values())


class Alone(Rows):
    """Of a profile of DuckDB's."""

    def __init__(self, root, folder):
        super().__init__()
        self.folder = folder
        self.shared = {}
        self.visit(root)

    def rows(self, op):
        """What leaves it: some operators are not counted, but what stands for them is."""
        children = op["children"]
        if op["operator_type"] == "UNION":
            return sum(map(self.rows, children))
        if op["operator_type"] == "CTE" or op["operator_type"].endswith("DELIM_JOIN"):
            return self.rows(children[1])
        return op["operator_cardinality"]

    def visit(self, op):
        kind, info, children = op["operator_type"], op["extra_info"], op["children"]
        if kind == "CTE":
            self.shared[info["Table Index"]] = children[0]
            self.visit(children[1])
        elif kind == "CTE_SCAN":
            # Its first reader that is compared.
            definition = self.shared.pop(info["CTE Index"], None)
            if definition:
                self.visit(definition)
        elif kind.endswith("DELIM_JOIN"):
            # The side whose rows are made distinct, the join, what makes them distinct.
            join = children[1]
            self.add(f"join {JOIN_KINDS[join['extra_info']['Join Type']]}", self.rows(op))
            self.visit_sides([children[0], join["children"][1 if kind == "LEFT_DELIM_JOIN" else 0]])
        elif "Join Type" in info:
            if not self.is_set_operation(info):
                self.add(f"join {JOIN_KINDS[info['Join Type']]}", self.rows(op))
            self.visit_sides(children)
        elif kind == "CROSS_PRODUCT":
            self.visit_sides(children)
        elif kind not in LIMITS:
            self.add_operator(op)
            for child in children:
                self.visit(child)

    def visit_sides(self, sides):
        if all(map(self.rows, sides)):
            for side in sides:
                self.visit(side)

    @staticmethod
    def is_set_operation(info):
        conditions = info["Conditions"] if isinstance(info["Conditions"], list) else [info["Conditions"]]
        return ("SEMI" in info["Join Type"] or "ANTI" in info["Join Type"]) and all(
            "IS NOT DISTINCT FROM" in condition for condition in conditions
        )

    @staticmethod
    def is_distinct_of_distinct(op):
        child = op["children"][0]
        while child["operator_type"] == "PROJECTION":
            child = child["children"][0]
        return (
            child["operator_type"] == op["operator_type"]
            and child["operator_cardinality"] == op["operator_cardinality"]
            and not any(group_by["extra_info"].get("Aggregates") for group_by in (op, child))
        )

    def add_operator(self, op):
        kind, info = op["operator_type"], op["extra_info"]
        if kind == "TABLE_SCAN" and "Filename(s)" in info:
            rows = self.rows(op)
            table = info["Filename(s)"].split(self.folder + "/")[1].split("/")[0] if rows else "of nothing"
            self.add(f"scan {table}", rows)
        elif kind in GROUP_BYS and not self.is_distinct_of_distinct(op):
            self.add("groups", self.rows(op))
        elif kind in ("FILTER", "UNION"):
            self.add(kind.lower(), self.rows(op))
        elif kind.endswith("WINDOW") and not op["children"][0]["operator_type"].endswith("WINDOW"):
            self.add("window", self.rows(op))


class Distributed(Rows):
    """Of Skein's plan."""

    def __init__(self, plan):
        super().__init__()
        self.roots = {stage["stage"]: stage["plan"] for stage in plan["stages"]}
        self.unvisited = set(self.roots)
        self.visit(plan["plan"], None, True)

    def is_everywhere(self, op):
        """Whether every task computes the same."""
        if op["kind"] == "leaf":
            return op["replicated"]
        if op["kind"] == "input":
            return op["name"] == "NetworkBroadcast"
        children = op["children"]
        return op["name"] in CONSTANTS or bool(children) and all(map(self.is_everywhere, children))

    def rows(self, op):
        if self.is_everywhere(op):
            return max((task["rows"] for task in op["tasks"]), default=0)
        return op["rows"]

    def is_first_step(self, op, above):
        """Whether `above`, which reads the stage whose root is `op`, is the second step of it."""
        if above is None:
            return False
        if op["name"] == "DISTINCT":
            return above["name"] in ("DISTINCT", *SET_OPERATIONS)
        # Long details are cut short.
        text = op["details"]
        names_no_step = text.endswith("], []") or (text.endswith("...") and "], [" not in text)
        return above["name"] == "AGGREGATE" and names_no_step

    def made_distinct(self, op):
        """What a DISTINCT is over, also if its first step is in another stage."""
        while op["name"] in ("DISTINCT", "PROJECTION") or op["kind"] == "input":
            op = self.roots[op["stage"]] if op["kind"] == "input" else op["children"][0]
        return op

    def visit(self, op, above, exact):
        """`above`: what reads the rows of the stage, if nothing but projections is between. `exact`: DuckDB has as many."""
        name, details, children = op["name"], op.get("details", ""), op["children"]
        if op["kind"] == "input":
            if "where=[" in details:
                self.add("filter", self.rows(op) if self.is_everywhere(op) else op["sent"]["rows"])
            # Its first reader that is compared.
            if op["stage"] in self.unvisited:
                self.unvisited.remove(op["stage"])
                self.visit(self.roots[op["stage"]], above, True)
        elif "join type=" in details:
            self.add(f"join {JOIN_KINDS[details.split('join type=')[1].split(',')[0]]}", self.rows(op), exact)
            self.visit_sides(op, exact)
        elif name in SET_OPERATIONS:
            self.add("groups", self.rows(op), exact)
            self.visit_sides(op, exact)
        elif name == "CROSS_PRODUCT":
            self.visit_sides(op, exact)
        elif op["kind"] == "runtime_filter":
            self.visit(children[0], above, exact)
        elif name != "LIMIT" or "merge=" in children[0].get("details", ""):
            self.add_operator(op, above, exact)
            for child in children:
                self.visit_child(op, child, above if name == "PROJECTION" else None, exact)

    def visit_child(self, op, child, above, exact):
        self.visit(child, op if child["kind"] == "input" and op["name"] != "PROJECTION" else above, exact)

    def visit_sides(self, op, exact):
        sides = op["children"]
        if not all(map(self.rows, sides)):
            return
        # Not reported means that the task did not come to it.
        with_rows = [{task["task"] for task in side["tasks"] if task["rows"]} for side in sides]
        for side in sides:
            self.visit_child(op, side, None, exact and all(tasks == with_rows[0] for tasks in with_rows))

    def add_operator(self, op, above, exact):
        name, details = op["name"], op.get("details", "")
        if op["kind"] == "leaf":
            # Others, such as of range(), read no files.
            reads = op["variants"][0]["reads"].split("files=[")
            if len(reads) == 2:
                rows = self.rows(op)
                self.add(f"scan {reads[1].split('/')[0] if rows else 'of nothing'}", rows, exact)
        elif name == "AGGREGATE":
            if not details.startswith("groups=[]") and "[partial" not in details and not self.is_first_step(op, above):
                self.add("groups", self.rows(op), exact)
        elif name == "DISTINCT":
            if not self.is_first_step(op, above) and self.made_distinct(op)["name"] not in SET_OPERATIONS:
                self.add("groups", self.rows(op), exact)
        elif name == "FILTER" and details:
            self.add("filter", self.rows(op), exact)
        elif name == "UNION" or op["kind"] == "union":
            self.add("union", self.rows(op), exact)
        elif name == "WINDOW" and op["children"][0]["name"] != "WINDOW":
            self.add("window", self.rows(op), exact)


def operators(op):
    yield op
    for child in op["children"]:
        yield from operators(child)


UNIONS = {
    "more children than tasks, of different depth": """
        SELECT n_name, 1 AS part FROM nation UNION ALL
        SELECT c_name, 2 FROM customer WHERE c_acctbal > 0 UNION ALL
        SELECT o_orderpriority, count(*) FROM orders JOIN lineitem ON o_orderkey = l_orderkey GROUP BY ALL UNION ALL
        SELECT s_name, 4 FROM supplier JOIN nation ON s_nationkey = n_nationkey WHERE n_name < 'K' UNION ALL
        SELECT p_name, 5 FROM part WHERE p_size < 10""",
    "fewer children than tasks": """
        SELECT count(*), sum(k) FROM (SELECT l_orderkey AS k FROM lineitem WHERE l_quantity < 20 UNION ALL
                                      SELECT o_orderkey + 1 FROM orders WHERE o_totalprice < 100000)""",
    "a union in a union": """
        SELECT k % 10 AS g, count(*) FROM (
            (SELECT l_orderkey AS k FROM lineitem UNION ALL (SELECT o_orderkey FROM orders UNION ALL FROM range(10)))
            UNION ALL SELECT p_partkey FROM part WHERE p_size > 25) GROUP BY g""",
    "children that aggregate, make distinct, join and read nothing": """
        SELECT 'a' AS part, count(*) AS n FROM lineitem GROUP BY l_returnflag UNION ALL
        SELECT 'b', o_custkey FROM (SELECT DISTINCT o_custkey FROM orders) UNION ALL
        SELECT 'c', ps_partkey FROM partsupp SEMI JOIN part ON ps_partkey = p_partkey AND p_size = 7 UNION ALL
        SELECT 'd', 0 FROM part WHERE p_size > 1000""",
    "a union under a join": """
        SELECT c_mktsegment, count(*) FROM customer JOIN (
            SELECT o_custkey AS k FROM orders WHERE o_orderstatus = 'F' UNION ALL
            SELECT s_suppkey FROM supplier UNION ALL SELECT n_nationkey FROM nation) ON c_custkey = k GROUP BY ALL""",
    "a window over a union": """
        SELECT max(r) FROM (SELECT row_number() OVER (PARTITION BY k % 7 ORDER BY k, v) AS r FROM (
            SELECT l_orderkey AS k, l_linenumber AS v FROM lineitem WHERE l_shipmode = 'AIR' UNION ALL
            SELECT o_orderkey, 0 FROM orders))""",
}


@unittest.skipUnless(duckdb, "Python has no module duckdb")
class TotalsTest(ClusterTest):
    extensions = None

    def suite(self, name, generate):
        """A connection to three workers, and the queries of a suite over tables in files with many row groups."""
        connection = self.connect(self.workers(3))
        connection.execute(f"LOAD '{self.extensions}/{name}.duckdb_extension'")
        folder = f"{self.folder}/{name}"
        connection.execute("SET skein_mode = 'off'")
        connection.execute("SET threads = 1")
        connection.execute(generate)
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
            files = 4 if rows > 1000 else 1
            os.makedirs(f"{folder}/{table}", exist_ok=True)
            for file in range(files):
                connection.execute(
                    f"COPY (SELECT * FROM {table} WHERE rowid >= {rows * file // files} AND "
                    f"rowid < {rows * (file + 1) // files}) TO '{folder}/{table}/{file}.parquet' (ROW_GROUP_SIZE 2048)"
                )
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"CREATE VIEW {table} AS FROM '{folder}/{table}/*.parquet'")
        connection.execute("SET disabled_optimizers = 'join_filter_pushdown,late_materialization'")
        connection.execute("SET threads = 2")
        queries = connection.execute(f"SELECT query_nr, query FROM {name}_queries() ORDER BY ALL").fetchall()
        return connection, folder, queries

    def explain(self, connection, sql):
        return json.loads(connection.execute(f"EXPLAIN (ANALYZE, FORMAT json) {sql}").fetchall()[0][1])

    def check(self, connection, folder, sql):
        """Runs a query alone and distributed; returns how many operators have been compared."""
        connection.execute("SET skein_mode = 'off'")
        # Below the whole and EXPLAIN ANALYZE itself.
        root = self.explain(connection, sql)["head"]["children"][0]["children"][0]
        expected = Alone(root, folder)
        expected.add("result", expected.rows(root))
        connection.execute("SET skein_mode = 'force'")
        plan = self.explain(connection, sql)
        self.assertTrue(plan["distributed"], plan.get("reason"))
        actual = Distributed(plan)
        actual.add("result", plan["plan"]["rows"])
        self.assertEqual(actual.differences(expected), [])
        self.check_sums(plan)
        self.check_marks(plan, actual)
        return expected.count()

    def check_marks(self, plan, actual):
        """What every task computes alike is marked, since its rows are those of the query many times."""
        for stage in plan["stages"]:
            for op in operators(stage["plan"]) if stage["tasks"] > 1 else ():
                if op["kind"] != "union":
                    self.assertEqual(op.get("replicated", False), actual.is_everywhere(op), op)

    def check_sums(self, plan):
        """Numbers of one plan that must fit one another."""
        for stage in plan["stages"]:
            reports = stage["task_reports"]
            self.assertEqual([report["task"] for report in reports], list(range(stage["tasks"])))
            for kind in ("rows", "bytes", "link_bytes"):
                sent = sum(output[kind] for output in stage["outputs"])
                self.assertEqual(sent, sum(report[kind] for report in reports))
            self.assertLessEqual(stage["sink"]["rows"], stage["plan"]["rows"])
            for op in operators(stage["plan"]):
                self.assertEqual(op["rows"], sum(task["rows"] for task in op["tasks"]))
                self.assertAlmostEqual(op["ms"], sum(task["ms"] for task in op["tasks"]), places=2)
                if op["kind"] == "leaf":
                    self.check_leaf(op)

    def check_leaf(self, leaf):
        if "files=[" not in leaf["variants"][0]["reads"]:
            return
        dealt = sum(variant["rows"] for variant in leaf["variants"])
        for task in leaf["tasks"]:
            self.assertLessEqual(task["rows"], task.get("rows_read", 0))
        if not leaf["replicated"]:
            self.assertLessEqual(leaf.get("rows_read", 0), dealt)

    def check_all(self, connection, folder, queries, least):
        compared = 0
        for name, sql in queries:
            with self.subTest(query=name):
                compared += self.check(connection, folder, sql)
        self.assertGreater(compared, least)

    def test_tpch(self):
        connection, folder, queries = self.suite("tpch", "CALL dbgen(sf = 0.05)")
        self.assertEqual(len(queries), 22)
        self.check_all(connection, folder, queries, 200)
        self.check_all(connection, folder, UNIONS.items(), 30)

    def test_tpcds(self):
        connection, folder, queries = self.suite("tpcds", "CALL dsdgen(sf = 0.01)")
        self.assertEqual(len(queries), 99)
        self.check_all(connection, folder, queries, 1200)


if __name__ == "__main__":
    TotalsTest.extensions = os.path.abspath(sys.argv.pop(2))
    main()
