/* Plot: a flat picture of points, straight lines and an arrow on a canvas.

   Lines and boxes are those of geometry.js. Nothing here knows of runs or frames. */

/* The colours of the page, by name, as they are now (light or dark). */
function colours(...names) {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}

class Plot {
  /* aspect: height over width. names: of the axes; null leaves the numbers of an axis out. */
  constructor(canvas, box, { aspect = 1, names = [null, null] } = {}) {
    Object.assign(this, { canvas, box, aspect, names, ctx: canvas.getContext("2d") });
    this.resize();
  }

  /* Follow the width of the page and the density of the screen. */
  resize() {
    const width = this.canvas.clientWidth, density = window.devicePixelRatio || 1;
    this.inner = { left: this.names[1] === null ? 8 : 52, top: 8, bottom: 40 };
    this.inner.width = Math.max(50, width - this.inner.left - 8);
    this.inner.height = Math.round(this.inner.width * this.aspect);
    const height = this.inner.top + this.inner.height + this.inner.bottom;
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(width * density);
    this.canvas.height = Math.round(height * density);
    this.ctx.setTransform(density, 0, 0, density, 0, 0);
    this.colours = colours("card", "ink", "muted", "rule", "positive", "negative", "line", "ring", "average");
    Object.assign(this, { width, height });
  }

  toPixel(x, y) {
    const [left, right, bottom, top] = this.box, { inner } = this;
    return [
      inner.left + (inner.width * (x - left)) / (right - left),
      inner.top + (inner.height * (top - y)) / (top - bottom),
    ];
  }

  /* An empty picture with its axes; what is drawn next stays inside the frame until `end`. */
  begin() {
    const { ctx, inner, colours: ink } = this;
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    this.axis(0);
    if (this.names[1] !== null) this.axis(1);
    ctx.save();
    ctx.beginPath();
    ctx.rect(inner.left, inner.top, inner.width, inner.height);
    ctx.clip();
  }

  end() {
    const { ctx, inner } = this;
    ctx.restore();
    ctx.strokeStyle = this.colours.rule;
    ctx.lineWidth = 1;
    ctx.strokeRect(inner.left + 0.5, inner.top + 0.5, inner.width - 1, inner.height - 1);
  }

  /* Faint lines at round numbers, the numbers and the name: axis 0 across, 1 up. */
  axis(which) {
    const { ctx, inner, colours: ink } = this, [low, high] = this.box.slice(2 * which, 2 * which + 2);
    const length = which ? inner.height : inner.width;
    const right = inner.left + inner.width, below = inner.top + inner.height;
    ctx.strokeStyle = ink.rule;
    ctx.fillStyle = ink.muted;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.55;
    ctx.beginPath();
    const at = roundNumbers(low, high, Math.max(2, length / 90));
    for (const value of at) {
      const [x, y] = this.toPixel(value, value).map((v) => Math.round(v) + 0.5);
      if (which) { ctx.moveTo(inner.left, y); ctx.lineTo(right, y); }
      else { ctx.moveTo(x, inner.top); ctx.lineTo(x, below); }
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
    for (const value of at) {
      const [x, y] = this.toPixel(value, value);
      ctx.textAlign = which ? "right" : "center";
      ctx.textBaseline = which ? "middle" : "top";
      if (which) ctx.fillText(short(value), inner.left - 6, y);
      else ctx.fillText(short(value), x, below + 5);
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "alphabetic";
    const name = this.fitting(this.names[which] || "", length);
    if (!which) ctx.fillText(name, inner.left + inner.width / 2, this.height - 4);
    else {
      ctx.save();
      ctx.translate(11, inner.top + inner.height / 2);
      ctx.rotate(-Math.PI / 2);
      ctx.fillText(name, 0, 0);
      ctx.restore();
    }
  }

  /* A text cut to a width. */
  fitting(text, width) {
    if (this.ctx.measureText(text).width <= width) return text;
    while (text && this.ctx.measureText(text + "…").width > width) text = text.slice(0, -1);
    return text + "…";
  }

  /* Tint both sides of a line in the colours of their classes. */
  sides(line) {
    for (const [sign, colour] of [[1, "positive"], [-1, "negative"]]) {
      const corners = clipSide(line, this.box, sign).map(([x, y]) => this.toPixel(x, y));
      if (corners.length < 3) continue;
      this.ctx.beginPath();
      corners.forEach(([x, y], k) => (k ? this.ctx.lineTo(x, y) : this.ctx.moveTo(x, y)));
      this.ctx.globalAlpha = 0.09;
      this.ctx.fillStyle = this.colours[colour];
      this.ctx.fill();
      this.ctx.globalAlpha = 1;
    }
  }

  /* Draw a line; gives back its ends in pixels, or null if it misses the picture. */
  line(line, { colour = "line", width = 2.5, dash = [] } = {}) {
    const ends = clipLine(line, this.box);
    if (!ends) return null;
    const [p, q] = ends.map(([x, y]) => this.toPixel(x, y)), { ctx } = this;
    ctx.strokeStyle = this.colours[colour];
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(...p);
    ctx.lineTo(...q);
    ctx.stroke();
    ctx.setLineDash([]);
    return [p, q];
  }

  /* The arrow of w: from the middle of the line, in the direction (a, b), of fixed length. */
  arrow({ a, b }, [p, q], label) {
    const { ctx, inner } = this, [left, right, bottom, top] = this.box;
    let u = (a * inner.width) / (right - left), v = (-b * inner.height) / (top - bottom);
    const size = Math.hypot(u, v), length = Math.min(90, inner.width / 5);
    u /= size; v /= size;
    const x = (p[0] + q[0]) / 2, y = (p[1] + q[1]) / 2;
    const tip = [x + length * u, y + length * v], neck = [tip[0] - 11 * u, tip[1] - 11 * v];
    ctx.strokeStyle = ctx.fillStyle = this.colours.line;
    ctx.lineWidth = 2.5;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(...neck);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(...tip);
    ctx.lineTo(neck[0] - 5.5 * v, neck[1] + 5.5 * u);
    ctx.lineTo(neck[0] + 5.5 * v, neck[1] - 5.5 * u);
    ctx.fill();
    this.text(label, tip[0] + 11 * u, tip[1] + 11 * v, { bold: true });
  }

  /* Text with a halo or on a plate, so that it can be read on anything. */
  text(words, x, y, { bold = false, boxed = false } = {}) {
    const { ctx, inner } = this;
    ctx.font = `${bold ? "bold 15px" : "14px"} system-ui, 'DejaVu Sans', sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    const half = ctx.measureText(words).width / 2 + 6;
    x = Math.min(Math.max(x, inner.left + half), inner.left + inner.width - half);
    y = Math.min(Math.max(y, inner.top + 12), inner.top + inner.height - 12);
    if (boxed) {
      ctx.globalAlpha = 0.88;
      ctx.fillStyle = this.colours.card;
      ctx.fillRect(x - half, y - 12, 2 * half, 24);
      ctx.globalAlpha = 1;
    }
    ctx.lineWidth = 4;
    ctx.lineJoin = "round";
    ctx.strokeStyle = this.colours.card;
    ctx.strokeText(words, x, y);
    ctx.fillStyle = this.colours.ink;
    ctx.fillText(words, x, y);
  }

  /* Rows: squares for label > 0, circles for the others; a dark edge for the wrong ones.
     points: [{x, y, label, wrong, faint}]. Few paths, so that a thousand rows stay quick. */
  points(points) {
    const groups = new Map();
    for (const point of points) {
      const key = `${point.label > 0 ? "positive" : "negative"} ${point.faint ? 0 : point.wrong ? 2 : 1}`;
      if (!groups.has(key)) groups.set(key, new Path2D());
      this.mark(groups.get(key), point);
    }
    const { ctx } = this;
    for (const key of [...groups.keys()].sort((a, b) => a.slice(-1) - b.slice(-1))) {
      const [colour, level] = key.split(" "), path = groups.get(key);
      ctx.globalAlpha = [0.25, 0.7, 1][level];
      ctx.fillStyle = this.colours[colour];
      ctx.fill(path);
      ctx.globalAlpha = 1;
      if (level !== "2") continue;
      ctx.strokeStyle = this.colours.ink;
      ctx.lineWidth = 1.8;
      ctx.stroke(path);
    }
  }

  mark(path, { x, y, label }, size = 4.6) {
    const [u, v] = this.toPixel(x, y);
    if (label > 0) { path.rect(u - 0.9 * size, v - 0.9 * size, 1.8 * size, 1.8 * size); return; }
    path.moveTo(u + size, v);
    path.arc(u, v, size, 0, 2 * Math.PI);
  }

  ring({ x, y }) {
    const [u, v] = this.toPixel(x, y), { ctx } = this;
    for (const [colour, width] of [["card", 6], ["ring", 3]]) {
      ctx.strokeStyle = this.colours[colour];
      ctx.lineWidth = width;
      ctx.beginPath();
      ctx.arc(u, v, 11, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }
}
