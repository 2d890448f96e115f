/* Tours: the panel that leads through a lecture, step by step. */

import { ask } from "./server.js";
import { byId, complain, fail, put } from "./page.js";
import { readSituation, segmentAt } from "./situation.js";

export class Tours {
  constructor(store, run, verdict, load) {
    Object.assign(this, { store, run, verdict, load, tour: null, step: 0, met: false });
    byId("tour").addEventListener("change", () => this.open(byId("tour").value));
    byId("tour-next").addEventListener("click", () => this.next());
    byId("tour-back").addEventListener("click", () => this.go(this.step - 1));
    byId("tour-close").addEventListener("click", () => this.close());
  }

  offer(tours) {
    byId("tour").replaceChildren(new Option("choose…", ""), ...tours.map(({ name, title }) => new Option(title, name)));
  }

  /* Open a tour at a step; `restored` when the situation came with it, from an address. */
  async open(name, step = 0, restored = false) {
    if (!name) { this.close(); return; }
    try {
      this.tour = await ask(`/api/tour/${encodeURIComponent(name)}`);
      complain("tour", null);
    } catch (error) {
      fail("tour", error);
      return;
    }
    byId("tour").value = name;
    this.go(Math.min(step, this.tour.steps.length - 1), restored);
    if (!restored) byId("tour-next").focus({ preventScroll: true });
  }

  next() {
    if (this.step + 1 < this.tour.steps.length) this.go(this.step + 1);
    else this.close();
  }

  go(k, restored = false) {
    if (!this.tour || k < 0) return;
    this.step = k;
    this.met = false;
    const step = this.tour.steps[k];
    this.store.look({ tour: { name: this.tour.name, step: k } });
    if (step.situation && !restored) this.load(readSituation(step.situation), { keepTour: true });
    this.write(step);
    this.point(step.watch);
    this.check();
  }

  write(step) {
    const { steps, title } = this.tour;
    byId("tour-panel").hidden = false;
    put("tour-title", title);
    put("tour-step", step.title);
    byId("tour-text").replaceChildren(...marked(step.text));
    put("tour-place", `${this.step + 1} of ${steps.length}`);
    byId("tour-back").disabled = this.step === 0;
    put("tour-next", this.step + 1 < steps.length ? "Next" : "Finish");
    byId("tour-panel").scrollIntoView({ block: "nearest" });
  }

  /* An outline around the panel that is spoken of. It is brought into view where that does not push
     the text of the tour out of it: in the column on the right. */
  point(name) {
    for (const panel of document.querySelectorAll(".pointed")) panel.classList.remove("pointed");
    const panel = name && document.querySelector(`[data-panel="${CSS.escape(name)}"]`);
    if (!panel) return;
    panel.classList.add("pointed");
    if (panel.closest("#right") && matchMedia("(min-width: 60.01rem)").matches) panel.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  close() {
    this.tour = null;
    byId("tour-panel").hidden = true;
    byId("tour").value = "";
    this.point(null);
    if (this.store.now.tour) this.store.look({ tour: null });
  }

  /* After every change: is the goal of this step met? Once met, it stays met. */
  check() {
    if (!this.tour) return;
    const { goal, do: wish } = this.tour.steps[this.step];
    this.met ||= Boolean(goal) && this.reached(goal);
    const text = wish ? (this.met ? `✓ ${wish}` : wish) : goal && this.met ? "✓ done" : "";
    if (text !== this.wish) byId("tour-do").replaceChildren(...marked(text));
    this.wish = text;
    byId("tour-do").classList.toggle("met", this.met);
  }

  reached(goal) {
    const { run, verdict, store } = this, { now } = store;
    const segment = run.segments[segmentAt(run.segments, run.at)];
    switch (goal.kind) {
      case "at_least": return run.at >= goal.visits;
      case "at_end": return run.current && run.total > 0 && run.at >= run.total;
      case "verdict": return verdict.current && verdict.answer.verdict === goal.is;
      case "points": return now.points.length >= goal.at_least;
      case "setting": return (goal.name in segment ? segment[goal.name] : goal.name === "start" ? now.start.kind : now[goal.name]) === goal.is;
      default: return false;
    }
  }
}

/* Text with **bold** words, as nodes. */
function marked(text) {
  return text.split("**").map((part, k) => {
    if (k % 2 === 0) return document.createTextNode(part);
    const strong = document.createElement("strong");
    strong.textContent = part;
    return strong;
  });
}
