/* Exports: the picture, the points, the film and the Python lines, as files. */

import { post } from "./server.js";
import { likelyPositive } from "./data.js";
import { allWell, byId, copy, drawn, fail, save } from "./page.js";

const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linecap", "stroke-linejoin", "opacity", "paint-order", "font-family", "font-size", "font-weight", "font-style", "visibility", "display"];

export class Exports {
  constructor(store, plane) {
    Object.assign(this, { store, plane });
    this.on("svg", async () => save(new Blob([svgText(plane)], { type: "image/svg+xml" }), "lab.svg"));
    this.on("png", async () => save(await pngOf(plane), "lab.png"));
    this.on("csv", async () => save(new Blob([csvText(store.now)], { type: "text/csv" }), "lab.csv"));
    this.on("film", async () => save(await post("/api/film", { situation: told(store.now) }, { as: "blob" }), "lab_film.html"));
    this.on("python", () => this.python());
    byId("python-copy").addEventListener("click", async () => {
      byId("python-copy").textContent = (await copy(this.lines)) ? "Copied" : "Select the text to copy it";
    });
    byId("python-save").addEventListener("click", () => save(new Blob([this.lines], { type: "text/x-python" }), "lab.py"));
  }

  on(kind, act) {
    const button = byId(`export-${kind}`);
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        await act();
        allWell();
      } catch (error) {
        fail("export", error);
      }
      button.disabled = false;
    });
  }

  async python() {
    this.lines = (await post("/api/python", { situation: told(this.store.now) })).python;
    byId("python-text").textContent = this.lines;
    byId("python-copy").textContent = "Copy";
    byId("python").showModal();
  }
}

function told({ view, tour, ...situation }) { return situation; }

/* The picture with its looks written into it, so that it needs no style sheet. */
export function svgText(plane) {
  const { svg } = plane, copied = svg.cloneNode(true), { width, height } = plane.view;
  const from = svg.querySelectorAll("*"), to = copied.querySelectorAll("*");
  from.forEach((element, k) => {
    if (!["g", "path", "rect", "circle", "text"].includes(element.localName)) return;
    const style = getComputedStyle(element);
    for (const look of LOOKS) to[k].setAttribute(look, style.getPropertyValue(look));
    for (const name of ["class", "tabindex", "role", "aria-label"]) to[k].removeAttribute(name);
  });
  for (const extra of copied.querySelectorAll("#tip, [data-handle], [r='13'][fill='rgba(0, 0, 0, 0)']")) extra.remove();
  for (const name of ["id", "class", "tabindex", "role", "style", "data-mode"]) copied.removeAttribute(name);
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--card").trim();
  copied.prepend(drawn("rect", { width, height, fill: paper }));
  copied.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copied.setAttribute("width", width);
  copied.setAttribute("height", height);
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copied);
}

/* The same picture in pixels, two for one. */
async function pngOf(plane) {
  const address = URL.createObjectURL(new Blob([svgText(plane)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * plane.view.width;
    canvas.height = 2 * plane.view.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (!blob) throw new Error("The browser could not make a PNG of the picture. Take the SVG.");
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/* One line for each point, with all digits. Where the values do not tell which class is the positive
   one, the name of their column does. */
export function csvText({ points, names, classes }) {
  const plain = ["class", "label", "target"].find((name) => !names.includes(name));
  const rows = points.map(([x, y, sign]) => [x, y, classes[sign > 0 ? 1 : 0]]);
  const values = [...new Set(rows.map((row) => row[2]))], plainly = !values.includes(classes[1]) || likelyPositive(values) === classes[1];
  const label = plainly ? plain : `${plain} (positive: ${classes[1]})`;
  return [[...names, label], ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

function quoted(value) {
  const text = String(value);
  return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
