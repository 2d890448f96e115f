/* Verdict: whether a line separates the points, as the server proves it, live while they move. */

import { complain, put } from "./page.js";
import { Latest, post } from "./server.js";

const HEADS = { separable: "Yes: separable", "quasi-separable": "Almost: quasi-separable", overlapping: "No: overlapping", "one class": "One class only", empty: "No points yet" };

export class Verdict {
  constructor(store, changed) {
    Object.assign(this, { store, changed, answer: null, key: null });
    this.requests = new Latest((points, offset, key) => this.fetch(points, offset, key));
  }

  get busy() { return this.requests.busy; }

  /* Whether it is about the points as they are now. */
  get current() { return this.answer !== null && this.key === JSON.stringify([this.store.now.points, this.store.now.offset]); }

  follow() {
    const { points, offset } = this.store.now, key = JSON.stringify([points, offset]);
    if (key === this.asked) return;
    this.asked = key;
    this.requests.ask(points, offset, key);
  }

  retry() {
    this.asked = null;
    this.follow();
  }

  async fetch(points, offset, key) {
    try {
      this.answer = await post("/api/verdict", { points, offset });
      this.key = key;
      complain("verdict", null);
    } catch (error) {
      this.answer = null;
      this.key = null;
      if (this.asked === key) this.asked = null;
      complain("verdict", error.message);
    }
    this.show();
    this.changed();
  }

  show() {
    const { answer } = this, panel = document.getElementById("verdict-panel");
    panel.dataset.verdict = answer ? answer.verdict : "unknown";
    put("verdict", answer ? HEADS[answer.verdict] || answer.verdict : "Unknown");
    put("proof", answer ? [answer.words, answer.proof].filter(Boolean).join(" ") : "");
    const time = answer && Number.isFinite(answer.milliseconds) ? `${answer.milliseconds < 10 ? answer.milliseconds.toFixed(1) : Math.round(answer.milliseconds)} ms` : "";
    put("verified", answer ? [answer.verified ? "" : "Not verified", time].filter(Boolean).join(", ") : "");
  }
}
