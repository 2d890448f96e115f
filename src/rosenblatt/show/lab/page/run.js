/* Run: what the server said about the present run, and the steps of it that are here.

   Steps come in windows around the place looked at. While a new run is asked for, the old one stays
   on the screen. Where the engine refuses a choice, the choice goes back to what the run shows; other
   points that it refuses have no run. */

import { sameRun } from "./situation.js";
import { Latest, post } from "./server.js";
import { complain, fail } from "./page.js";

const WINDOW = 500; // steps asked for at once; the server gives at most 512
const BEHIND = 60; // of these before the place looked at
const FEW = 24; // while something is dragged, and the next answer makes this one old
const NEAR = 150; // so close to the end of what is here, more is fetched
const MOST = 20000; // steps kept

export class Run {
  constructor(store, changed) {
    Object.assign(this, { store, changed, answer: null, situation: null, asked: null, steps: new Map(), brief: false });
    this.runs = new Latest((situation) => this.fetchRun(situation));
    this.windows = new Latest((from) => this.fetchWindow(from));
  }

  get busy() { return this.runs.busy || this.windows.busy; }
  /* Whether what is here is the run of the present situation. */
  get current() { return sameRun(this.situation, this.store.now); }
  get total() { return this.answer ? this.answer.total : 0; }
  get at() { return Math.min(this.store.now.at, this.total); }
  get step() { return this.steps.get(this.at) || null; }

  /* The segments of the present situation, beginning where they really did: a stretch may end before
     the next was meant to begin. */
  get segments() {
    const { segments } = this.store.now, told = this.situation?.segments === segments ? this.answer.segments : null;
    if (!told || told.length !== segments.length) return segments;
    return segments.map((s, k) => (s.from === told[k].from ? s : { ...s, from: told[k].from }));
  }

  /* Called after every change: ask for another run, or for more of this one. */
  follow() {
    const { now } = this.store;
    if (!sameRun(this.asked, now)) {
      this.asked = now;
      this.runs.ask(now);
    } else if (this.current) this.prefetch();
  }

  /* The server could not be asked, or refused: ask again. */
  retry() {
    this.asked = null;
    this.follow();
  }

  async fetchRun(situation) {
    const [behind, many] = this.brief ? [1, FEW] : [BEHIND, WINDOW];
    try {
      let answer = await post("/api/run", asked(situation, Math.max(0, situation.at - behind), many));
      if (answer.total < situation.at && answer.total > 0) {
        answer = await post("/api/run", asked(situation, Math.max(0, answer.total - behind), many));
      }
      Object.assign(this, { answer, situation });
      this.steps = new Map();
      this.take(answer.steps);
      complain("run", null);
    } catch (error) {
      fail("run", error);
      if (error.refused) this.giveWay(situation);
      else if (this.asked === situation) this.asked = null; // asked again with whatever is done next
    }
    this.changed();
    if (this.current) this.prefetch();
  }

  /* A refused situation. Page, run and address have to agree again, unless there is a newer one. */
  giveWay(refused) {
    if (!sameRun(refused, this.store.now)) return;
    if (this.situation?.points === refused.points) {
      this.asked = this.situation;
      this.store.revert(this.situation);
    } else {
      Object.assign(this, { answer: null, situation: null, steps: new Map() });
    }
  }

  async fetchWindow(from) {
    const { situation } = this;
    try {
      const answer = await post("/api/run", asked(situation, from, WINDOW));
      if (situation !== this.situation) return;
      this.take(answer.steps);
      complain("window", null);
    } catch (error) {
      fail("window", error);
      return;
    }
    this.changed();
  }

  /* Columns become steps. */
  take(columns) {
    const { from, to, ...rest } = columns;
    if (this.steps.size > MOST) this.steps = new Map();
    for (let t = from; t <= to; t++) {
      const step = { t };
      for (const name in rest) if (rest[name]) step[name] = rest[name][t - from];
      this.steps.set(t, step);
    }
  }

  /* Fetch what is missing at the place looked at, or soon will be. */
  prefetch() {
    const { at, total } = this;
    if (this.brief && this.steps.has(at)) return;
    if (!this.steps.has(at)) { this.windows.ask(Math.max(0, at - BEHIND)); return; }
    if (this.windows.busy) return;
    const ahead = Math.min(total, at + NEAR), behind = Math.max(0, at - 20);
    if (!this.steps.has(ahead)) this.windows.ask(this.firstMissing(at, 1));
    else if (!this.steps.has(behind)) this.windows.ask(Math.max(0, at - WINDOW + 40));
  }

  firstMissing(at, by) {
    let t = at;
    while (this.steps.has(t)) t += by;
    return t;
  }
}

function asked(situation, from, many) {
  const { view, tour, ...told } = situation;
  return { situation: told, from, to: from + many };
}
