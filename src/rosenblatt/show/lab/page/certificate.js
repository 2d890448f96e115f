/* Certificate: the proof of a verdict, drawn into the plane.

   Separable: the hyperplane of largest margin, the band that no row enters, and the rows that hold it.
   Overlapping: the few rows whose hulls meet, their exact weights, and the place where they meet. */

import { drawn } from "./page.js";

/* global clipLine, clipSide, clipPolygon, short */

export function drawCertificate(plane, verdict, points) {
  if (verdict.separator) separator(plane, verdict.separator, points);
  if (verdict.common) common(plane, verdict.common, points);
}

function separator(plane, { w, b, margin, support }, points) {
  const { view, layers } = plane, line = { a: w[0], b: w[1], c: b }, norm = Math.hypot(...w);
  if (!norm) return;
  if (margin > 0) {
    const inner = clipPolygon(clipSide({ ...line, c: b + margin * norm }, view.box, 1), { ...line, c: b - margin * norm }, -1);
    if (inner.length > 2) layers.proof.append(drawn("path", { class: "band", d: plane.path(inner, true) }));
    for (const sign of [1, -1]) {
      const ends = clipLine({ ...line, c: b + sign * margin * norm }, view.box);
      if (ends) layers.proof.append(drawn("path", { class: "edge", d: plane.path(ends) }));
    }
  }
  const ends = clipLine(line, view.box);
  if (ends) layers.proof.append(drawn("path", { class: "proof-line", d: plane.path(ends) }));
  for (const row of support || []) if (points[row]) halo(plane, points[row]);
}

function halo(plane, [x, y]) {
  const [cx, cy] = plane.view.toPixel(x, y);
  plane.layers.proof.append(drawn("circle", { class: "support", cx, cy, r: 10 * plane.view.scale }));
}

/* Without offset the rows of the negative class are turned around the origin: 0 is a mean of them
   and the positive rows. */
function common(plane, { kind, point, exact, positive, negative }, points) {
  const { view, layers } = plane, turned = kind === "origin";
  const place = ({ row }, sign) => (points[row] ? [sign * points[row][0], sign * points[row][1]] : null);
  const sides = [[positive || [], 1, "positive"], [negative || [], turned ? -1 : 1, "negative"]];
  for (const [parts, sign, name] of sides) {
    const places = parts.map((part) => place(part, sign)).filter(Boolean);
    if (!turned && places.length > 1) layers.proof.append(drawn("path", { class: `hull ${name}`, d: plane.path(around(places), true) }));
    parts.forEach((part) => {
      const at = place(part, sign);
      if (!at) return;
      if (turned) layers.proof.append(drawn("path", { class: `hull ${name}`, d: plane.path([at, [0, 0]]) }));
      if (turned && sign < 0) layers.proof.append(drawn("path", { class: "ghost", d: plane.path([[0, 0], [-at[0], -at[1]]]) }));
      halo(plane, at);
      label(plane, at, brief(part.weight));
    });
  }
  const meet = turned ? [0, 0] : point;
  const [u, v] = view.toPixel(...meet), r = 8 * view.scale;
  layers.proof.append(drawn("path", { class: "meet", d: `M${u - r} ${v - r}l${2 * r} ${2 * r}M${u + r} ${v - r}l${-2 * r} ${2 * r}` }));
  const many = turned ? 0 : (positive || []).length + (negative || []).length;
  if (turned || many) label(plane, meet, turned ? "0" : `(${exact.map(brief).join(", ")})`, 26);
}

/* A fraction too long to be read is told by a few digits; the sentence of the proof has more. */
function brief(text) {
  if (text.length <= 9) return text;
  const [above, below = "1"] = text.split("/");
  try {
    const digits = 10n ** 9n, parts = [above, below].map((part) => Number(BigInt(part)));
    if (parts.every(Number.isFinite)) return "≈" + short(parts[0] / parts[1]);
    return "≈" + short(Number((BigInt(above) * digits) / BigInt(below)) / 1e9);
  } catch {
    return "≈" + short(Number(above) / Number(below)); // a decimal number
  }
}

function label(plane, [x, y], text, below = -14) {
  if (!plane.view.holds(x, y)) return;
  const [u, v] = plane.view.toPixel(x, y), { scale } = plane.view;
  plane.layers.labels.append(drawn("text", { class: "label proof-label", x: u, y: v + below * scale, "text-anchor": "middle" }, text));
}

/* Three points or fewer in any order, more by their angle. */
function around(places) {
  if (places.length < 4) return places;
  const x = places.reduce((s, p) => s + p[0], 0) / places.length, y = places.reduce((s, p) => s + p[1], 0) / places.length;
  return [...places].sort((p, q) => Math.atan2(p[1] - y, p[0] - x) - Math.atan2(q[1] - y, q[0] - x));
}
