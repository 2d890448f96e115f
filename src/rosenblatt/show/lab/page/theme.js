/* Theme: light, dark, or as the system says. The dark colours stand in one media rule of the shared
   sheet; the choice of the reader is written into its condition. */

import { byId } from "./page.js";

const CONDITIONS = { system: "(prefers-color-scheme: dark)", light: "not all", dark: "all" };
const NAMES = { system: "as the system", light: "light", dark: "dark" };

let chosen = "system";

export function chooseTheme(name) {
  chosen = name in CONDITIONS ? name : "system";
  for (const id of ["colours", "looks"]) {
    for (const rule of byId(id).sheet.cssRules) if (rule instanceof CSSMediaRule && rule.cssText.includes("--page")) rule.media.mediaText = CONDITIONS[chosen];
  }
  document.documentElement.style.colorScheme = chosen === "system" ? "light dark" : chosen;
  byId("theme").setAttribute("aria-label", `Colours: ${NAMES[chosen]}`);
  byId("theme").title = `Colours: ${NAMES[chosen]}`;
  try { localStorage.setItem("lab-theme", chosen); } catch { /* not kept, then */ }
}

export function listenToTheme() {
  let kept = "system";
  try { kept = localStorage.getItem("lab-theme") || "system"; } catch { /* nothing kept */ }
  chooseTheme(kept);
  byId("theme").addEventListener("click", () => {
    const order = matchMedia(CONDITIONS.system).matches ? ["system", "light", "dark"] : ["system", "dark", "light"];
    chooseTheme(order[(order.indexOf(chosen) + 1) % 3]);
  });
}
