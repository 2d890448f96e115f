/* Data: presets, and tables from files with a choice of columns. */

import { ask } from "./server.js";
import { byId, complain, counted, fill, put } from "./page.js";
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
      complain("preset", error.message);
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
      complain("upload", null);
      this.offerColumns(file.name, table);
    } catch (error) {
      complain("upload", error.message);
    }
    byId("upload").value = "";
  }

  table(query) { return ask("/api/table" + query, this.text, { type: "text/csv" }); }

  offerColumns(name, { columns, rows }) {
    this.columns = columns;
    const numbers = columns.filter((c) => c.kind === "number").map((c) => c.name);
    const labels = columns.filter((c) => valuesOf(c).length >= 2).map((c) => c.name);
    if (numbers.length < 2) { complain("upload", `${name} has ${counted(numbers.length, "column")} of numbers; two are needed, one across and one up.`); return; }
    put("columns-words", `${name}: ${counted(rows, "row")}, ${counted(columns.length, "column")}`);
    fill(byId("column-x"), numbers);
    fill(byId("column-y"), numbers);
    fill(byId("column-label"), labels.length ? labels : columns.map((c) => c.name));
    const likely = columns.filter((c) => c.kind !== "number" && labels.includes(c.name)).pop() ?? columns.filter((c) => labels.includes(c.name)).pop();
    if (likely) byId("column-label").value = likely.name;
    const features = numbers.filter((n) => n !== byId("column-label").value);
    byId("column-x").value = features[0] ?? numbers[0];
    byId("column-y").value = features[1] ?? numbers[1];
    this.offerPositive();
    byId("columns").hidden = false;
    byId("columns").scrollIntoView({ block: "nearest" });
  }

  offerPositive() {
    const column = this.columns.find((c) => c.name === byId("column-label").value);
    const values = column ? valuesOf(column) : [];
    fill(byId("column-positive"), values.map(String));
    if (values.length === 2) byId("column-positive").value = String(values[1]);
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
      complain("upload", error.message);
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
