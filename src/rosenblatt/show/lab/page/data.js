/* Data: presets, and tables from files with a choice of columns. */

import { ask } from "./server.js";
import { allWell, byId, complain, counted, fail, fill, put } from "./page.js";
import { readSituation } from "./situation.js";

export class Data {
  constructor(store, load) {
    Object.assign(this, { store, load, text: null, columns: [] });
    byId("preset").addEventListener("change", () => this.preset(byId("preset").value));
    byId("upload").addEventListener("change", () => this.upload(byId("upload").files[0]));
    byId("clear").addEventListener("click", () => store.change({ points: [], at: 0, segments: [{ ...store.now.segments[0] }] }));
    byId("columns").addEventListener("submit", (e) => { e.preventDefault(); this.use(); });
    byId("columns-cancel").addEventListener("click", () => { byId("columns").hidden = true; });
    byId("column-label").addEventListener("change", () => this.offerPositive());
  }

  offer(presets) {
    const select = byId("preset"), groups = new Map();
    for (const { name, title, group } of presets) {
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(new Option(title, name));
    }
    const made = [...groups].map(([group, options]) => {
      const part = document.createElement("optgroup");
      part.label = group || "presets";
      part.append(...options);
      return part;
    });
    select.replaceChildren(new Option("choose…", ""), ...made);
  }

  /* Other points; rule and view settings of the preset too. */
  async preset(name) {
    if (!name) return;
    try {
      const situation = readSituation(await ask(`/api/preset/${encodeURIComponent(name)}`));
      complain("preset", null);
      this.load(situation);
      this.chosen = { name, points: this.store.now.points };
    } catch (error) {
      fail("preset", error);
    }
  }

  /* ---- files */

  async upload(file) {
    byId("columns").hidden = true;
    put("data-note", "");
    if (!file) return;
    try {
      if (file.size > 2_000_000) throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(1)} MB; at most 2 MB can be read. Take fewer rows.`);
      this.text = await file.text();
      const table = await this.table("");
      allWell();
      this.offerColumns(file.name, table);
    } catch (error) {
      fail("upload", error);
    }
    byId("upload").value = "";
  }

  table(query) { return ask("/api/table" + query, this.text, { type: "text/csv" }); }

  offerColumns(name, { columns, rows }) {
    this.columns = columns;
    const numbers = columns.filter((c) => c.kind === "number").map((c) => c.name), label = likelyLabel(columns);
    const bad = badCells(columns.filter((c) => c !== label || numbers.length < 2)), several = columns.filter((c) => countOf(c) >= 2).map((c) => c.name);
    if (numbers.length < 2) { complain("upload", `${name} has ${counted(numbers.length, "column")} of numbers; two are needed, one across and one up. ${bad}`.trim()); return; }
    if (!label) { complain("upload", `${name} has no column for the class: one besides the two of numbers, with two values or a few. ${bad}`.trim()); return; }
    if (countOf(label) < 2) complain("upload", `Column ${label.name} has only one class, ${valuesOf(label)[0] ?? "the same in every row"}. Choose another column, or go on with one class.`);
    put("columns-words", `${name}: ${counted(rows, "row")}, ${counted(columns.length, "column")}. ${bad}`.trim());
    fill(byId("column-x"), numbers);
    fill(byId("column-y"), numbers);
    fill(byId("column-label"), [...new Set([...several, label.name])]);
    byId("column-label").value = label.name;
    const features = numbers.filter((n) => n !== label.name);
    byId("column-x").value = features[0];
    byId("column-y").value = features[1];
    this.offerPositive();
    byId("columns").hidden = false;
    byId("columns").scrollIntoView({ block: "nearest" });
  }

  offerPositive() {
    const column = this.columns.find((c) => c.name === byId("column-label").value);
    const values = column ? valuesOf(column).map(String) : [];
    fill(byId("column-positive"), values);
    if (values.length) byId("column-positive").value = likelyPositive(values, column.name);
  }

  async use() {
    const query = new URLSearchParams({ x: byId("column-x").value, y: byId("column-y").value, label: byId("column-label").value, positive: byId("column-positive").value });
    try {
      const { situation, note } = await this.table(`?${query}`);
      complain("upload", null);
      put("data-note", note || "");
      byId("columns").hidden = true;
      this.load(readSituation(situation));
    } catch (error) {
      fail("upload", error);
    }
  }

  show({ points, classes }) {
    const positive = points.filter((p) => p[2] > 0).length;
    put("data-words", `${counted(points.length, "point")}: ${positive} of ${classes[1]}, ${points.length - positive} of ${classes[0]}`);
    byId("preset").value = this.chosen && this.chosen.points === points ? this.chosen.name : "";
    put("name-positive", classes[1]);
    put("name-negative", classes[0]);
  }
}

function valuesOf({ distinct, values }) {
  return Array.isArray(values) ? values : Array.isArray(distinct) ? distinct : [];
}

function countOf(column) { return Number.isFinite(column.distinct) ? column.distinct : valuesOf(column).length; }

/* The column that is the class: two values rather than a few, words rather than numbers, a later one
   rather than an earlier one; two columns of numbers are left for the axes. */
function likelyLabel(columns) {
  const numbers = columns.filter((c) => c.kind === "number").length;
  const free = columns.filter((c) => !(c.bad && countOf(c) > 2) && (c.kind !== "number" || numbers > 2));
  const rank = (c) => {
    const many = countOf(c), few = many === 2 ? 0 : many > 2 && many <= 20 ? 1 : many > 20 ? 2 : 3;
    return 2 * few + (c.kind === "number" ? 1 : 0);
  };
  return free.reduce((best, c) => (best === null || rank(c) <= rank(best) ? c : best), null);
}

/* Which value means yes: what the column's name says, as the lab writes it; one that says so itself;
   the larger of two numbers; else the second. */
export function likelyPositive(values, name = "") {
  const said = / \(positive: (.*)\)$/.exec(name);
  if (said && values.includes(said[1])) return said[1];
  for (const yes of ["+1", "1", "true", "yes", "positive"]) {
    const found = values.find((v) => v.trim().toLowerCase() === yes);
    if (found !== undefined) return found;
  }
  if (values.length !== 2) return values[0];
  const [a, b] = values.map((v) => (v.trim() === "" ? NaN : Number(v)));
  return a > b ? values[0] : values[1];
}

/* Where a column of numbers has a cell that is none. */
function badCells(columns) {
  return columns.filter((c) => c.bad && typeof c.bad === "object").map(({ name, bad }) => `Column ${name}: line ${bad.line} has '${String(bad.value).slice(0, 40)}', which is not a number.`).join(" ");
}
