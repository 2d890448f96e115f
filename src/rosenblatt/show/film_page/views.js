/* Views: where the rows and the line of a frame stand in the picture. */

/* Arrays come as {type, shape, bytes}: little-endian numbers in base64. */
function unpacked(key, value) {
  if (!value || typeof value.bytes !== "string") return value;
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(value.bytes) : decoded(value.bytes);
  const kinds = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i1: Int8Array };
  const array = new kinds[value.type](bytes.buffer);
  array.columns = value.shape[1] || 1;
  return array;
}

/* The same for browsers before 2025. */
function decoded(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes;
}

function row(array, k) {
  return array.subarray(k * array.columns, (k + 1) * array.columns);
}

function dot(u, v) {
  let sum = 0;
  for (let j = 0; j < u.length; j++) sum += u[j] * v[j];
  return sum;
}

/* ------------------------------------------------------------- where things are drawn */

/* One or two features: the rows stand still and the line moves. With one feature the height
   only keeps rows apart: classes above and below, spread by the golden ratio. */
class Still {
  constructor(data) {
    this.data = data;
    this.single = data.kind === "line";
    const { x, y } = data.rows;
    this.places = Array.from(y, (label, i) => this.place(row(x, i), label, data.rows.row[i]));
  }
  place(x, label, number) {
    if (!this.single) return { x: x[0], y: x[1] };
    return { x: x[0], y: label * (0.25 + 0.5 * ((number * 0.618033988749895) % 1)) };
  }
  line(k) { return this.flat(row(this.data.frames.w, k), this.data.frames.b[k]); }
  average(k) {
    const { averageW, averageB } = this.data.frames;
    return averageW ? this.flat(row(averageW, k), averageB[k]) : null;
  }
  flat(w, b) { return { a: w[0], b: this.single ? 0 : w[1], c: b }; }
  turn() {}
  point(i) { return this.places[i]; }
  visited(k) {
    const { visited, label, row: number } = this.data.frames;
    return this.place(row(visited, k), label[k], number[k]);
  }
}

/* More features: across, along the frame's own w; up, along the part of a fixed direction
   that is orthogonal to w. The line stands upright at -(b + w.c) / ||w||. */
class Turning {
  constructor(data) { this.data = data; }
  turn(k) {
    const { norm, upW } = this.data.frames, up = row(upW, k), n = norm[k] || 1;
    const cos = [up[0] / n, up[1] / n];
    this.which = 1 - cos[0] ** 2 >= 0.05 ** 2 ? 0 : 1;
    this.cos = cos[this.which];
    this.sine = Math.sqrt(Math.max(1 - this.cos ** 2, 1e-300));
    this.norm = norm[k] ? norm[k] : Infinity;
    this.w = row(this.data.frames.w, k);
  }
  place(along, up) {
    const x = along / this.norm;
    return { x, y: (up[this.which] - this.cos * x) / this.sine };
  }
  line(k) { return { a: this.data.frames.norm[k], b: 0, c: this.data.frames.b[k] }; }
  average() { return null; }
  point(i) { return this.place(dot(row(this.data.rows.x, i), this.w), row(this.data.rows.upX, i)); }
  visited(k) {
    const [along, ...up] = row(this.data.frames.visited, k);
    return this.place(along, up);
  }
}
