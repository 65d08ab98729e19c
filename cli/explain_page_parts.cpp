#include "explain_page_parts.hpp"

namespace skein::cli {

const char *const EXPLAIN_PAGE_STYLE = R"(
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #222; background: #fff; }
pre { background: #f4f4f4; padding: 1em; overflow-x: auto; }
section { border: 1px solid #999; border-radius: 6px; margin: 1em 0; padding: 0.5em 1em; }
h2 { font-size: 1.1em; margin: 1.2em 0 0.3em; }
section h2 { margin: 0.2em 0; }
ul { list-style: none; padding-left: 1.5em; margin: 0; }
.numbers { color: #06507a; }
.details, .reads { color: #666; }
.bar { display: inline-block; height: 0.7em; background: #e0812b; margin-left: 0.5em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5em 0; }
td, th { border: 1px solid #ccc; padding: 0.1em 0.6em; text-align: right; white-space: nowrap; }
td.text { text-align: left; white-space: normal; min-width: 8em; }
svg { display: block; }
svg text { font: 12px system-ui, sans-serif; fill: #222; }
svg .small { font-size: 11px; fill: #555; }
svg .label { paint-order: stroke; stroke: #fff; stroke-width: 4px; }
svg .stage { fill: #eef4f8; stroke: #06507a; }
svg .edge { fill: none; stroke: #7aa5c2; stroke-linecap: round; }
svg .waiting { fill: #ddd; }
svg .running { fill: #7aa5c2; stroke: #fff; stroke-width: 0.5; }
svg .slowest { fill: #e0812b; }
svg .failed { fill: #c0392b; }
svg .cancelled { fill: #b9b0a5; }
svg .grid { stroke: #e4e4e4; }
)";

const char *const EXPLAIN_PAGE_SCRIPT = R"(
"use strict";
const plan = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
document.getElementById("sql").textContent = JSON.parse(document.getElementById("query").textContent);

function add(parent, tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  parent.appendChild(element);
  return element;
}
function escaped(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
function bytes(count) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit + 1 < units.length) { count /= 1024; unit++; }
  return (unit === 0 ? count : count.toFixed(1)) + " " + units[unit];
}
function time(ms) {
  return ms >= 1000 ? (ms / 1000).toFixed(2) + " s" : ms.toFixed(1) + " ms";
}
function sum(list, key) {
  return list.reduce((total, entry) => total + (entry[key] || 0), 0);
}
function inputs(operator) {
  const own = operator.kind === "input" ? [operator] : [];
  return own.concat(...operator.children.map(inputs));
}
function most(operator) {
  return Math.max(operator.ms || 0, ...operator.children.map(most));
}
function title(operator) {
  return operator.kind === "input" ? "Stage " + operator.stage + " => " + operator.name : operator.name;
}
function numbers(operator) {
  if (operator.ms === undefined || operator.tasks.length === 0) return "";
  const read = operator.rows_read === undefined ? "" : " of " + operator.rows_read + " read";
  const alike = operator.replicated && operator.tasks.length > 1 ? ", the same in each of " + operator.tasks.length + " tasks" : "";
  return " " + operator.rows + " rows" + read + ", " + operator.ms.toFixed(1) + " ms" + alike;
}

// Boxes in rows: the head above, every stage below all that read it.
function graph() {
  const boxes = [{ id: 0, root: plan.plan, lines: ["Head, in the session"], depth: 0 }];
  for (const stage of plan.stages) {
    const lines = ["Stage " + stage.stage + ", " + (stage.in_session ? "in the session" : stage.tasks + " tasks")];
    if (stage.median_ms !== undefined) {
      lines.push("slowest t" + stage.slowest_task + " " + time(stage.slowest_ms) + ", median " + time(stage.median_ms));
    }
    boxes.push({ id: stage.stage, root: stage.plan, lines: lines, depth: 0 });
  }
  const byId = new Map(boxes.map(box => [box.id, box]));
  const edges = [];
  // Producers have smaller numbers than their readers, except the head.
  for (const box of [boxes[0]].concat(boxes.slice(1).reverse())) {
    for (const input of inputs(box.root)) {
      const below = byId.get(input.stage);
      below.depth = Math.max(below.depth, box.depth + 1);
      edges.push({ from: below, to: box, input: input });
    }
  }
  const width = 230, height = 46, gapX = 30, gapY = 74, rows = [];
  for (const box of boxes) (rows[box.depth] = rows[box.depth] || []).push(box);
  const longest = Math.max(...rows.map(row => row.length));
  const totalWidth = longest * (width + gapX) + gapX;
  rows.forEach((row, y) => row.forEach((box, x) => {
    const offset = (totalWidth - row.length * (width + gapX) + gapX) / 2;
    box.x = offset + x * (width + gapX);
    box.y = 10 + y * (height + gapY);
  }));
  const largest = Math.max(1, ...edges.map(edge => edge.input.sent ? edge.input.sent.bytes : 0));
  let svg = "";
  for (const edge of edges) {
    const sent = edge.input.sent;
    const line = sent ? 1 + 13 * Math.sqrt(sent.bytes / largest) : 2;
    const readers = edges.filter(other => other.to === edge.to);
    const x2 = edge.to.x + width * (readers.indexOf(edge) + 1) / (readers.length + 1);
    const x1 = edge.from.x + width / 2, y1 = edge.from.y, y2 = edge.to.y + height, middle = (y1 + y2) / 2;
    const text = edge.input.name + (sent ? ": " + sent.rows + " rows, " + bytes(sent.bytes) : "");
    svg += `<path class="edge" stroke-width="${line.toFixed(1)}" d="M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}"><title>${escaped(text)}</title></path>`;
    edge.label = `<text class="small label" text-anchor="middle" x="${x1}" y="${y1 - 8}">${escaped(text)}</text>`;
  }
  const labelled = new Set();
  for (const edge of edges) {
    // That of the widest of those that leave a box; the others say it when pointed at.
    const same = edges.filter(other => other.from === edge.from);
    const size = other => other.input.sent ? other.input.sent.bytes : 0;
    if (!labelled.has(edge.from)) svg += same.reduce((a, b) => (size(b) > size(a) ? b : a)).label;
    labelled.add(edge.from);
  }
  for (const box of boxes) {
    svg += `<a href="#stage${box.id}"><rect class="stage" rx="5" x="${box.x}" y="${box.y}" width="${width}" height="${height}"/>`;
    box.lines.forEach((line, i) => {
      svg += `<text ${i ? 'class="small" ' : ""}text-anchor="middle" x="${box.x + width / 2}" y="${box.y + (box.lines.length > 1 ? 19 : 27) + 17 * i}">${escaped(line)}</text>`;
    });
    svg += "</a>";
  }
  add(page, "h2", "Stages");
  const place = add(page, "div", undefined, "scroll");
  place.innerHTML = `<svg id="graph" width="${totalWidth}" height="${rows.length * (height + gapY) - gapY + 24}">${svg}</svg>`;
}

// A lane for each worker, in it a row for each task that runs at the same time as others.
function timeline() {
  const workers = new Map();
  for (const stage of plan.stages) {
    for (const report of stage.task_reports || []) {
      if (!report.worker) continue;
      if (!workers.has(report.worker)) workers.set(report.worker, []);
      const isSlowest = stage.tasks > 1 && report.task === stage.slowest_task;
      workers.get(report.worker).push({ stage: stage.stage, isSlowest: isSlowest, ...report });
    }
  }
  if (workers.size === 0) return;
  const all = [].concat(...workers.values());
  const end = Math.max(0.001, ...all.map(task => task.started_ms + task.wall_ms));
  const left = 190, width = 900, step = all.length > 60 ? 9 : 17;
  let y = 24, svg = "";
  for (const [worker, tasks] of [...workers].sort((a, b) => a[0].localeCompare(b[0], "en", { numeric: true }))) {
    tasks.sort((a, b) => a.stage - b.stage || a.task - b.task);
    svg += `<text x="4" y="${y + 12}">${escaped(worker)}</text>`;
    for (const task of tasks) {
      const x = left + width * task.started_ms / end, scale = width / end;
      const name = "stage " + task.stage + ", t" + task.task;
      const text = `${name}: ${task.state}, ${time(task.wall_ms)}, of which ${time(task.queue_ms)} waiting, sent ${task.rows} rows, ${bytes(task.bytes)}`;
      const kind = task.state === "finished" ? (task.isSlowest ? "running slowest" : "running") : "running " + task.state;
      const waiting = task.queue_ms * scale, running = Math.max(1, (task.wall_ms - task.queue_ms) * scale);
      svg += `<g class="task"><title>${escaped(text)}</title><rect class="waiting" x="${x.toFixed(1)}" y="${y}" width="${waiting.toFixed(1)}" height="${step - 2}"/>` +
             `<rect class="${kind}" x="${(x + waiting).toFixed(1)}" y="${y}" width="${running.toFixed(1)}" height="${step - 2}"/>`;
      if (step > 12) svg += `<text class="small" x="${Math.min(x + waiting + 4, left + width - 80).toFixed(1)}" y="${y + 12}">${escaped(name)}</text>`;
      svg += "</g>";
      y += step;
    }
    y += 8;
  }
  let grid = "";
  for (let i = 0; i <= 5; i++) {
    const x = left + width * i / 5;
    grid += `<line class="grid" x1="${x}" x2="${x}" y1="18" y2="${y}"/><text class="small" text-anchor="middle" x="${x}" y="12">${time(end * i / 5)}</text>`;
  }
  add(page, "h2", "Tasks by worker");
  add(page, "p", "Grey: waiting for its start. Orange: the slowest of its stage. Times are since the start of the query, as the session saw them.", "details");
  const place = add(page, "div", undefined, "scroll");
  place.innerHTML = `<svg id="timeline" width="${left + width + 40}" height="${y + 4}">${grid}${svg}</svg>`;
}

function operators() {
  const rows = [];
  const collect = (stage, operator) => {
    if (operator.ms !== undefined && operator.tasks.length > 0) rows.push({ stage: stage, operator: operator });
    operator.children.forEach(child => collect(stage, child));
  };
  collect("head", plan.plan);
  plan.stages.forEach(stage => collect(stage.stage, stage.plan));
  if (rows.length === 0) return;
  rows.sort((a, b) => b.operator.ms - a.operator.ms);
  const longest = Math.max(0.001, rows[0].operator.ms);
  add(page, "h2", "Operators, the slowest first");
  const table = add(add(page, "div", undefined, "scroll"), "table");
  table.id = "operators";
  const head = add(table, "tr");
  for (const column of ["stage", "operator", "details", "tasks", "rows", "rows read", "ms", "slowest task", ""]) add(head, "th", column);
  for (const { stage, operator } of rows) {
    const slowest = operator.tasks.reduce((a, b) => (b.ms > a.ms ? b : a));
    const row = add(table, "tr");
    add(row, "td", stage);
    add(row, "td", title(operator), "text");
    const reads = operator.kind === "leaf" && operator.variants.length > 0 ? operator.variants[0].reads : "";
    add(row, "td", operator.details || firstFile(reads), "text details");
    for (const value of [operator.tasks.length, operator.rows, operator.rows_read ?? "", operator.ms.toFixed(1),
                         operator.tasks.length > 1 ? "t" + slowest.task + " " + slowest.ms.toFixed(1) : ""]) add(row, "td", value);
    add(add(row, "td", undefined, "text"), "span", undefined, "bar").style.width = (120 * operator.ms / longest).toFixed(0) + "px";
  }
}

// Of the files that a task reads, the first, without what it reads of it. A name may have blanks and brackets.
function firstFile(reads) {
  return reads.replace(/(files=\[.*?)(?: row_groups=[\d.,]+| bytes=\d+\.\.\d+)?(?:, .*)?\]$/, "$1, ...]");
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
  const variants = operator.variants || [];
  const shown = operator.replicated ? variants.slice(0, 1) : variants;
  const place = shown.length > 8 ? folded(below, "li", shown.length + " tasks read") : below;
  shown.forEach((variant, i) => {
    const name = operator.replicated ? "every task: " : "t" + i + ": ";
    add(place, "li", name + variant.reads + (variant.rows === undefined ? "" : " rows=" + variant.rows) + " bytes=" + variant.bytes, "reads");
  });
  for (const child of operator.children) draw(below, child, longest);
}
function folded(parent, tag, text) {
  const details = add(add(parent, tag), "details");
  add(details, "summary", text);
  return add(details, "div");
}
function box(id, heading, operator, longest) {
  const section = add(page, "section");
  section.id = "stage" + id;
  add(section, "h2", heading);
  draw(add(section, "ul"), operator, longest);
  return section;
}
function table(section, reports) {
  const columns = ["task", "worker", "state", "rows", "bytes", "link_bytes", "started_ms", "wall_ms", "queue_ms", "bytes_read", "peak_memory_bytes", "peak_temp_bytes"];
  const place = reports.length > 8 ? folded(section, "div", reports.length + " tasks") : section;
  const rows = add(place, "table");
  const head = add(rows, "tr");
  for (const column of columns) add(head, "th", column.replaceAll("_", " "));
  for (const report of reports) {
    const row = add(rows, "tr");
    for (const column of columns) add(row, "td", report[column] ?? "");
  }
}
if (plan.distributed) {
  const tasks = sum(plan.stages, "tasks");
  add(page, "p", plan.stages.length + " stages, " + tasks + " tasks, " + plan.workers + " workers");
  graph();
  timeline();
  operators();
  const longest = Math.max(most(plan.plan), ...plan.stages.map(stage => most(stage.plan)));
  box(0, "Head, in the session", plan.plan, longest);
  for (const stage of plan.stages.slice().reverse()) {
    const place = stage.in_session ? "in the session" : stage.tasks + " tasks";
    const section = box(stage.stage, "Stage " + stage.stage + ", " + place, stage.plan, longest);
    if (stage.task_reports) table(section, stage.task_reports);
  }
} else {
  if (plan.reason) add(page, "p", "Not distributed: " + plan.reason);
  add(page, "pre", JSON.stringify(plan.head || plan, null, 2));
}
page.dataset.drawn = "true";
)";

} // namespace skein::cli
