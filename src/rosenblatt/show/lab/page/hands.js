/* Hands: what the pointer and the keys do to the points and to the weight vector in the plane. */

import { byId, complain } from "./page.js";
import { segmentAt } from "./situation.js";

const STILL = 4; // pixels within which a press is a click

export class Hands {
  constructor(store, run, plane, redraw) {
    Object.assign(this, { store, run, plane, redraw, mode: "positive", held: null, added: 0 });
    const { svg } = plane;
    svg.addEventListener("pointerdown", (e) => this.down(e));
    svg.addEventListener("pointermove", (e) => this.move(e));
    svg.addEventListener("pointerup", (e) => this.up(e));
    svg.addEventListener("pointercancel", () => this.drop());
    svg.addEventListener("mousedown", (e) => { if (!rowOf(e)) e.preventDefault(); }); // a click leaves the keys to the motion
    // a finger on a point drags it and does not scroll; touch-action is not heard inside of an SVG everywhere
    svg.addEventListener("touchstart", (e) => { if (e.target.closest(".point, #tip, .handle")) e.preventDefault(); }, { passive: false });
    svg.addEventListener("contextmenu", (e) => this.menu(e));
    svg.addEventListener("dblclick", (e) => { if (performance.now() - this.added > 700) this.remove(rowOf(e)); });
    svg.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    svg.addEventListener("keydown", (e) => this.key(e));
    document.addEventListener("keydown", (e) => this.cancel(e), true);
    svg.addEventListener("focusin", (e) => { if (e.target === svg) this.showCursor(); });
    svg.addEventListener("focusout", () => this.redraw());
    for (const mode of ["positive", "negative"]) byId(`add-${mode}`).addEventListener("click", () => this.choose(mode));
    byId("delete").addEventListener("click", () => this.choose(this.mode === "delete" ? "positive" : "delete"));
    byId("fit").addEventListener("click", () => this.fit());
  }

  choose(mode) {
    this.mode = mode;
    for (const [id, name] of [["add-positive", "positive"], ["add-negative", "negative"], ["delete", "delete"]]) {
      byId(id).setAttribute("aria-pressed", String(mode === name));
    }
    this.plane.svg.dataset.mode = mode;
  }

  get label() { return this.mode === "negative" ? -1 : 1; }

  /* The place of an event in the pixels of the picture. */
  pixel(e) {
    const { left, top } = this.plane.svg.getBoundingClientRect();
    return [e.clientX - left, e.clientY - top];
  }

  inside([u, v]) {
    const { inner } = this.plane.view;
    return u >= inner.left && u <= inner.left + inner.width && v >= inner.top && v <= inner.top + inner.height;
  }

  /* ---- pointer */

  down(e) {
    if (e.button !== 0 || this.held) return;
    const row = e.shiftKey ? null : rowOf(e), from = this.pixel(e);
    if (row !== null && this.mode === "delete") { this.remove(row); return; }
    if (row !== null) this.held = { kind: "point", row, from, start: this.store.now.points[row] };
    else if (e.target.closest("#tip, .handle") && this.mode !== "delete") this.held = { kind: "tip", from, arrow: (this.plane.gripped = this.plane.arrow()) };
    else this.held = { kind: "ground", from, last: from, box: this.plane.view.wanted };
    if (this.held.kind === "ground") return;
    this.run.brief = true;
    e.target.setPointerCapture(e.pointerId);
  }

  move(e) {
    const { held } = this;
    if (!held) return;
    const at = this.pixel(e), far = Math.hypot(at[0] - held.from[0], at[1] - held.from[1]);
    held.moved ||= far > STILL;
    if (!held.moved) return;
    if (held.kind === "point") this.dragPoint(held, at);
    else if (held.kind === "tip") this.dragTip(held, at);
    else if (e.pointerType === "mouse") {
      this.plane.view.move(at[0] - held.last[0], at[1] - held.last[1]);
      held.last = at;
      this.redraw();
    }
  }

  up(e) {
    const { held } = this, at = this.pixel(e);
    this.drop();
    if (!held) return;
    if (held.kind === "ground" && held.moved) this.keepView();
    else if (held.kind === "ground" && this.mode !== "delete" && this.inside(at)) this.add(this.plane.view.toPlane(...at));
    else if (held.kind === "point") this.plane.rows[held.row]?.group.focus({ preventScroll: true });
  }

  /* Escape while something is held: as if it had not been touched. */
  cancel(e) {
    const { held } = this;
    if (e.key !== "Escape" || !held) return;
    e.preventDefault();
    e.stopPropagation();
    if (held.kind === "ground") this.plane.view.show(held.box);
    else this.store.cancelGroup();
    this.drop();
    this.redraw();
  }

  drop() {
    this.held = null;
    this.plane.gripped = null;
    this.store.endGroup();
    this.run.brief = false;
    this.run.follow();
  }

  dragPoint({ row, from, start }, at) {
    const { view } = this.plane, [u, v] = view.toPixel(...start), { inner } = view;
    const x = Math.min(Math.max(u + at[0] - from[0], inner.left), inner.left + inner.width);
    const y = Math.min(Math.max(v + at[1] - from[1], inner.top), inner.top + inner.height);
    this.moveTo(row, view.rounded(...view.toPlane(x, y)), `drag ${row}`);
  }

  moveTo(row, [x, y], group) {
    const points = [...this.store.now.points], [was, were, label] = points[row];
    if ((was === x && were === y) || Math.max(Math.abs(x), Math.abs(y)) > 1e6) return;
    points[row] = [x, y, label];
    this.store.change({ points }, { group });
  }

  /* The hyperplane keeps going through the foot of the arrow. */
  dragTip({ arrow: { foot, factor, on } }, [u, v]) {
    const { view } = this.plane, { inner } = view;
    const tip = view.toPlane(Math.min(Math.max(u, inner.left), inner.left + inner.width), Math.min(Math.max(v, inner.top), inner.top + inner.height));
    this.startFrom([(tip[0] - foot[0]) / factor, (tip[1] - foot[1]) / factor], on);
  }

  /* A run from given weights: at the start it begins with them, in the middle it begins again. */
  startFrom(w, foot) {
    const { now } = this.store, rounded = w.map((v) => Number(v.toPrecision(3)));
    if (!rounded.every(Number.isFinite)) return;
    const b = now.offset ? Number((-rounded[0] * foot[0] - rounded[1] * foot[1]).toPrecision(4)) : 0;
    const parts = { start: { kind: "given", w: rounded, b }, at: 0 };
    if (this.run.at > 0) parts.segments = [{ ...this.run.segments[segmentAt(this.run.segments, this.run.at)], from: 0 }];
    this.store.change(parts, { group: "tip" });
  }

  menu(e) {
    const row = rowOf(e);
    if (row === null) return;
    e.preventDefault();
    this.remove(row);
  }

  /* The wheel zooms; where the page itself can be scrolled, together with Ctrl. */
  wheel(e) {
    if (!e.ctrlKey && document.documentElement.scrollHeight > window.innerHeight + 1) return;
    e.preventDefault();
    this.plane.view.zoom(1.0015 ** e.deltaY, ...this.pixel(e));
    this.redraw();
    clearTimeout(this.wheeled);
    this.wheeled = setTimeout(() => this.keepView(), 200);
  }

  keepView() {
    this.store.look({ view: { ...this.store.now.view, box: this.plane.view.wanted.map((v) => Number(v.toPrecision(6))) } });
  }

  fit() {
    const { box, ...view } = this.store.now.view;
    this.store.look({ view });
    this.plane.fit(this.store.now);
    this.redraw();
  }

  /* ---- points */

  add(place) {
    const { points } = this.store.now;
    if (points.length >= 1000) { complain("points", "There are 1000 points already, which is the most. Delete some first."); return; }
    complain("points", null);
    this.added = performance.now();
    this.store.change({ points: [...points, [...this.plane.view.rounded(...place), this.label]] });
  }

  remove(row) {
    const { points } = this.store.now;
    if (row === null || row >= points.length) return;
    const focused = this.plane.svg.contains(document.activeElement) && document.activeElement !== this.plane.svg;
    this.store.change({ points: points.filter((_, k) => k !== row) });
    const next = this.plane.rows[Math.min(row, points.length - 2)];
    if (focused && next) next.group.focus({ preventScroll: true });
  }

  /* ---- keys in the plane; what is used here goes no further */

  key(e) {
    if (e.ctrlKey || e.metaKey) return;
    const row = rowOf(e), direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    const used = direction ? this.arrowKey(e, row, direction) : this.letterKey(e, row);
    if (!used) return;
    e.preventDefault();
    e.stopPropagation();
  }

  arrowKey(e, row, [across, up]) {
    const { view } = this.plane, far = (e.shiftKey ? 50 : e.altKey ? 0.5 : 5);
    const dx = across * far * view.pixel[0], dy = up * far * view.pixel[1];
    if (row !== null) {
      const [x, y] = this.store.now.points[row];
      this.moveTo(row, [x + dx, y + dy].map((v, k) => tidy(v, view.pixel[k] / (e.altKey ? 10 : 1))), `keys ${row}`);
    } else if (e.target.id === "tip") {
      const { foot, tip, factor, on } = this.plane.arrow();
      this.startFrom([(tip[0] + dx - foot[0]) / factor, (tip[1] + dy - foot[1]) / factor], on);
    } else {
      this.showCursor();
      const { box } = view, keep = (v, low, high) => Math.min(Math.max(v, low), high);
      this.plane.cursor = [keep(this.plane.cursor[0] + dx, box[0], box[1]), keep(this.plane.cursor[1] + dy, box[2], box[3])];
      this.redraw();
    }
    return true;
  }

  letterKey(e, row) {
    if (row !== null && (e.key === "Delete" || e.key === "Backspace")) { this.remove(row); return true; }
    if (row !== null && (e.key === "PageDown" || e.key === "PageUp")) {
      const n = this.plane.rows.length, next = (row + (e.key === "PageDown" ? 1 : n - 1)) % n;
      this.plane.rows[next].group.focus({ preventScroll: true });
      return true;
    }
    if (e.target === this.plane.svg && (e.key === "a" || e.key === "Enter")) {
      this.showCursor();
      this.add(this.plane.cursor);
      return true;
    }
    if (e.key === "Escape") { document.activeElement.blur(); return true; }
    return false;
  }

  showCursor() {
    const { plane } = this, { box } = plane.view;
    if (!plane.cursor || !plane.view.holds(...plane.cursor)) plane.cursor = [(box[0] + box[1]) / 2, (box[2] + box[3]) / 2];
    this.redraw();
  }
}

/* The row of the point that an event is about, or null. */
function rowOf(e) {
  const group = e.target.closest?.(".point");
  return group ? Number(group.dataset.row) : null;
}

/* A number with no more digits than a pixel can tell. */
function tidy(value, pixel) {
  const power = 10 ** Math.max(0, Math.min(12, Math.ceil(-Math.log10(pixel))));
  return Math.round(value * power) / power;
}
