#!/usr/bin/env python3
"""The page of a plan, looked at in a browser: what it draws, and that nothing covers anything else.

    page_test.py PROGRAM

Needs Chromium; skipped without.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKEIN = None
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LIMIT = 120

#: Looks at the page when it is drawn, and leaves what it saw in it.
LOOK = """
<script>
(() => {
const box = element => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return { left, right, top, bottom };
};
const all = (selector, what) => [...document.querySelectorAll(selector)].map(what);
const seen = {
  drawn: document.getElementById("page").dataset.drawn,
  sql: document.getElementById("sql").textContent,
  width: document.documentElement.scrollWidth,
  stages: all("#graph a", a => ({
    box: box(a.querySelector("rect")),
    texts: [...a.querySelectorAll("text")].map(text => ({ text: text.textContent, box: box(text) })),
  })),
  edges: all("#graph .edge", edge => ({ width: +edge.getAttribute("stroke-width"), title: edge.textContent })),
  tasks: all("#timeline .task", task => ({
    title: task.querySelector("title").textContent, bars: [...task.querySelectorAll("rect")].map(box),
  })),
  workers: all("#timeline > text:not(.small)", text => ({ text: text.textContent, box: box(text) })),
  operators: all("#operators tr", row => [...row.children].map(cell => cell.textContent)).slice(1),
  sections: all("section h2", heading => heading.textContent),
  open: all("details", details => details.open),
  reason: all("#page > p", p => p.textContent),
};
const result = document.createElement("script");
result.type = "application/json";
result.id = "seen";
result.textContent = JSON.stringify(seen).replace(/</g, "\\\\u003c");
document.body.appendChild(result);
})();
</script>
</body>"""


def overlap(left, right):
    return (
        left["left"] < right["right"]
        and right["left"] < left["right"]
        and left["top"] < right["bottom"]
        and right["top"] < left["bottom"]
    )


def within(inner, outer):
    return (
        outer["left"] <= inner["left"]
        and inner["right"] <= outer["right"]
        and outer["top"] <= inner["top"]
        and inner["bottom"] <= outer["bottom"]
    )


@unittest.skipUnless(BROWSER, "there is no Chromium")
class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = cls._folder.name
        copies = [
            f"COPY (SELECT range AS id, range % 1000 AS k, 'text ' || range AS t FROM range({file * 50000}, {(file + 1) * 50000})) "
            f"TO '{cls.folder}/{file}.parquet' (ROW_GROUP_SIZE 2048)"
            for file in range(4)
        ]
        cls.skein("sql", "--set", "skein_mode=off", "-c", "; ".join(copies))

    @staticmethod
    def skein(*arguments):
        done = subprocess.run([SKEIN, *arguments], capture_output=True, text=True, timeout=LIMIT, check=True)
        return done.stdout

    def look(self, sql, *arguments):
        """What a browser shows of the page of a plan, and the plan."""
        page = self.skein("explain", "--format", "html", *arguments, "-c", sql)
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page.replace("</body>", LOOK))
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"]
        command += [f"--user-data-dir={self.folder}/profile", "--enable-logging=stderr", "--virtual-time-budget=10000"]
        done = subprocess.run(
            [*command, "--dump-dom", f"file://{path}"], capture_output=True, text=True, timeout=LIMIT, check=True
        )
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        data = re.search('<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
        seen = re.search('<script type="application/json" id="seen">(.*?)</script>', done.stdout, re.S).group(1)
        seen = json.loads(seen)
        self.assertEqual((seen["drawn"], seen["sql"].strip()), ("true", sql))
        return seen, json.loads(data)

    def check_graph(self, seen, plan):
        self.assertEqual(len(seen["stages"]), 1 + len(plan["stages"]))
        for i, stage in enumerate(seen["stages"]):
            for other in seen["stages"][:i]:
                self.assertFalse(overlap(stage["box"], other["box"]), (stage, other))
            for text in stage["texts"]:
                self.assertTrue(within(text["box"], stage["box"]), (text, stage))
        self.assertEqual(len(seen["sections"]), len(seen["stages"]))

    def check_timeline(self, seen, plan):
        reports = [report for stage in plan["stages"] for report in stage["task_reports"]]
        self.assertEqual(len(seen["tasks"]), len(reports))
        self.assertEqual({worker["text"] for worker in seen["workers"]}, {report["worker"] for report in reports})
        bars = [bar for task in seen["tasks"] for bar in task["bars"]]
        rows = sorted({(bar["top"], bar["bottom"]) for bar in bars})
        # A row for each task, high enough to be seen, none over another, none under a worker's name.
        self.assertEqual(len(rows), len(reports))
        for (top, bottom), (below, _) in zip(rows, rows[1:] + [(float("inf"), 0)]):
            self.assertGreaterEqual(bottom - top, 6)
            self.assertLessEqual(bottom, below)
        for worker in seen["workers"]:
            self.assertFalse([bar for bar in bars if overlap(worker["box"], bar)], worker)
        for task in seen["tasks"]:
            self.assertRegex(task["title"], r"\Astage \d+, t\d+: finished, ")

    def check_operators(self, seen, plan):
        numbers = [float(row[6]) for row in seen["operators"]]
        self.assertEqual(numbers, sorted(numbers, reverse=True))
        leaves = [row for row in seen["operators"] if row[1] == "DistributedLeaf"]
        self.assertEqual([int(row[4]) for row in leaves], [200_000])

    def test_few_tasks(self):
        sql = f"SELECT k, count(*) AS n FROM '{self.folder}/*.parquet' GROUP BY k ORDER BY n, k"
        seen, plan = self.look(sql, "--analyze", "--workers", "3")
        self.check_graph(seen, plan)
        self.check_timeline(seen, plan)
        self.check_operators(seen, plan)
        sent = {stage["stage"]: stage["outputs"][0] for stage in plan["stages"]}
        self.assertEqual(len(seen["edges"]), len(sent))
        widths = sorted(edge["width"] for edge in seen["edges"])
        self.assertEqual(widths[-1], 14)
        self.assertLess(widths[0], 14)
        widest = max(seen["edges"], key=lambda edge: edge["width"])
        self.assertIn(f"{max(output['rows'] for output in sent.values())} rows", widest["title"])
        self.assertNotIn(False, seen["open"])

    def test_one_task(self):
        seen, plan = self.look(f"SELECT sum(id) AS n FROM '{self.folder}/0.parquet'", "--analyze", "--workers", "1")
        self.assertEqual(sum(stage["tasks"] for stage in plan["stages"]), 1)
        self.check_graph(seen, plan)
        self.check_timeline(seen, plan)
        self.assertIn("1 stages, 1 tasks, 1 workers", seen["reason"])

    def test_two_hundred_tasks(self):
        sql = f"SELECT k, count(DISTINCT t) AS n FROM '{self.folder}/*.parquet' GROUP BY k ORDER BY n, k"
        seen, plan = self.look(sql, "--analyze", "--workers", "100", "--set", "skein_bytes_per_task=1")
        self.assertGreaterEqual(sum(stage["tasks"] for stage in plan["stages"]), 200)
        self.check_graph(seen, plan)
        self.check_timeline(seen, plan)
        # Long lists are folded, and the page is no wider than the window.
        self.assertIn(False, seen["open"])
        self.assertLessEqual(seen["width"], 1400)

    def test_names_of_files_are_whole_in_the_table(self):
        name = "odd [1] name].csv"
        self.skein("sql", "--set", "skein_mode=off", "-c", f"COPY (FROM range(9) t(a)) TO '{self.folder}/{name}'")
        seen, _ = self.look(f"SELECT a FROM '{self.folder}/odd*.csv'", "--analyze", "--workers", "2")
        leaves = [row[2] for row in seen["operators"] if row[1] == "DistributedLeaf"]
        self.assertEqual(leaves, [f"READ_CSV files=[{os.path.basename(self.folder)}/{name}, ...]"])

    def test_a_plan_that_has_not_run(self):
        seen, plan = self.look(f"SELECT k FROM '{self.folder}/*.parquet' ORDER BY k", "--workers", "2")
        self.check_graph(seen, plan)
        self.assertEqual((seen["tasks"], seen["operators"]), ([], []))

    def test_a_query_that_is_not_distributed(self):
        seen, _ = self.look("SELECT '</script><b>' AS a", "--analyze", "--set", "skein_mode=off")
        self.assertEqual((seen["stages"], seen["tasks"]), ([], []))


if __name__ == "__main__":
    SKEIN = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
