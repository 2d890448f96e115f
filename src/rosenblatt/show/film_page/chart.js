/* The cosine over the frames, the passes as bands, a cycle as a bracket, and where we are. */
class Chart {
  constructor(canvas, data) {
    Object.assign(this, { canvas, data, ctx: canvas.getContext("2d") });
    this.resize();
  }

  resize() {
    const density = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * density);
    this.canvas.height = Math.round(this.height * density);
    this.ctx.setTransform(density, 0, 0, density, 0, 0);
    this.colours = colours("ink", "muted", "rule", "ring", "average");
    this.curve = this.path();
  }

  x(k) { return 8 + ((this.width - 16) * k) / Math.max(1, this.data.frames.update.length - 1); }
  y(value) { return this.height - 4 - ((this.height - 10) * (value - this.low)) / (1 - this.low); }

  path() {
    const { cosine } = this.data.frames, path = new Path2D();
    this.low = cosine.reduce((low, v) => (v < low ? v : low), 0);
    let pen = false;
    cosine.forEach((value, k) => {
      if (Number.isNaN(value)) { pen = false; return; }
      if (pen) path.lineTo(this.x(k), this.y(value)); else path.moveTo(this.x(k), this.y(value));
      pen = true;
    });
    return path;
  }

  draw(k) {
    const { ctx, data, colours: ink } = this, passes = data.frames.pass;
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.fillStyle = ink.rule;
    ctx.globalAlpha = 0.45;
    const bands = passes[passes.length - 1] <= 60; // more would only flicker
    for (let j = 1, from = 1; bands && j <= passes.length; j++) {
      if (passes[j] === passes[from]) continue;
      if (passes[from] % 2) ctx.fillRect(this.x(from - 0.5), 0, this.x(j - 0.5) - this.x(from - 0.5), this.height);
      from = j;
    }
    ctx.globalAlpha = 1;
    if (data.cycle) this.bracket(...data.cycle);
    ctx.fillStyle = ink.muted;
    ctx.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    ctx.textAlign = "right";
    ctx.fillText("cosine", this.width - 12, this.height - 7);
    ctx.strokeStyle = ink.muted;
    ctx.lineWidth = 1.5;
    ctx.stroke(this.curve);
    ctx.strokeStyle = ctx.fillStyle = ink.ring;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(this.x(k), 0);
    ctx.lineTo(this.x(k), this.height);
    ctx.stroke();
    const value = data.frames.cosine[k];
    if (Number.isNaN(value)) return;
    ctx.beginPath();
    ctx.arc(this.x(k), this.y(value), 4, 0, 2 * Math.PI);
    ctx.fill();
  }

  bracket(from, to) {
    const { ctx } = this;
    ctx.strokeStyle = this.colours.average;
    ctx.lineWidth = 3;
    ctx.beginPath();
    ctx.moveTo(this.x(from), 10);
    ctx.lineTo(this.x(from), 2);
    ctx.lineTo(this.x(to), 2);
    ctx.lineTo(this.x(to), 10);
    ctx.stroke();
  }
}
