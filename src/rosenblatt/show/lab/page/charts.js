/* Charts: small pictures over the visits of a run; a click goes to that place. */

import { byId, drawn, set, tick } from "./page.js";

/* global roundNumbers, short */

const WIDTH = 340, LEFT = 40, RIGHT = 8, TOP = 18, BOTTOM = 6;

class Base {
  constructor(id, height, go) {
    this.svg = byId(id);
    this.height = height;
    set(this.svg, { viewBox: `0 0 ${WIDTH} ${height}` });
    this.back = drawn("g");
    this.now = drawn("g");
    const clip = drawn("clipPath", { id: `${id}-inside` }, drawn("rect", { x: LEFT, y: TOP - 4, width: WIDTH - LEFT - RIGHT, height: height - TOP - BOTTOM + 8 }));
    this.clipped = `url(#${id}-inside)`;
    this.svg.append(drawn("defs", {}, clip), this.back, this.now);
    const pick = (e) => {
      const { left, width } = this.svg.getBoundingClientRect();
      const share = (((e.clientX - left) / width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
      go(this.visitAt(Math.min(1, Math.max(0, share))));
    };
    this.svg.addEventListener("pointerdown", (e) => { if (e.button === 0) pick(e); });
    this.svg.addEventListener("pointermove", (e) => { if (e.buttons & 1) pick(e); });
  }

  y(value) { return this.height - BOTTOM - ((this.height - TOP - BOTTOM) * (value - this.low)) / (this.high - this.low || 1); }

  axis(made) {
    for (const value of roundNumbers(this.low, this.high, 3)) {
      made.push(drawn("path", { class: "grid", d: `M${LEFT} ${this.y(value)}H${WIDTH - RIGHT}` }));
      made.push(drawn("text", { class: "number", x: LEFT - 5, y: this.y(value) + 4, "text-anchor": "end" }, tick(value)));
    }
  }

  marker(x, made = []) {
    this.now.replaceChildren(drawn("path", { class: "here", d: `M${x} ${TOP - 4}V${this.height - BOTTOM}` }), ...made);
  }
}

/* Lines over the visits. series: [[key in the charts, class, name], ...]; the first gives the value. */
export class Lines extends Base {
  constructor(id, series, go, { height = 92, range = null } = {}) {
    super(id, height, go);
    Object.assign(this, { series, range });
  }

  x(visit) { return LEFT + ((WIDTH - LEFT - RIGHT) * visit) / Math.max(1, this.total); }
  visitAt(share) { return Math.round(share * this.total); }

  show(charts, total) {
    Object.assign(this, { charts, total });
    const main = (charts[this.series[0][0]] || []).filter((v) => v !== null);
    const least = main.reduce((a, v) => Math.min(a, v), Infinity), most = main.reduce((a, v) => Math.max(a, v), -Infinity);
    if (this.range) { [this.low, this.high] = this.range; this.low = Math.min(this.low, least < 0 ? -1 : this.low); }
    else { this.low = 0; this.high = main.length && most > 0 ? most * 1.15 : 1; }
    const made = [];
    this.axis(made);
    let across = LEFT;
    for (const [key, name, title] of this.series) {
      if (!(charts[key] || []).some((v) => v !== null)) continue;
      made.push(drawn("path", { class: `curve ${name}`, d: this.curve(charts[key]), "clip-path": this.clipped }));
      if (title && key !== this.series[0][0]) {
        made.push(drawn("path", { class: `curve ${name}`, d: `M${across + 110} 7h22` })); // as its line
        made.push(drawn("text", { class: `legend ${name}`, x: across + 136, y: 11 }, title));
        across += 44 + 6.2 * title.length;
      }
    }
    if (!main.length) made.push(drawn("text", { class: "legend", x: WIDTH / 2, y: this.height / 2 + 4, "text-anchor": "middle" }, this.absent || "nothing to show"));
    this.back.replaceChildren(...made);
  }

  curve(values) {
    let path = "", pen = false;
    values.forEach((value, k) => {
      if (value === null || !Number.isFinite(value)) { pen = false; return; }
      path += `${pen ? "L" : "M"}${this.x(this.charts.visit[k]).toFixed(1)} ${this.y(value).toFixed(1)}`;
      pen = true;
    });
    return path || "M0 0";
  }

  mark(visit, value) {
    const [, name, title] = this.series[0], made = [], known = Number.isFinite(value);
    if (known) made.push(drawn("circle", { class: `spot ${name}`, cx: this.x(visit), cy: this.y(Math.min(this.high, Math.max(this.low, value))), r: 3.6 }));
    made.push(drawn("text", { class: `legend strong ${name}`, x: LEFT, y: 11 }, known ? `${title} ${short(value)}` : title));
    this.marker(this.x(visit), made);
    this.svg.setAttribute("aria-label", known ? `${title} ${short(value)} at visit ${visit}` : title);
  }
}

/* A bar for each pass. */
export class Bars extends Base {
  constructor(id, go) { super(id, 100, go); }

  x(pass) { return LEFT + ((WIDTH - LEFT - RIGHT) * pass) / Math.max(1, this.values.length); }

  visitAt(share) {
    if (!this.values.length) return 0;
    return this.ends[Math.min(this.values.length - 1, Math.floor(share * this.values.length))];
  }

  show({ mistakes, ends }) {
    Object.assign(this, { values: mistakes, ends, low: 0 });
    const most = mistakes.reduce((a, v) => Math.max(a, v), 0);
    this.high = most > 0 ? most * 1.1 : 1;
    const made = [];
    this.axis(made);
    this.bars = mistakes.map((value, k) => {
      const slot = this.x(k + 1) - this.x(k), width = mistakes.length > 120 ? Math.max(0.6, slot) : Math.min(48, 0.82 * slot);
      return drawn("rect", { class: "bar", x: this.x(k) + (slot - width) / 2, y: this.y(value), width, height: Math.max(value ? 1 : 0, this.y(0) - this.y(value)) });
    });
    this.back.replaceChildren(...made, ...this.bars);
  }

  mark(visit) {
    const k = this.ends.findIndex((end) => end >= visit), pass = k < 0 ? this.ends.length - 1 : k;
    const before = pass > 0 ? this.ends[pass - 1] : 0, whole = (this.ends[pass] ?? 1) - before;
    const x = visit === 0 ? this.x(0) : this.x(pass) + (this.x(pass + 1) - this.x(pass)) * Math.min(1, (visit - before) / Math.max(1, whole));
    const words = this.values.length ? (visit === 0 ? `${this.values.length} passes` : `pass ${pass + 1}: ${short(this.values[pass] ?? 0)}`) : "no pass yet";
    this.marker(x, [drawn("text", { class: "legend strong", x: LEFT, y: 11 }, words)]);
    this.svg.setAttribute("aria-label", `Mistakes in each pass. ${words}`);
  }
}
