/* Page: short names for what all parts do with the document. */

/* global short */

export const byId = (id) => document.getElementById(id);
export const put = (id, text) => {
  const place = byId(id);
  if (place.textContent !== text) place.textContent = text;
};

/* An element of SVG with attributes. */
export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(made, attributes);
  made.append(...children);
  return made;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/* The options of a select: texts, or [value, text] pairs. */
export function fill(select, options) {
  const kept = select.value;
  select.replaceChildren(...options.map((o) => (Array.isArray(o) ? new Option(o[1], o[0]) : new Option(o, o))));
  if ([...select.options].some((o) => o.value === kept)) select.value = kept;
}

/* Choose a value, adding it where it is not among the options. */
export function choose(select, value) {
  if (![...select.options].some((o) => o.value === value)) select.add(new Option(value, value));
  if (select.value !== value) select.value = value;
}

export const counted = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/* A number at an axis: a large or a tiny one as 2e6, so that it is not cut off. */
export function tick(value) {
  const size = Math.abs(value);
  if (size === 0 || (size < 1e5 && size >= 1e-3)) return short(value);
  return Number(value.toPrecision(3)).toExponential().replace("e+", "e").replace(/^-/, "−");
}

/* A message about one matter, the newest only. It goes when that matter is well again, when something
   else was done (allWell), or when it is closed. */
let about = null;
export function complain(matter, text) {
  if (text) showMessage(matter, text);
  else if (about === matter) showMessage(null, "");
}
export function allWell() { showMessage(null, ""); }
/* What an Error says; that the server is away is a matter of its own, until it answers. */
export function fail(matter, error) { complain(error.away ? "server" : matter, error.message); }
function showMessage(matter, text) {
  about = matter;
  byId("message").hidden = !text;
  const place = byId("message").firstElementChild;
  if (place.textContent !== text) place.textContent = text;
}
byId("message-close").addEventListener("click", allWell);

/* A text as a sentence: with a capital and a full stop. */
export function sentence(text) {
  const said = text.trim();
  return said && `${said[0].toUpperCase()}${said.slice(1)}${/[.!?]$/.test(said) ? "" : "."}`;
}

/* Give the reader a file. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/* Copy a text; false where the browser does not allow it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
