/* Address: the situation in the hash of the page's address, which no server sees.

   "z" and deflated JSON in base64url, or "j" and the JSON itself where a browser cannot deflate. */

import { readSituation } from "./situation.js";

export async function toHash(situation) {
  const bytes = new TextEncoder().encode(JSON.stringify(situation));
  if (typeof CompressionStream === "undefined") return "j" + toText(bytes);
  return "z" + toText(await through(bytes, new CompressionStream("deflate-raw")));
}

/* The situation of a hash; an Error says why there is none. */
export async function fromHash(hash) {
  const kind = hash[0];
  let text;
  try {
    if (kind !== "z" && kind !== "j") throw new Error("unknown");
    let bytes = fromText(hash.slice(1));
    if (kind === "z") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
    text = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("it is cut off or changed");
  }
  return readSituation(text);
}

async function through(bytes, stream) {
  const writer = stream.writable.getWriter();
  writer.write(bytes).catch(() => {}); // the reader hears of it
  writer.close().catch(() => {});
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

function toText(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromText(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}

/* Keeps the address up to date, a moment after the last change. */
export class Address {
  constructor(store) {
    this.store = store;
    this.timer = null;
    store.listen(() => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.write(), 300);
    });
  }

  async write() {
    clearTimeout(this.timer);
    this.timer = null;
    const written = "#" + (await toHash(this.store.now));
    if (this.timer === null) history.replaceState(null, "", written);
    return location.href;
  }
}
