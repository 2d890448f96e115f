/* Controls: rule, keep, mode, tie, eta, order, start, offset and passes; and the list of switches. */

import { byId, choose, complain, fill, put } from "./page.js";
import { MOST_SEED, segmentAt, withSetting } from "./situation.js";

const CHOICES = ["rule", "keep", "mode", "tie", "order"];
const OTHER = "…"; // a rule that is typed
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export class Controls {
  constructor(store, run) {
    Object.assign(this, { store, run });
    for (const name of CHOICES) byId(name).addEventListener("change", () => this.pick(name, byId(name).value));
    byId("rule-text").addEventListener("change", () => this.set({ rule: byId("rule-text").value.trim() }));
    this.number("eta", (v) => v > 0 && v <= 1e6, "eta must be a number above 0 and at most 1000000", (v) => this.set({ eta: v }));
    this.number("seed", natural, "a seed is a whole number of at least 0", (v) => this.set({ seed: v }));
    this.number("passes", (v) => Number.isInteger(v) && v >= 1 && v <= 1000, "passes must be a whole number from 1 to 1000", (v) => store.change({ passes: v }));
    this.number("start-seed", natural, "a seed is a whole number of at least 0", (v) => store.change({ start: { kind: "random", seed: v } }));
    for (const id of ["start-w1", "start-w2", "start-b"]) this.number(id, (v) => Math.abs(v) <= 1e6, "a weight is a number from -1000000 to 1000000", () => this.given());
    byId("start").addEventListener("change", () => this.start(byId("start").value));
    byId("offset").addEventListener("change", () => store.change({ offset: byId("offset").checked }));
  }

  /* The names that the engine knows. */
  offer(choices) {
    this.rateless = choices.without_eta || [];
    const named = (list) => (list || []).map((c) => (typeof c === "string" ? c : [c.name, c.title || c.name]));
    for (const [id, key] of [["rule", "rules"], ["keep", "keeps"], ["mode", "modes"], ["tie", "ties"], ["order", "orders"]]) fill(byId(id), named(choices[key]));
    byId("rule").add(new Option("with numbers…", OTHER));
  }

  /* A rule with numbers of its own, like arow(r=0.1), is typed. */
  pick(name, value) {
    const typed = value === OTHER;
    if (name === "rule") byId("rule-text-field").hidden = !typed;
    if (!typed) { this.set({ [name]: value }); return; }
    byId("rule-text").value = this.present.rule;
    byId("rule-text").focus();
    byId("rule-text").select();
  }

  get present() {
    const { segments } = this.run;
    return segments[segmentAt(segments, this.run.at)];
  }

  number(id, fine, sentence, take) {
    byId(id).addEventListener("change", () => {
      const text = byId(id).value.trim(), value = NUMBER.test(text) ? Number(text) : NaN;
      if (fine(value)) { complain(id, null); take(value); return; }
      complain(id, `${sentence[0].toUpperCase()}${sentence.slice(1)}, got ${text.slice(0, 40) || "nothing"}.`);
      this.show();
    });
  }

  /* A setting changes from the place looked at on. */
  set(change) {
    const { at, segments } = this.run;
    this.store.change({ segments: withSetting(segments, at, change), at });
  }

  start(kind) {
    const { now } = this.store;
    if (kind === "random") this.store.change({ start: { kind, seed: 0 }, at: 0 });
    else if (kind === "zero") this.store.change({ start: { kind }, at: 0 });
    else {
      const step = this.run.step;
      this.store.change({ start: { kind, w: step ? [...step.w] : [1, 1], b: now.offset && step ? step.b : 0 }, at: 0 });
    }
  }

  given() {
    const [a, b, c] = ["start-w1", "start-w2", "start-b"].map((id) => Number(byId(id).value) || 0);
    this.store.change({ start: { kind: "given", w: [a, b], b: c } });
  }

  show() {
    const { start, offset, passes } = this.store.now, { at, segments } = this.run, k = segmentAt(segments, at), segment = segments[k];
    const typing = document.activeElement === byId("rule-text");
    for (const name of CHOICES) if (name !== "rule" || !typing) choose(byId(name), segment[name]);
    byId("rule-text-field").hidden = !typing && !segment.rule.includes("(");
    if (!typing) byId("rule-text").value = segment.rule;
    byId("eta").disabled = (this.rateless || []).includes(segment.rule.split("(")[0]);
    this.write("eta", segment.eta);
    this.write("seed", segment.seed);
    this.write("passes", passes);
    byId("seed-field").hidden = segment.order === "order";
    byId("start").value = start.kind;
    byId("start-seed-field").hidden = start.kind !== "random";
    byId("start-given").hidden = start.kind !== "given";
    if (start.kind === "random") this.write("start-seed", start.seed);
    if (start.kind === "given") [["start-w1", start.w[0]], ["start-w2", start.w[1]], ["start-b", start.b]].forEach(([id, value]) => this.write(id, value));
    byId("start-b").disabled = !offset;
    byId("offset").checked = offset;
    put("applies", at === segment.from ? (at === 0 ? "" : `Changes here change the switch at visit ${at}.`) : `A change now is a switch at visit ${at}: the run goes on from here.`);
    this.list(segments, k);
  }

  /* Not while somebody types into it. */
  write(id, value) {
    const field = byId(id);
    if (document.activeElement === field && Number(field.value) === value) return;
    if (field.value !== String(value)) field.value = value;
  }

  list(segments, present) {
    const { run } = this, told = run.situation?.segments === this.store.now.segments ? run.answer.segments : null;
    const key = JSON.stringify([segments, told, present]);
    if (key === this.listed) return;
    this.listed = key;
    byId("segments").hidden = segments.length < 2;
    byId("segments").replaceChildren(...segments.map((segment, k) => {
      const item = document.createElement("li"), words = document.createElement("span");
      words.textContent = `from visit ${segment.from}: ${told?.[k]?.words ?? segment.rule}`;
      item.classList.toggle("present", k === present);
      item.append(words);
      if (k > 0) item.append(this.remover(k));
      return item;
    }));
  }

  remover(k) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "×";
    button.setAttribute("aria-label", `Remove switch ${k}`);
    button.addEventListener("click", () => {
      const { segments } = this.store.now;
      this.store.change({ segments: segments.filter((_, j) => j !== k) });
    });
    return button;
  }
}

function natural(value) { return Number.isInteger(value) && value >= 0 && value <= MOST_SEED; }
