/* Plane: the picture of points, hyperplane, weight vector and proof, in SVG.

   Layers from back to front; each is drawn anew when what it shows has changed. Nothing here learns:
   the numbers come from the run. */

import { byId, drawn, set, tick } from "./page.js";
import { View, boxAround } from "./view.js";
import { drawCertificate } from "./certificate.js";

/* global clipLine, clipSide, roundNumbers, short */

const LAYERS = ["axes", "sides", "proof", "lines", "grip", "marks", "ring", "weights", "labels", "handles", "cursor"];
const MOST_COUNTED = 30; // points that have their number beside them
const ALONG = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9]; // of the line in the picture, where w may stand

export class Plane {
  constructor() {
    this.svg = byId("plane");
    this.view = new View();
    this.layers = {};
    const clip = drawn("clipPath", { id: "inside" }, (this.clip = drawn("rect")));
    this.svg.append(drawn("defs", {}, clip));
    for (const name of LAYERS) {
      this.layers[name] = drawn("g", { class: name });
      if (!["axes", "labels"].includes(name)) this.layers[name].setAttribute("clip-path", "url(#inside)");
      this.svg.append(this.layers[name]);
    }
    // the grip stays in the document, so that it loses neither the focus nor the pointer
    this.grip = drawn("circle", { id: "tip", tabindex: 0, role: "button", "aria-label": "Tip of the weight vector: drag it, or turn it with the arrow keys" });
    this.layers.grip.append(this.grip); // before the points, so that Tab comes to it first
    this.handle = drawn("circle", { class: "handle", "data-handle": "" }); // the same for the pointer, above them
    this.layers.handles.append(this.handle);
    this.gripped = null; // the arrow that is held
    this.rows = [];
    this.cursor = null;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = byId("frame");
    if (!width || !height) return false;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.view.resize(width, height);
    const { inner } = this.view;
    set(this.clip, { x: inner.left, y: inner.top, width: inner.width, height: inner.height });
    this.svg.style.setProperty("--mark", this.view.scale);
    return true;
  }

  /* The box that the reader chose, or one around all points. */
  fit({ points, offset, view }) { this.view.show(view.box || boxAround(points, { origin: !offset })); }

  /* scene: {points, names, classes, line, before, kept, turn, judge, margin, verdict, showProof, showKept} */
  draw(scene) {
    this.scene = scene;
    this.drawAxes();
    this.drawSides();
    this.drawProof();
    this.drawLines();
    this.drawPoints();
    this.drawRing();
    this.drawWeights();
    this.drawCursor();
  }

  path(points, close = false) {
    const pixels = points.map(([x, y]) => this.view.toPixel(x, y).map((v) => v.toFixed(2)).join(" "));
    return "M" + pixels.join("L") + (close ? "Z" : "");
  }

  drawAxes() {
    const { view, layers, scene } = this, { inner, box, scale } = view;
    const key = JSON.stringify([inner, box, scene.names]);
    if (key === this.axesKey) return;
    this.axesKey = key;
    const bottom = inner.top + inner.height, right = inner.left + inner.width, made = [];
    made.push(drawn("rect", { class: "ground", x: inner.left, y: inner.top, width: inner.width, height: inner.height }));
    for (const value of roundNumbers(box[0], box[1], Math.max(2, inner.width / (90 * scale)))) {
      const [u] = view.toPixel(value, 0);
      made.push(drawn("path", { class: value === 0 ? "zero" : "grid", d: `M${u} ${inner.top}V${bottom}` }));
      made.push(drawn("text", { class: "number", x: u, y: bottom + 15 * scale, "text-anchor": "middle" }, tick(value)));
    }
    for (const value of roundNumbers(box[2], box[3], Math.max(2, inner.height / (80 * scale)))) {
      const [, v] = view.toPixel(0, value);
      made.push(drawn("path", { class: value === 0 ? "zero" : "grid", d: `M${inner.left} ${v}H${right}` }));
      made.push(drawn("text", { class: "number", x: inner.left - 5 * scale, y: v + 4 * scale, "text-anchor": "end" }, tick(value)));
    }
    const fits = (name, length) => (name.length * 7 * scale > length ? name.slice(0, Math.max(3, Math.floor(length / (7 * scale)) - 1)) + "…" : name);
    made.push(drawn("text", { class: "name", x: inner.left + inner.width / 2, y: bottom + 29 * scale, "text-anchor": "middle" }, fits(scene.names[0], inner.width)));
    const y = inner.top + inner.height / 2, x = 11 * scale;
    made.push(drawn("text", { class: "name", x, y, "text-anchor": "middle", transform: `rotate(-90 ${x} ${y})` }, fits(scene.names[1], inner.height)));
    layers.axes.replaceChildren(...made);
  }

  /* Tint both sides of the hyperplane in the colours of their classes. */
  drawSides() {
    const { line } = this.scene, made = [];
    if (line && (line.a || line.b)) {
      for (const [sign, name] of [[1, "positive"], [-1, "negative"]]) {
        const corners = clipSide(line, this.view.box, sign);
        if (corners.length > 2) made.push(drawn("path", { class: `side ${name}`, d: this.path(corners, true) }));
      }
    }
    this.layers.sides.replaceChildren(...made);
  }

  drawProof() {
    const { scene } = this;
    this.layers.proof.replaceChildren();
    this.layers.labels.replaceChildren();
    if (scene.showProof && scene.verdict) drawCertificate(this, scene.verdict, scene.points);
  }

  drawLines() {
    const { scene, view } = this, made = [];
    this.ends = null;
    const add = (line, name) => {
      const ends = line && (line.a || line.b) ? clipLine(line, view.box) : null;
      if (ends) made.push(drawn("path", { class: name, d: this.path(ends) }));
      return ends;
    };
    add(scene.before, "ghost");
    if (scene.showKept) add(scene.kept, "kept");
    this.ends = add(scene.line, "line");
    this.layers.lines.replaceChildren(...made);
  }

  /* One group for each point; only what has changed is touched. */
  drawPoints() {
    const { scene, layers } = this, { points } = scene;
    while (this.rows.length > points.length) this.rows.pop().group.remove();
    while (this.rows.length < points.length) this.rows.push(this.newRow(this.rows.length));
    layers.marks.classList.toggle("many", points.length > 150);
    this.counted = points.length <= MOST_COUNTED;
    points.forEach((point, k) => this.placeRow(this.rows[k], point, k));
  }

  newRow(k) {
    const hit = drawn("circle", { class: "hit", r: 13 }), title = drawn("title");
    const group = drawn("g", { class: "point", "data-row": k, tabindex: k < 60 ? 0 : -1, role: "button" }, title, hit);
    this.layers.marks.append(group);
    return { group, title, count: null };
  }

  placeRow(row, [x, y, label], k) {
    const { line, classes } = this.scene, [u, v] = this.view.toPixel(x, y), { scale } = this.view;
    const wrong = Boolean(line) && label * (line.a * x + line.b * y + line.c) <= 0;
    if (row.label !== label) {
      row.mark?.remove();
      row.mark = label > 0 ? drawn("rect", { class: "positive", x: -5.2, y: -5.2, width: 10.4, height: 10.4 }) : drawn("circle", { class: "negative", r: 5.8 });
      row.group.append(row.mark);
      row.wrong = false;
    }
    const place = `translate(${u.toFixed(2)} ${v.toFixed(2)}) scale(${scale.toFixed(3)})`;
    if (row.place !== place) row.group.setAttribute("transform", place);
    if (row.wrong !== wrong) row.mark.classList.toggle("wrong", wrong);
    if (this.counted && !row.count) row.group.append((row.count = drawn("text", { class: "count", x: 11, y: 20 }, String(k + 1))));
    if (!this.counted && row.count) { row.count.remove(); row.count = null; }
    const name = `example ${k + 1}, class ${classes[label > 0 ? 1 : 0]}, at (${short(x)}, ${short(y)})`;
    if (row.name !== name) {
      row.group.setAttribute("aria-label", name);
      row.title.textContent = `example ${k + 1} (${classes[label > 0 ? 1 : 0]}) at (${short(x)}, ${short(y)})`;
    }
    Object.assign(row, { label, place, wrong, name });
  }

  /* A ring around the example in turn. */
  drawRing() {
    const { points, turn } = this.scene, made = [];
    if (turn >= 0 && turn < points.length) {
      const [cx, cy] = this.view.toPixel(...points[turn]), r = 12 * this.view.scale;
      made.push(drawn("circle", { class: "halo", cx, cy, r }), drawn("circle", { class: "turn", cx, cy, r }));
    }
    this.drawReach(made);
    this.layers.ring.replaceChildren(...made);
  }

  /* From the example in turn to the hyperplane that judged it, and y g(x) there: the score times the
     label, not the distance. */
  drawReach(made) {
    const { points, turn, judge, margin } = this.scene, point = points[turn];
    if (!point || !judge || !(judge.a || judge.b)) return;
    const off = (judge.a * point[0] + judge.b * point[1] + judge.c) / (judge.a ** 2 + judge.b ** 2);
    const foot = [point[0] - off * judge.a, point[1] - off * judge.b];
    made.unshift(drawn("path", { class: "reach", d: this.path([point, foot]) }));
    if (!Number.isFinite(margin)) return;
    const { inner, scale } = this.view, [u, v] = this.view.toPixel(...point);
    const left = u > inner.left + inner.width - 130 * scale, x = u + (left ? -16 : 16) * scale;
    this.layers.labels.append(drawn("text", { class: "label reach-label", x, y: v + 5 * scale, "text-anchor": left ? "end" : "start" }, `y g(x) = ${Math.abs(margin) < 1e5 ? short(margin) : tick(margin)}`));
  }

  /* Whether a place can be seen well, away from the edges. */
  deepInside(x, y) {
    const { inner, scale } = this.view, [u, v] = this.view.toPixel(x, y), edge = 24 * scale;
    return Math.min(u - inner.left, inner.left + inner.width - u, v - inner.top, inner.top + inner.height - v) > edge;
  }

  /* Whether nothing that is looked at stands there. */
  isFree(place) {
    const [u, v] = this.view.toPixel(...place), near = 30 * this.view.scale;
    const { points, verdict } = this.scene, seen = verdict?.common ? [...points, verdict.common.point] : points;
    return seen.every(([x, y]) => {
      const [p, q] = this.view.toPixel(x, y);
      return Math.hypot(p - u, q - v) > near;
    });
  }

  /* Where the arrow of w begins and ends, in the plane: {foot, tip, factor, on}. It has its true
     length where that can be seen well; `factor` says by how much it was stretched. The tip is always
     in the picture: the foot is chosen along the line so that it fits, and the arrow is shortened
     where it fits nowhere. `on` is a place on the hyperplane, the foot if that is one. */
  arrow() {
    const { line } = this.scene, { view, gripped } = this, { inner } = view;
    if (!line || !(line.a || line.b)) return this.noArrow();
    if (gripped) return this.arrowFrom(gripped.foot, gripped.factor, gripped.on);
    const step = [line.a / view.pixel[0], -line.b / view.pixel[1]], pixels = Math.hypot(...step);
    const way = step.map((v) => v / pixels), least = 60 * view.scale, most = 0.38 * Math.min(inner.width, inner.height);
    const wanted = Math.min(most, Math.max(least, pixels)), feet = this.feet(line);
    const end = (foot, far) => view.toPixel(...foot).map((v, k) => v + far * way[k]);
    const fits = (foot) => this.isHoldable(end(foot, wanted));
    const foot = feet.find((f) => fits(f) && this.isFree(view.toPlane(...end(f, wanted)))) || feet.find(fits);
    if (foot) return this.arrowFrom(foot, wanted / pixels, foot);
    const [room, on] = feet.map((f) => [this.room(f, way), f]).reduce((best, one) => (one[0] > best[0] ? one : best));
    const length = Math.max(room, 0.4 * least), tip = this.holdable(end(on, Math.max(room, 0)));
    return this.arrowFrom(view.toPlane(...tip.map((v, k) => v - length * way[k])), length / pixels, on);
  }

  arrowFrom(foot, factor, on) {
    const { line } = this.scene;
    return { foot, tip: [foot[0] + factor * line.a, foot[1] + factor * line.b], factor, on };
  }

  /* Without a direction: a dot, where nothing else is. */
  noArrow() {
    const { inner } = this.view, spot = (across, up) => this.view.toPlane(inner.left + across * inner.width, inner.top + up * inner.height);
    const spots = [...(this.deepInside(0, 0) ? [[0, 0]] : []), spot(0.5, 0.5), ...[0.3, 0.7].flatMap((u) => [0.3, 0.7].map((v) => spot(u, v)))];
    const foot = this.gripped?.foot || spots.find((place) => this.isFree(place)) || spot(0.5, 0.5);
    return { foot, tip: foot, factor: this.gripped?.factor || 1, on: foot, none: true };
  }

  /* Places on the line where w may stand, the best first. */
  feet(line) {
    const { view } = this, { inner } = view;
    if (!this.ends) return [view.toPlane(inner.left + inner.width / 2, inner.top + inner.height / 2)];
    const [p, q] = this.ends, along = ALONG.map((t) => [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
    return line.c === 0 && this.deepInside(0, 0) ? [[0, 0], ...along] : along;
  }

  /* The nearest pixel where the tip can be seen and held well. */
  holdable([u, v]) {
    const { inner, scale } = this.view, edge = 16 * scale, keep = (x, low, size) => Math.min(Math.max(x, low + edge), low + size - edge);
    return [keep(u, inner.left, inner.width), keep(v, inner.top, inner.height)];
  }

  isHoldable(pixel) { return this.holdable(pixel).every((v, k) => Math.abs(v - pixel[k]) < 1e-6); }

  /* How far one can go from a place, in pixels, until the tip could not be held well. */
  room(place, way) {
    const at = this.view.toPixel(...place), low = this.holdable([-1e9, -1e9]), high = this.holdable([1e9, 1e9]);
    return Math.min(...[0, 1].map((k) => (Math.abs(way[k]) < 1e-9 ? Infinity : ((way[k] > 0 ? high : low)[k] - at[k]) / way[k])));
  }

  drawWeights() {
    const { view } = this, { scale } = view, { foot, tip, none, factor } = this.arrow();
    const [p, q] = [view.toPixel(...foot), view.toPixel(...tip)], made = [];
    let u = q[0] - p[0], v = q[1] - p[1];
    const length = Math.hypot(u, v) || 1;
    u /= length; v /= length;
    if (!none) {
      const neck = [q[0] - 13 * scale * u, q[1] - 13 * scale * v], half = 6.5 * scale;
      made.push(drawn("path", { class: "shaft", d: `M${p}L${neck}` }));
      made.push(drawn("path", { class: "head", d: `M${q}L${neck[0] - half * v} ${neck[1] + half * u}L${neck[0] + half * v} ${neck[1] - half * u}Z` }));
      const name = Math.abs(factor - 1) < 1e-9 ? "w" : "w (direction)";
      const anchor = u > 0.4 ? "start" : u < -0.4 ? "end" : "middle";
      const width = 8.5 * scale * name.length, left = { start: 0, middle: width / 2, end: width }[anchor], { inner } = view;
      const x = Math.min(Math.max(q[0] + 8 * scale * u, inner.left + left + 3), inner.left + inner.width - width + left - 3);
      made.push(drawn("text", { class: "label strong", x, y: q[1] + 14 * scale * v + 5 * scale, "text-anchor": anchor }, name));
    } else made.push(drawn("circle", { class: "seed", cx: q[0], cy: q[1], r: 5 * scale }));
    this.layers.weights.replaceChildren(...made);
    for (const circle of [this.grip, this.handle]) set(circle, { cx: q[0], cy: q[1], r: 14 * scale });
    this.sayWhere(none);
  }

  /* Why there is no line in the picture. */
  sayWhere(none) {
    const { line } = this.scene, { inner, box, scale } = this.view;
    if (!line || this.ends) return;
    const side = line.a * (box[0] + box[1]) / 2 + line.b * (box[2] + box[3]) / 2 + line.c;
    const hint = inner.width > 480 ? " Step, or drag the dot to give one." : "";
    const where = none ? `w = 0: no hyperplane.${hint}` : "The hyperplane is outside the picture.";
    const more = inner.width > 480 ? ` All is on the side of ${this.scene.classes[side > 0 ? 1 : 0]}.` : "";
    this.layers.labels.append(drawn("text", { class: "label", x: inner.left + inner.width / 2, y: inner.top + 22 * scale, "text-anchor": "middle" }, where + (side === 0 ? "" : more)));
  }

  drawCursor() {
    const made = [];
    if (this.cursor && document.activeElement === this.svg) {
      const [u, v] = this.view.toPixel(...this.cursor), r = 9 * this.view.scale;
      made.push(drawn("path", { class: "cursor", d: `M${u - r} ${v}h${2 * r}M${u} ${v - r}v${2 * r}` }));
    }
    this.layers.cursor.replaceChildren(...made);
  }
}
