/* Situation: what the page is about, as the server knows it; plain data, never changed in place. */

export const EMPTY = {
  v: 1,
  points: [],
  names: ["x1", "x2"],
  classes: ["-1", "+1"],
  offset: true,
  start: { kind: "zero" },
  segments: [{ from: 0, rule: "perceptron", keep: "last", mode: "online", tie: "mistake", eta: 1, order: "order", seed: 0 }],
  passes: 100,
  at: 0,
  view: {},
  tour: null,
};
const SETTINGS = Object.keys(EMPTY.segments[0]);
export const MOST_SEED = 2 ** 31 - 1;
let MOST_VISITS = 200_000, FARTHEST = 1e6; // as the server says, once it did
export function takeLimits({ visits, largest } = {}) {
  if (Number.isFinite(visits)) MOST_VISITS = visits;
  if (Number.isFinite(largest)) FARTHEST = largest;
}

/* A situation from anywhere (an address, a preset): complete, or an Error that says what is wrong. */
export function readSituation(given) {
  if (!given || typeof given !== "object" || Array.isArray(given)) throw new Error("it holds no situation");
  if (given.v !== 1) throw new Error(`it is of version ${String(given.v).slice(0, 20)}, and this lab reads version 1`);
  const made = { ...EMPTY };
  made.points = list(given.points, "points").map(readPoint);
  for (const name of ["names", "classes"]) {
    if (given[name] === undefined) continue;
    made[name] = list(given[name], name).slice(0, 2).map((text) => String(text).slice(0, 60));
    if (made[name].length < 2) throw new Error(`${name} must be two texts`);
  }
  if (given.offset !== undefined) made.offset = Boolean(given.offset);
  if (given.start !== undefined) made.start = readStart(given.start);
  if (given.segments !== undefined) made.segments = list(given.segments, "segments").slice(0, 50).map(readSegment);
  if (!made.segments.length || made.segments[0].from !== 0) throw new Error("its segments do not begin at visit 0");
  made.passes = whole(given.passes ?? 100, 1, 1000, "passes");
  made.at = whole(given.at ?? 0, 0, MOST_VISITS, "at");
  if (given.view && typeof given.view === "object") made.view = readView(given.view);
  if (given.tour && typeof given.tour.name === "string") made.tour = { name: given.tour.name, step: whole(given.tour.step ?? 0, 0, 50, "step") };
  return made;
}

function list(value, name) {
  if (!Array.isArray(value)) throw new Error(`${name} is not a list`);
  if (value.length > 1000) throw new Error(`${name} has ${value.length} entries, at most 1000 are shown`);
  return value;
}

function readPoint(point, k) {
  const [x, y, label] = Array.isArray(point) ? point : [];
  const fine = Number.isFinite(x) && Number.isFinite(y) && Math.max(Math.abs(x), Math.abs(y)) <= FARTHEST;
  if (!fine || (label !== 1 && label !== -1)) throw new Error(`point ${k + 1} is not [x, y, 1 or -1]`);
  return [x, y, label];
}

function readStart(start) {
  if (start?.kind === "random") return { kind: "random", seed: whole(start.seed ?? 0, 0, MOST_SEED, "seed") };
  if (start?.kind === "given") {
    const numbers = [...list(start.w, "w"), start.b ?? 0];
    if (numbers.length !== 3 || !numbers.every(Number.isFinite)) throw new Error("the start is not two weights and an offset");
    return { kind: "given", w: numbers.slice(0, 2), b: numbers[2] };
  }
  return { kind: "zero" };
}

function readSegment(segment, k) {
  const made = { ...EMPTY.segments[0] };
  for (const name of SETTINGS) {
    if (segment?.[name] === undefined) continue;
    if (typeof segment[name] !== typeof made[name]) throw new Error(`${name} of segment ${k + 1} is not a ${typeof made[name]}`);
    made[name] = segment[name];
  }
  whole(made.from, 0, MOST_VISITS, `from of segment ${k + 1}`);
  whole(made.seed, 0, MOST_SEED, `seed of segment ${k + 1}`);
  return made;
}

function readView(view) {
  const made = {};
  const fine = (v) => Number.isFinite(v) && Math.abs(v) <= 10 * FARTHEST;
  if (Array.isArray(view.box) && view.box.length === 4 && view.box.every(fine) && view.box[1] - view.box[0] > 1e-9 && view.box[3] - view.box[2] > 1e-9) made.box = view.box;
  if (Number.isFinite(view.speed)) made.speed = view.speed;
  for (const name of ["proof", "kept"]) if (typeof view[name] === "boolean") made[name] = view[name];
  return made;
}

function whole(value, low, high, name) {
  if (!Number.isInteger(value) || value < low || value > high) throw new Error(`${name} is not a whole number from ${low} to ${high}`);
  return value;
}

/* Whether two situations have the same run, or the same verdict. Nothing is changed in place, so it
   is enough to look whether they share their parts. */
export const RUN = ["points", "offset", "start", "segments", "passes"];
export function sameRun(one, other) { return share(one, other, RUN); }
export function sameVerdict(one, other) { return share(one, other, ["points", "offset"]); }

function share(one, other, parts) { return Boolean(one && other) && parts.every((part) => one[part] === other[part]); }

/* Which segment is in force for the visit after `at`. */
export function segmentAt(segments, at) {
  let k = 0;
  while (k + 1 < segments.length && segments[k + 1].from <= at) k++;
  return k;
}

/* A setting changed from visit `at` on. Where a segment begins there, it is changed; elsewhere a new
   one begins, and those after it go. */
export function withSetting(segments, at, change) {
  const k = segmentAt(segments, at), made = { ...segments[k], ...change };
  if (segments[k].from === at) return segments.map((s, j) => (j === k ? made : s));
  return [...segments.slice(0, k + 1), { ...made, from: at }];
}
