/* Server: asks the lab's own server, and says in a sentence what went wrong. */

import { complain } from "./page.js";

let underWay = 0;
export const busy = () => underWay > 0;

/* An answer of the server: its JSON, or an Error whose message is a sentence for people. */
export async function ask(path, body, { type = "application/json", as = "json" } = {}) {
  underWay += 1;
  try {
    const sent = body === undefined ? {} : { method: "POST", body, headers: { "Content-Type": type } };
    let answer;
    try {
      answer = await fetch(path, { ...sent, cache: "no-store", credentials: "omit" });
    } catch {
      throw Object.assign(new Error("The lab's server does not answer. Is `rosenblatt lab` still running? Nothing is lost: points and settings are kept in this page and in its address."), { away: true });
    }
    complain("server", null);
    if (!answer.ok) throw Object.assign(new Error(await complaint(answer)), { refused: answer.status >= 400 && answer.status < 500 });
    if (as === "blob") return await answer.blob();
    try {
      return await answer.json();
    } catch {
      throw new Error(`The answer to ${path} could not be read. Try again, or start the lab anew.`);
    }
  } finally {
    underWay -= 1;
  }
}

export const post = (path, value, options) => ask(path, JSON.stringify(value), options);

async function complaint(answer) {
  try {
    const { error } = await answer.json();
    if (typeof error === "string") return error;
  } catch { /* not JSON: told below */ }
  return `The server answered ${answer.status} ${answer.statusText}. Try again.`;
}

/* One request at a time, the newest wins: those asked for in between are never sent. */
export class Latest {
  constructor(work) { Object.assign(this, { work, waiting: null, running: false }); }

  get busy() { return this.running || this.waiting !== null; }

  ask(...input) {
    this.waiting = input;
    if (!this.running) this.loop();
  }

  async loop() {
    this.running = true;
    while (this.waiting) {
      const input = this.waiting;
      this.waiting = null;
      await this.work(...input);
    }
    this.running = false;
  }
}
