/* Verdict: whether a line separates the points, as the server proves it, live while they move. */

import { sameVerdict } from "./situation.js";
import { complain, fail, put } from "./page.js";
import { Latest, post } from "./server.js";

const HEADS = { separable: "Yes: separable", "quasi-separable": "Almost: quasi-separable", overlapping: "No: overlapping", "one class": "One class only", empty: "No points yet" };

export class Verdict {
  constructor(store, changed) {
    Object.assign(this, { store, changed, answer: null, situation: null, asked: null });
    this.requests = new Latest((situation) => this.fetch(situation));
  }

  get busy() { return this.requests.busy; }

  /* Whether it is about the points as they are now. */
  get current() { return sameVerdict(this.situation, this.store.now); }

  follow() {
    const { now } = this.store;
    if (sameVerdict(this.asked, now)) return;
    this.asked = now;
    this.requests.ask(now);
  }

  retry() {
    this.asked = null;
    this.follow();
  }

  async fetch(situation) {
    try {
      this.answer = await post("/api/verdict", { points: situation.points, offset: situation.offset });
      this.situation = situation;
      complain("verdict", null);
    } catch (error) {
      this.answer = null;
      this.situation = null;
      if (this.asked === situation) this.asked = null;
      fail("verdict", error);
    }
    this.show();
    this.changed();
  }

  show() {
    const { answer } = this, panel = document.getElementById("verdict-panel");
    panel.dataset.verdict = answer ? answer.verdict : "unknown";
    put("verdict", answer ? HEADS[answer.verdict] || answer.verdict : "Unknown");
    put("proof", answer ? [answer.words, answer.proof].filter(Boolean).join(" ") : "");
    const exact = typeof answer?.exact === "string" && !answer.proof?.includes(answer.exact) ? answer.exact : ""; // not twice
    document.getElementById("exact-proof").hidden = !exact;
    put("exact-words", exact);
    const time = answer && Number.isFinite(answer.milliseconds) ? `${answer.milliseconds < 10 ? answer.milliseconds.toFixed(1) : Math.round(answer.milliseconds)} ms` : "";
    put("verified", answer ? [answer.verified ? "" : "Not verified", time].filter(Boolean).join(", ") : "");
  }
}
