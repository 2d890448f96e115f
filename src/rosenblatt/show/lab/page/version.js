/* Version space: which weights are right on all rows, in the plane of (w1, w2).

   A row allows the weights with y (w1 x1 + w2 x2 + b) > 0: a half-plane. Without offset they all have
   the origin on their edge, and what all allow is a cone. With offset the picture is the slice at
   the present b of a body in three dimensions. */

import { byId, drawn, put, set, tick } from "./page.js";

/* global clipLine, clipPolygon, roundNumbers, short */

const SIZE = 340, EDGE = 32, MOST_LINES = 120, TRAIL = 60;

export class VersionSpace {
  constructor() {
    this.svg = byId("version-space");
    set(this.svg, { viewBox: `0 0 ${SIZE} ${SIZE * 0.8}` });
    this.svg.append(drawn("defs", {}, drawn("clipPath", { id: "version-inside" }, drawn("rect", { x: EDGE, y: 4, width: SIZE - EDGE - 6, height: SIZE * 0.8 - EDGE - 4 }))));
    this.layer = drawn("g");
    this.svg.append(this.layer);
  }

  toPixel([x, y]) {
    const [left, right, bottom, top] = this.box, width = SIZE - EDGE - 6, height = SIZE * 0.8 - EDGE - 4;
    return [EDGE + (width * (x - left)) / (right - left), 4 + (height * (top - y)) / (top - bottom)];
  }

  path(points, close) { return "M" + points.map((p) => this.toPixel(p).map((v) => v.toFixed(1)).join(" ")).join("L") + (close ? "Z" : ""); }

  /* Round windows, so that the picture does not swim while w grows. */
  window(places) {
    const reach = places.reduce((most, [x, y]) => Math.max(most, Math.abs(x), Math.abs(y) * 1.3), 0) * 1.15 || 1;
    const power = 10 ** Math.floor(Math.log10(reach)), m = power * [1, 2, 5, 10].find((k) => k * power >= reach);
    const up = (m * (SIZE * 0.8 - EDGE - 4)) / (SIZE - EDGE - 6);
    this.box = [-m, m, -up, up];
  }

  show({ points, offset, steps, at, turn }) {
    const step = steps.get(at);
    if (!step) return;
    const trail = [];
    for (let t = Math.max(0, at - TRAIL); t <= at; t++) if (steps.has(t)) trail.push(steps.get(t).w);
    this.window(trail);
    const b = offset ? step.b : 0, [left, right, bottom, top] = this.box;
    const lines = points.map(([x, y, label]) => ({ a: label * x, b: label * y, c: label * b }));
    let space = [[left, bottom], [right, bottom], [right, top], [left, top]];
    for (const line of lines) if (space.length) space = clipPolygon(space, line, 1);
    const allowed = area(space) > 1e-9 * (right - left) * (top - bottom) && lines.every((l) => l.a || l.b || l.c > 0);
    const made = this.axes();
    if (allowed) made.push(drawn("path", { class: "space", d: this.path(space, true) }));
    lines.slice(0, MOST_LINES).forEach((line, k) => this.line(made, line, k === turn ? "edge-of-turn" : points[k][2] > 0 ? "edge-of positive" : "edge-of negative"));
    if (turn >= MOST_LINES) this.line(made, lines[turn], "edge-of-turn");
    if (trail.length > 1) made.push(drawn("path", { class: "trail", d: this.path(trail) }));
    if (step.kept_w && (step.kept_w[0] !== step.w[0] || step.kept_w[1] !== step.w[1])) this.dot(made, step.kept_w, "kept-dot");
    this.dot(made, step.w, "present-dot");
    this.layer.replaceChildren(...made);
    this.say(points, offset, b, allowed);
  }

  axes() {
    const made = [], bottom = SIZE * 0.8 - EDGE, inside = { x: EDGE, y: 4, width: SIZE - EDGE - 6, height: SIZE * 0.8 - EDGE - 4 };
    made.push(drawn("rect", { class: "ground", ...inside }));
    const [x0, y0] = this.toPixel([0, 0]);
    made.push(drawn("path", { class: "zero", d: `M${EDGE} ${y0}H${SIZE - 6}M${x0} 4V${bottom}` }));
    for (const value of roundNumbers(this.box[0], this.box[1], 4)) made.push(drawn("text", { class: "number", x: this.toPixel([value, 0])[0], y: bottom + 13, "text-anchor": "middle" }, tick(value)));
    for (const value of roundNumbers(this.box[2], this.box[3], 3)) made.push(drawn("text", { class: "number", x: EDGE - 4, y: this.toPixel([0, value])[1] + 4, "text-anchor": "end" }, tick(value)));
    made.push(drawn("text", { class: "number strong", x: SIZE - 8, y: y0 - 4, "text-anchor": "end" }, "w1"), drawn("text", { class: "number strong", x: x0 + 5, y: 16 }, "w2"));
    return made;
  }

  line(made, line, name) {
    const ends = line.a || line.b ? clipLine(line, this.box) : null;
    if (ends) made.push(drawn("path", { class: name, d: this.path(ends) }));
  }

  dot(made, w, name) {
    const [cx, cy] = this.toPixel(w);
    made.push(drawn("circle", { class: name, cx, cy, r: 4.5, "clip-path": "url(#version-inside)" }));
  }

  say(points, offset, b, allowed) {
    const what = allowed ? "Shaded: all rows are on their side." : points.length ? "No weights in this window are right on all rows." : "No rows yet: everything is allowed.";
    put("version-words", `${what} ${offset ? `The slice at the present b = ${short(b)}; a step of b moves the edges.` : "Without offset: a cone from the origin."} Dot: the present w, and its way there.`);
  }
}

function area(corners) {
  let twice = 0;
  corners.forEach(([x, y], k) => {
    const [u, v] = corners[(k + 1) % corners.length];
    twice += x * v - u * y;
  });
  return Math.abs(twice) / 2;
}
