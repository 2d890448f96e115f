/* Keys: what the keyboard does anywhere on the page. */

import { byId } from "./page.js";

export function listenToKeys({ store, player, hands, tours }) {
  const acts = {
    " ": () => player.toggle(),
    ArrowRight: (e) => (e.shiftKey ? player.pass(1) : player.go(player.run.at + 1)),
    ArrowLeft: (e) => (e.shiftKey ? player.pass(-1) : player.go(player.run.at - 1)),
    Home: () => player.go(0),
    End: () => player.go(player.run.total),
    "+": () => hands.choose("positive"),
    "-": () => hands.choose("negative"),
    0: () => hands.fit(),
    p: () => byId("plane").focus(),
    n: () => tours.tour && tours.next(),
    b: () => tours.tour && tours.go(tours.step - 1),
    "?": () => byId("keys").showModal(),
  };
  document.addEventListener("keydown", (e) => {
    if (document.querySelector("dialog[open]")) return;
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "z" && !typing(e.target)) {
      e.preventDefault();
      if (e.shiftKey) store.redo(); else store.undo();
      return;
    }
    if (e.ctrlKey && e.key.toLowerCase() === "y" && !typing(e.target)) { e.preventDefault(); store.redo(); return; }
    if (e.ctrlKey || e.metaKey || e.altKey || belongs(e)) return;
    const act = acts[e.key];
    if (!act) return;
    e.preventDefault();
    act(e);
  });
}

/* A list that was chosen from with the pointer gives the arrow keys back to the motion. */
export function freeLists() {
  let pointed = false;
  document.addEventListener("pointerdown", () => { pointed = true; }, true);
  document.addEventListener("keydown", () => { pointed = false; }, true);
  document.addEventListener("change", (e) => { if (pointed && e.target.matches("select")) e.target.blur(); });
}

function typing(element) { return element.matches("input:not([type=checkbox]):not([type=range]), textarea"); }

/* A field needs its own keys; a button or a tick box needs the space. */
function belongs(e) {
  const { target, key } = e;
  if (typing(target) || target.matches("select")) return true;
  if (target.id === "scrub") return false;
  return key === " " && target.matches("button, input, a, summary, label");
}
