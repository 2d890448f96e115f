/* Main: puts the parts of the lab together. */

import { Address, fromHash } from "./address.js";
import { Controls } from "./controls.js";
import { Data } from "./data.js";
import { Exports } from "./exports.js";
import { Hands } from "./hands.js";
import { freeLists, listenToKeys } from "./keys.js";
import { allWell, byId, complain, copy, fail, put } from "./page.js";
import { Panels } from "./panels.js";
import { Plane } from "./plane.js";
import { Player } from "./player.js";
import { Run } from "./run.js";
import { ask, busy } from "./server.js";
import { segmentAt, takeLimits } from "./situation.js";
import { Store } from "./store.js";
import { listenToTheme } from "./theme.js";
import { Tours } from "./tours.js";
import { Verdict } from "./verdict.js";

const store = new Store();
const run = new Run(store, () => refresh());
const verdict = new Verdict(store, () => refresh());
const plane = new Plane();
const player = new Player(store, run);
const panels = new Panels(run, (at) => player.go(at));
const controls = new Controls(store, run);
const hands = new Hands(store, run, plane, () => redraw());
const data = new Data(store, load);
const tours = new Tours(store, run, verdict, load);
const address = new Address(store);
new Exports(store, plane);

let ready = false; // begun

/* ---- drawing: everything at once, at most once a frame */

let asked = false;
function refresh() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    draw();
  });
}

function draw() {
  redraw();
  panels.show(store.now);
  player.show();
  controls.show();
  data.show(store.now);
  byId("undo").disabled = !store.past.length;
  byId("redo").disabled = !store.future.length;
  tours.check();
}

function redraw() { plane.draw(scene()); }

/* What the plane shows now. */
function scene() {
  const { points, names, classes, view } = store.now, { step } = run, judge = step ? run.steps.get(run.at - 1) : null;
  const before = judge && step.moved ? judge : null;
  const kept = step && step.kept_w ? flat(step.kept_w, step.kept_b) : null, line = presentLine(step);
  const keep = run.answer ? run.segments[segmentAt(run.segments, Math.max(0, run.at - 1))].keep : "last";
  byId("show-kept").parentElement.hidden = keep === "last" || keep === "vote";
  put("kept-name", keep);
  return {
    points, names, classes, line,
    before: before ? flat(before.w, before.b) : null,
    kept: kept && line && (kept.a !== line.a || kept.b !== line.b || kept.c !== line.c) ? kept : null,
    turn: step ? step.row : -1,
    judge: judge ? flat(judge.w, judge.b) : null,
    margin: step ? step.margin : null,
    verdict: verdict.current ? verdict.answer : null,
    showProof: view.proof !== false,
    showKept: view.kept !== false,
  };
}

/* At the start the weights are known before the server has said anything. */
function presentLine(step) {
  const { start, offset } = store.now;
  if (run.at === 0 && start.kind === "given") return flat(start.w, offset ? start.b : 0);
  return step ? flat(step.w, step.b) : null;
}

function flat(w, b) { return { a: w[0], b: w[1], c: b }; }

/* ---- changes */

store.listen((now, before, why) => {
  if (ready && (why === "change" || why === "travel")) allWell(); // what was wrong before is over; a refusal says itself
  if (now.offset !== before.offset && !now.view.box) plane.fit(now);
  if (why === "travel" && now.points.some(([x, y]) => !plane.view.holds(x, y))) plane.fit({ ...now, view: {} });
  verdict.follow();
  run.follow();
  if (hands.held) redraw(); // what is under the finger does not wait
  refresh();
});

/* Another situation altogether: a preset, a table, a step of a tour. */
function load(situation, { keepTour = false } = {}) {
  player.pause();
  const { box, ...view } = store.now.view;
  plane.fit(situation);
  store.replace({ ...situation, view: { ...view, ...situation.view }, tour: keepTour ? store.now.tour : null });
  if (!keepTour && tours.tour) tours.close();
}

/* ---- buttons that belong to no part */

byId("undo").addEventListener("click", () => store.undo());
byId("redo").addEventListener("click", () => store.redo());
byId("help").addEventListener("click", () => byId("keys").showModal());
for (const name of ["proof", "kept"]) {
  byId(`show-${name}`).addEventListener("change", (e) => store.look({ view: { ...store.now.view, [name]: e.target.checked } }));
}
byId("share").addEventListener("click", async () => {
  allWell();
  const link = await address.write();
  byId("shared").hidden = false;
  byId("shared-link").value = link;
  put("shared-note", (await copy(link)) ? "copied" : "select it to copy it");
  put("shared-where", `The link opens in a lab that runs on the reader's own machine at the same address (rosenblatt lab --port ${location.port || 80}); in any other lab, paste it here.`);
  byId("shared-link").select();
});
byId("open-link").addEventListener("submit", async (e) => {
  e.preventDefault();
  const text = byId("link-to-open").value.trim();
  if (!text) return;
  if (!(await openHash(text.slice(text.indexOf("#") + 1)))) return;
  byId("link-to-open").value = "";
  byId("shared").hidden = true;
});
byId("shared-close").addEventListener("click", () => { byId("shared").hidden = true; });
window.addEventListener("online", () => { run.retry(); verdict.retry(); });
window.addEventListener("hashchange", () => openHash());

new ResizeObserver(() => { if (plane.resize() && plane.scene) redraw(); }).observe(byId("frame"));

/* ---- the beginning */

/* Open what stands behind the # of a link; false, with a message, where that is nothing. */
async function openHash(hash = location.hash.slice(1)) {
  if (!hash) return false;
  try {
    const situation = await fromHash(hash);
    player.pause();
    const { view } = situation;
    plane.fit(situation);
    byId("show-proof").checked = view.proof !== false;
    byId("show-kept").checked = view.kept !== false;
    if (view.speed) byId("speed").value = view.speed;
    store.replace(situation);
    if (situation.tour) tours.open(situation.tour.name, situation.tour.step, true);
    return true;
  } catch (error) {
    complain("address", `This link holds no situation that can be opened: ${error.message}. Ask for the link again, or begin with a preset.`);
    return false;
  }
}

async function begin() {
  listenToTheme();
  freeLists();
  listenToKeys({ store, player, hands, tours });
  plane.resize();
  draw();
  let choices = null;
  try {
    choices = await ask("/api/choices");
    takeLimits(choices.limits);
    controls.offer(choices);
    data.offer(choices.presets);
    tours.offer(choices.tours);
  } catch (error) {
    fail("choices", error);
  }
  const opened = await openHash();
  if (!opened && choices?.presets?.length) await data.preset(choices.presets[0].name);
  store.past = [];
  refresh();
  ready = true;
}

let waited = 0;
setInterval(() => {
  waited = run.runs.busy || verdict.busy ? waited + 1 : 0;
  if (waited === 2) put("working", "computing…");
  if (waited === 0) put("working", "");
}, 250);

window.lab = {
  situation: () => store.now,
  run: () => ({ total: run.total, at: run.at, step: run.step, answer: run.answer, current: run.current }),
  verdict: () => (verdict.current ? verdict.answer : null),
  playing: () => player.playing,
  toPixel: (x, y) => plane.view.toPixel(x, y),
  get busy() { return !ready || asked || busy() || run.busy || verdict.busy; },
};
begin();
