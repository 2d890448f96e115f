/* Player: where in the run we look, and playing it. */

import { allWell, byId, counted, put, sentence } from "./page.js";

const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200];

export class Player {
  constructor(store, run) {
    Object.assign(this, { store, run, playing: false });
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const s of SPEEDS) byId("speed").add(new Option(`${s} a second`, s));
    byId("speed").value = calm ? 1 : 5;
    byId("speed").addEventListener("change", () => store.look({ view: { ...store.now.view, speed: this.speed } }));
    const buttons = { "start-over": () => this.go(0), back: () => this.go(run.at - 1), step: () => this.go(run.at + 1), pass: () => this.pass(1), "to-end": () => this.go(run.total), play: () => this.toggle() };
    for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
    byId("scrub").addEventListener("input", () => this.go(Number(byId("scrub").value)));
  }

  get speed() { return Number(byId("speed").value) || 5; }

  /* Look at another visit, by hand: playing ends. */
  go(at) {
    this.pause();
    allWell();
    this.look(at);
  }

  look(at) {
    const place = Math.min(Math.max(Math.round(at), 0), this.run.total);
    if (place !== this.store.now.at) this.store.look({ at: place });
  }

  /* To the end of this pass, or (by < 0) to where the one before ended. */
  pass(by) {
    const { at, answer, total } = this.run, ends = answer ? answer.per_pass.ends : [];
    if (by > 0) this.go(ends.find((end) => end > at) ?? total);
    else this.go(ends.filter((end) => end < at).pop() ?? 0);
  }

  toggle() {
    allWell();
    if (this.playing) this.pause(); else this.play();
  }

  play() {
    const { run } = this;
    if (!run.total) return;
    if (run.at >= run.total) this.look(0);
    this.playing = true;
    this.exact = run.at;
    this.then = performance.now();
    this.show();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.show();
  }

  tick(now) {
    if (!this.playing) return;
    const { run } = this, most = Math.max(0, now - this.then) / 1000;
    this.then = now;
    let next = Math.min(this.exact + Math.min(most, 0.5) * this.speed, run.total);
    while (next > run.at && !run.steps.has(Math.floor(next))) next = Math.floor(next) - 1; // wait for what is not here yet
    this.exact = Math.max(next, run.at);
    if (Math.floor(this.exact) !== run.at) this.look(Math.floor(this.exact));
    if (run.at >= run.total) { this.pause(); return; }
    requestAnimationFrame((then) => this.tick(then));
  }

  /* The bar as it is now. */
  show() {
    const { run, playing } = this, { at, total, answer } = run, scrub = byId("scrub");
    scrub.max = total;
    scrub.value = at;
    const passes = answer ? answer.per_pass.ends.filter((end) => end < at).length + (at > 0 ? 1 : 0) : 0;
    const where = `visit ${at.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    scrub.setAttribute("aria-valuetext", where);
    put("place", `${where}, pass ${Math.max(passes, run.step?.pass ?? 0)}`);
    byId("start-over").disabled = byId("back").disabled = at === 0;
    byId("step").disabled = byId("pass").disabled = byId("to-end").disabled = at >= total;
    byId("play").disabled = total === 0;
    byId("play").classList.toggle("playing", playing);
    byId("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    byId("words").setAttribute("aria-live", playing ? "off" : "polite");
    put("ending", answer ? this.ending(answer) : "");
  }

  ending(answer) {
    const where = this.run.at < answer.total ? `Ends after ${counted(answer.total, "visit")}` : "The end";
    const end = answer.stop && answer.total ? sentence(`${where}: ${answer.stop.sentence}`) : "";
    return answer.cut ? `${end} ${sentence(answer.cut)}` : end;
  }
}
