/* Page: short names for what all parts do with the document. */

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

/* A message about one matter; it goes when that matter is well again, or when it is closed. */
const messages = new Map();
export function complain(matter, text) {
  if (text) messages.set(matter, text);
  else messages.delete(matter);
  showMessages();
}
function showMessages() {
  const all = [...new Set(messages.values())].join(" ");
  byId("message").hidden = !all;
  const place = byId("message").firstElementChild;
  if (place.textContent !== all) place.textContent = all;
}
byId("message-close").addEventListener("click", () => { messages.clear(); showMessages(); });

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
