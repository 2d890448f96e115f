/* Store: the present situation, what it was before (undo), and who wants to know. */

import { EMPTY, RUN, sameRun } from "./situation.js";

const MOST = 200; // steps of undo

export class Store {
  constructor() {
    this.now = EMPTY;
    this.past = [];
    this.future = [];
    this.listeners = [];
  }

  listen(listener) { this.listeners.push(listener); }

  tell(before, why) { for (const listener of this.listeners) listener(this.now, before, why); }

  /* Change the situation, so that it can be undone. Changes of one `group` in a row (a drag) are
     undone together. */
  change(parts, { group = null } = {}) {
    const before = this.now;
    if (group === null || group !== this.group) {
      this.past.push(before);
      if (this.past.length > MOST) this.past.shift();
    }
    this.group = group;
    this.future = [];
    this.now = { ...before, ...parts };
    this.tell(before, "change");
  }

  /* A drag is over: the next change of the same kind is one of its own. */
  endGroup() { this.group = null; }

  /* A drag is given up: as before it. */
  cancelGroup() {
    if (this.group === null || !this.past.length) return;
    const before = this.now, { view, tour } = before;
    this.group = null;
    this.now = { ...this.past.pop(), view, tour };
    this.tell(before, "travel");
  }

  /* Look elsewhere: position, view, tour. Nothing to undo. */
  look(parts) {
    const before = this.now;
    this.now = { ...before, ...parts };
    this.tell(before, "look");
  }

  /* Back to what decides a run that is on the screen; the change that led away from it is no step of
     undo. */
  revert(situation) {
    const before = this.now, last = this.past.at(-1), { view, tour } = before;
    this.group = null;
    if (last && sameRun(last, situation)) this.now = { ...this.past.pop(), view, tour };
    else for (const part of RUN) this.now = { ...this.now, [part]: situation[part] };
    this.tell(before, "revert");
  }

  /* Another situation altogether. */
  replace(situation) { this.change({ ...situation }); }

  undo() { this.travel(this.past, this.future); }
  redo() { this.travel(this.future, this.past); }

  travel(from, to) {
    if (!from.length) return;
    const before = this.now, { view, tour } = before;
    to.push(before);
    this.group = null;
    this.now = { ...from.pop(), view, tour };
    this.tell(before, "travel");
  }
}
