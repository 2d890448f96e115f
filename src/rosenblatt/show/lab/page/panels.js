/* Panels: charts, the confusion table and the words of a step, at the place looked at. */

import { counted, put, sentence } from "./page.js";
import { Bars, Lines } from "./charts.js";
import { VersionSpace } from "./version.js";

/* global short */

const NOTHING = { total: 0, per_pass: { mistakes: [], ends: [] }, charts: { visit: [] }, bound: null };

export class Panels {
  constructor(run, go) {
    Object.assign(this, { run, shown: undefined });
    this.mistakes = new Bars("mistakes-chart", go);
    this.cosine = new Lines("cosine-chart", [["cosine", "main", "cosine"]], go, { range: [0, 1] });
    this.norm = new Lines("norm-chart", [["norm", "main", "‖w‖"], ["low", "low", "at least"], ["high", "high", "at most"]], go);
    this.hard = new Lines("loss-chart", [["hard", "hard", "hard"]], go, { height: 78 });
    this.soft = new Lines("soft-chart", [["soft", "soft", "soft"]], go, { height: 78 });
    this.version = new VersionSpace();
    this.cosine.absent = "no separator to compare with";
  }

  show(situation) {
    const { run } = this, { answer, step, at } = run;
    if (answer !== this.shown) this.draw(answer || NOTHING);
    this.shown = answer;
    this.mark(at, step);
    this.confusion(situation, step);
    if (step) put("step-words", step.words || "");
    else if (!answer) put("step-words", run.busy ? "" : "There is no run of these points with these choices.");
    if (!situation.points.length) put("step-words", "No points yet. Click on the plane to add some.");
    put("end-words", step && step.t > 0 && step.t === run.total && answer.stop ? `· ${sentence(`The end: ${answer.stop.sentence}`)}` : "");
    this.version.show({ points: situation.points, offset: situation.offset, steps: run.steps, at, turn: step?.row ?? -1 });
  }

  /* What holds for the whole run. */
  draw(answer) {
    this.mistakes.show(answer.per_pass);
    for (const chart of [this.cosine, this.norm, this.hard, this.soft]) chart.show(answer.charts, answer.total);
    put("bound", answer.bound ? answer.bound.sentence || "" : "");
    put("counted", answer === NOTHING ? "" : `${counted(answer.mistakes, "mistake")}, ${counted(answer.updates, "update")} in ${counted(answer.passes, "pass", "passes")}`);
  }

  mark(at, step) {
    this.mistakes.mark(at);
    for (const name of ["cosine", "norm", "hard", "soft"]) this[name].mark(at, step ? step[name] : undefined);
  }

  confusion({ classes }, step) {
    put("predicted-positive", classes[1]);
    put("predicted-negative", classes[0]);
    put("truly-positive", `is ${classes[1]}`);
    put("truly-negative", `is ${classes[0]}`);
    for (const name of ["tp", "tn", "fp", "fn"]) put(name, step && step[name] !== undefined && step[name] !== null ? short(step[name]) : "–");
  }
}
