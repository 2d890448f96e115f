"use strict";
/* Geometry: straight lines, boxes and round numbers; shared by the film and the lab.

   A straight line is {a, b, c}: the points with a x + b y + c = 0; its positive side is where
   that is > 0. A box is [left, right, bottom, top]. */

/* The two ends of a line inside a box, or null if it does not cross it. */
function clipLine({ a, b, c }, [left, right, bottom, top]) {
  const ends = [];
  const add = (x, y) => {
    const pad = 1e-9 * (Math.abs(right - left) + Math.abs(top - bottom));
    const inside = x >= left - pad && x <= right + pad && y >= bottom - pad && y <= top + pad;
    const twin = ends.some(([u, v]) => Math.abs(u - x) <= pad && Math.abs(v - y) <= pad);
    if (inside && !twin) ends.push([x, y]);
  };
  if (b !== 0) { add(left, -(c + a * left) / b); add(right, -(c + a * right) / b); }
  if (a !== 0) { add(-(c + b * bottom) / a, bottom); add(-(c + b * top) / a, top); }
  return ends.length === 2 ? ends : null;
}

/* The corners of the part of a polygon where sign * (a x + b y + c) >= 0 [Sutherland, Hodgman]. */
function clipPolygon(corners, { a, b, c }, sign) {
  const value = ([x, y]) => sign * (a * x + b * y + c);
  const kept = [];
  corners.forEach((p, k) => {
    const q = corners[(k + 1) % corners.length], f = value(p), g = value(q);
    if (f >= 0) kept.push(p);
    if ((f >= 0) !== (g >= 0)) {
      const t = f / (f - g);
      kept.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
    }
  });
  return kept;
}

/* The same of a box. */
function clipSide(line, [left, right, bottom, top], sign) {
  return clipPolygon([[left, bottom], [right, bottom], [right, top], [left, top]], line, sign);
}

/* Round numbers between two others, about n of them. */
function roundNumbers(low, high, n) {
  const rough = (high - low) / n, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

/* Four significant digits, with a real minus sign. */
function short(value) {
  if (!Number.isFinite(value)) return "–";
  return String(Number(value.toPrecision(4))).replace("-", "−").replace("e−", "e-");
}
