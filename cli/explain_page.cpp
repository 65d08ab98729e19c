#include "explain_page.hpp"

#include "json_text.hpp"

namespace skein::cli {
namespace {

constexpr const char *HEAD = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Skein plan</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #222; background: #fff; }
pre { background: #f4f4f4; padding: 1em; overflow-x: auto; }
section { border: 1px solid #999; border-radius: 6px; margin: 1em 0; padding: 0.5em 1em; }
h2 { font-size: 1.1em; margin: 0.2em 0; }
ul { list-style: none; padding-left: 1.5em; margin: 0; }
.numbers { color: #06507a; }
.details, .reads { color: #666; }
.bar { display: inline-block; height: 0.7em; background: #e0812b; margin-left: 0.5em; }
table { border-collapse: collapse; margin: 0.5em 0; }
td, th { border: 1px solid #ccc; padding: 0.1em 0.6em; text-align: right; }
</style>
</head>
<body>
<h1>Plan</h1>
<pre id="sql"></pre>
<div id="plan"></div>
<script type="application/json" id="data">)";

constexpr const char *MIDDLE = R"(</script>
<script type="application/json" id="query">)";

constexpr const char *TAIL = R"(</script>
<script>
"use strict";
const plan = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("plan");
document.getElementById("sql").textContent = JSON.parse(document.getElementById("query").textContent);

function add(parent, tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  parent.appendChild(element);
  return element;
}
function most(operator) {
  return Math.max(operator.ms || 0, ...operator.children.map(most));
}
function numbers(operator) {
  if (operator.ms === undefined || operator.tasks.length === 0) return "";
  const read = operator.rows_read === undefined ? "" : " of " + operator.rows_read + " read";
  return " " + operator.rows + " rows" + read + ", " + operator.ms.toFixed(1) + " ms";
}
function title(operator) {
  return operator.kind === "input" ? "Stage " + operator.stage + " => " + operator.name : operator.name;
}
function draw(list, operator, longest) {
  const item = add(list, "li");
  add(item, "b", title(operator));
  if (operator.details) add(item, "span", " " + operator.details, "details");
  add(item, "span", numbers(operator), "numbers");
  if (operator.ms > 0 && longest > 0) {
    add(item, "span", undefined, "bar").style.width = (150 * operator.ms / longest).toFixed(0) + "px";
  }
  item.title = (operator.tasks || []).map(t => "t" + t.task + ": " + t.rows + " rows, " + t.ms + " ms").join("\n");
  const below = add(item, "ul");
  for (const variant of operator.variants || []) {
    add(below, "li", variant.reads + ", rows=" + variant.rows + ", bytes=" + variant.bytes, "reads");
  }
  for (const child of operator.children) draw(below, child, longest);
}
function box(heading, operator, longest) {
  const section = add(page, "section");
  add(section, "h2", heading);
  draw(add(section, "ul"), operator, longest);
  return section;
}
function table(section, reports) {
  const columns = ["task", "worker", "state", "rows", "bytes", "link_bytes", "wall_ms", "queue_ms", "bytes_read"];
  const rows = add(section, "table");
  const head = add(rows, "tr");
  for (const column of columns) add(head, "th", column);
  for (const report of reports) {
    const row = add(rows, "tr");
    for (const column of columns) add(row, "td", report[column]);
  }
}
if (plan.distributed) {
  const longest = Math.max(most(plan.plan), ...plan.stages.map(stage => most(stage.plan)));
  box("Head, in the session", plan.plan, longest);
  for (const stage of plan.stages.slice().reverse()) {
    const place = stage.in_session ? "in the session" : stage.tasks + " tasks";
    const section = box("Stage " + stage.stage + ", " + place, stage.plan, longest);
    if (stage.task_reports) table(section, stage.task_reports);
  }
} else {
  if (plan.reason) add(page, "p", "Not distributed: " + plan.reason);
  add(page, "pre", JSON.stringify(plan.head || plan, null, 2));
}
</script>
</body>
</html>
)";

//! JSON that can stand in a script element: no end tag, and nothing that begins a comment, occurs in it.
std::string Embedded(std::string json) {
	for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
		json.replace(at, 1, "\\u003c");
	}
	return json;
}

} // namespace

std::string ExplainPage(const std::string &sql, const std::string &json) {
	return HEAD + Embedded(json) + MIDDLE + Embedded(JsonString(sql)) + TAIL;
}

} // namespace skein::cli
