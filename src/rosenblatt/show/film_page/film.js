/* Film: plays the frames of a run. Numbers come from the page's data; drawing is Plot's. */

class Film {
  constructor(data) {
    this.data = data;
    this.n = data.frames.update.length;
    this.k = 0;
    this.playing = false;
    this.view = data.kind === "projection" ? new Turning(data) : new Still(data);
    this.plot = new Plot(byId("picture"), data.box, axes(data));
    this.chart = new Chart(byId("chart"), data);
    this.tell();
    this.listen();
    this.show(this.startFrame());
  }

  /* A page opened with #12 begins at update 12. */
  startFrame() {
    const wanted = Number(location.hash.slice(1));
    return wanted > 0 ? this.frameOf(wanted) : 0;
  }

  /* The last frame shown that is not after this update. */
  frameOf(update) {
    const after = this.data.frames.update.findIndex((u) => u > update);
    return after < 0 ? this.n - 1 : Math.max(0, after - 1);
  }

  /* ---- one frame */

  show(k) {
    this.k = Math.min(Math.max(k, 0), this.n - 1);
    this.draw();
    this.write();
    this.chart.draw(this.k);
    if (!this.playing) this.say();
  }

  score(i, k) {
    const { rows, frames } = this.data;
    return dot(row(rows.x, i), row(frames.w, k)) + frames.b[k];
  }

  /* Whether the frame before this one is the update before this one. */
  follows(k) {
    return k > 0 && this.data.frames.update[k] === this.data.frames.update[k - 1] + 1;
  }

  draw() {
    const { data, plot, view, k } = this, { rows, frames } = data;
    const moved = data.batch && this.follows(k) ? (i) => this.movedBy(i, k - 1) : () => false;
    view.turn(k);
    if (frames.reach) {
      const [right, top] = row(frames.reach, k);
      plot.box = [-right, right, -top, top];
    }
    const points = [];
    let wrong = 0, visits = 0;
    for (let i = 0; i < rows.y.length; i++) {
      const faint = rows.held[i] === 1, bad = !faint && rows.y[i] * this.score(i, k) <= 0;
      const ringed = !faint && moved(i);
      if (!faint) visits++;
      if (bad) wrong++;
      points.push({ ...view.point(i), label: rows.y[i], wrong: bad, faint, ringed });
    }
    const line = view.line(k), some = line.a !== 0 || line.b !== 0;
    plot.begin();
    if (some) plot.sides(line);
    if (!view.norm && this.follows(k)) plot.line(view.line(k - 1), { colour: "muted", width: 1.5, dash: [6, 5] });
    const average = view.average(k);
    if (average) plot.line(average, { colour: "average", dash: [12, 4] });
    const shown = frames.row[k] >= 0 ? { ...view.visited(k), label: frames.label[k], wrong: frames.after[k] <= 0 } : null;
    if (shown) points.push(shown);
    this.ends = some ? plot.line(line) : null;
    plot.points(points);
    for (const point of points) if (point.ringed) plot.ring(point);
    if (shown) { plot.ring(shown); plot.points([shown]); }
    if (this.ends) plot.arrow(line, this.ends, "w");
    else this.absent(line, some);
    plot.end();
    Object.assign(this, { line, wrong, visits });
  }

  /* Whether a row was among those that a batch step after frame k answered. */
  movedBy(i, k) {
    const { tau, tie, rows } = this.data, y = rows.y[i], z = y * this.score(i, k);
    if (tau > 0) return z <= tau;
    return z < 0 || (z === 0 && (tie === "mistake" || tie === "half" || (tie === "positive" && y < 0)));
  }

  /* Why there is no line in the picture. */
  absent(line, some) {
    const { inner, box } = this.plot;
    const side = line.a * (box[0] + box[1]) / 2 + line.b * (box[2] + box[3]) / 2 + line.c >= 0 ? 1 : 0;
    const where = some ? "hyperplane outside the picture" : "w = 0: no hyperplane";
    const words = where + (line.c === 0 && !some ? "" : `, all on the side of ${this.data.classes[side]}`);
    this.plot.text(this.plot.fitting(words, inner.width - 90), inner.left + inner.width / 2, inner.top + 18, { boxed: true });
  }

  /* ---- the numbers */

  /* What holds for the whole film. */
  tell() {
    const { data } = this, { words, totals, classes } = data;
    put("title", data.title);
    put("run", words.run);
    put("positive", classes[1] + " (+1)");
    put("negative", classes[0] + " (−1)");
    put("updates", "of " + totals.updates.toLocaleString("en"));
    put("passes", "of " + totals.passes.toLocaleString("en"));
    put("visits", totals.visits === null ? "" : "of " + totals.visits.toLocaleString("en"));
    put("against", "to " + data.against);
    put("notes", words.notes);
    put("drawn", drawnWords(data));
    byId("turned").hidden = !data.frames.cosine.some((v) => v === v);
    byId("visiting").hidden = data.batch;
    byId("averaged").hidden = !data.frames.averageW;
    byId("ghostly").hidden = data.kind === "projection";
    if (data.batch) put("ringed", "the rows of this step");
    byId("bounded").hidden = !data.bound;
    const slider = byId("slider");
    slider.max = this.n - 1;
    const speeds = [1, 2, 5, 10, 25, 60, 250, 1000];
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const usual = calm ? 1 : speeds.find((s) => s > 1 && this.n / s <= 30) || 1000;
    for (const s of speeds) byId("speed").add(new Option(`${s} a second`, s, s === usual, s === usual));
  }

  write() {
    const { data, k } = this, { frames, totals } = data;
    put("update", frames.update[k].toLocaleString("en"));
    put("pass", frames.pass[k].toLocaleString("en"));
    put("visit", short(frames.visit[k]));
    if (Number.isInteger(frames.visit[k])) put("visit", frames.visit[k].toLocaleString("en"));
    put("mistakes", frames.mistakes[k].toLocaleString("en"));
    put("example", this.exampleWords(k));
    const one = frames.row[k] >= 0;
    put("margin", one ? `y·score ${short(frames.before[k])} → ${short(frames.after[k])}` : "");
    put("weights", this.weightWords(k));
    put("wrong", `${this.wrong} of ${this.visits} rows drawn are not on their side`);
    put("cosine", short(frames.cosine[k]));
    this.writeBound(k);
    const slider = byId("slider");
    slider.value = k;
    slider.setAttribute("aria-valuetext", `update ${frames.update[k]} of ${totals.updates}`);
    byId("picture").setAttribute("aria-label", this.pictureWords(k));
    byId("first").disabled = byId("back").disabled = k === 0;
    byId("last").disabled = byId("forward").disabled = k === this.n - 1;
  }

  exampleWords(k) {
    const { frames, classes, batch } = this.data;
    if (k === 0) return "None yet: this is the start.";
    if (batch) {
      const before = this.follows(k) ? frames.mistakes[k - 1] : null;
      const many = before === null ? "all" : String(frames.mistakes[k] - before);
      return `A batch step: ${many} misclassified rows at once.`;
    }
    const label = frames.label[k] > 0 ? 1 : 0;
    return `Row ${frames.row[k]}, class ${classes[label]} (${label ? "+1" : "−1"})`;
  }

  weightWords(k) {
    const { frames, kind } = this.data, w = Array.from(row(frames.w, k), short);
    const b = `b = ${short(frames.offset[k])}`;
    const rest = `${b}, ‖w‖ = ${short(frames.norm[k])}`;
    return kind === "projection" ? rest : `w = ${w.length > 1 ? `(${w.join(", ")})` : w[0]}\n${rest}`;
  }

  writeBound(k) {
    const { bound, frames } = this.data;
    if (!bound) return;
    byId("bar").hidden = bound.most === null;
    put("boundwhy", bound.why || "");
    if (bound.most === null) { put("bound", "None."); return; }
    const made = bound.counted === "mistakes" ? frames.mistakes[k] : frames.update[k];
    const facts = bound.gamma === null || bound.name !== "Novikoff" ? "" : `, R = ${short(bound.radius)}, γ = ${short(bound.gamma)}`;
    put("boundname", `Bound: ${bound.name}`);
    put("bound", `${made.toLocaleString("en")} of at most ${bound.most.toLocaleString("en")} ${bound.counted}`);
    put("boundwhy", bound.why || signs(bound.formula) + facts);
    byId("bar").firstElementChild.style.width = `${(100 * made) / Math.max(1, bound.most)}%`;
  }

  pictureWords(k) {
    const { classes, frames } = this.data;
    return `Rows of ${classes[1]} (squares) and ${classes[0]} (circles), and the hyperplane after update ${frames.update[k]}. ${this.exampleWords(k)}`;
  }

  /* One sentence below the controls; read aloud, so not while playing. */
  say() {
    const { words, cycle, frames } = this.data, { k } = this;
    if (cycle && k === cycle[1]) put("status", `The same weights as ${cycle[0] ? `after update ${frames.update[cycle[0]]}` : "at the start"}. ${words.cycle}`);
    else if (k === this.n - 1) put("status", `End: ${words.end} ${words.kept}`);
    else if (k === 0) put("status", "The start. Press play.");
    else if (cycle && k === cycle[0]) put("status", "To these weights the run will come back.");
    else put("status", `After update ${frames.update[k]}, in pass ${frames.pass[k]}.`);
  }

  /* ---- playing */

  play() {
    if (this.k === this.n - 1) this.show(0);
    this.setPlaying(true);
    let before = null, due = 0;
    const step = (now) => {
      if (!this.playing) return;
      due += before === null ? 0 : ((now - before) / 1000) * Number(byId("speed").value);
      before = now;
      const whole = Math.floor(due);
      due -= whole;
      if (this.k + whole >= this.n - 1) this.setPlaying(false);
      if (whole) this.show(this.k + whole);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  pause() {
    this.setPlaying(false);
    this.say();
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  setPlaying(on) {
    this.playing = on;
    const button = byId("play");
    button.classList.toggle("playing", on);
    button.setAttribute("aria-label", on ? "Pause" : "Play");
    if (on) put("status", "");
  }

  /* A step by hand stops the film. */
  go(k) {
    if (this.playing) this.setPlaying(false);
    this.show(k);
  }

  faster(by) {
    const speed = byId("speed");
    speed.selectedIndex = Math.min(Math.max(speed.selectedIndex + by, 0), speed.length - 1);
  }

  listen() {
    const press = (id, action) => byId(id).addEventListener("click", action);
    press("first", () => this.go(0));
    press("back", () => this.go(this.k - 1));
    press("play", () => this.toggle());
    press("forward", () => this.go(this.k + 1));
    press("last", () => this.go(this.n - 1));
    byId("slider").addEventListener("input", (e) => this.go(Number(e.target.value)));
    document.addEventListener("keydown", (e) => this.key(e));
    const again = () => { this.plot.resize(); this.chart.resize(); this.draw(); this.chart.draw(this.k); };
    new ResizeObserver(() => { if (byId("picture").clientWidth !== this.plot.width) again(); }).observe(byId("stage"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  }

  key(e) {
    if (e.altKey || e.ctrlKey || e.metaKey || e.target.tagName === "SELECT") return;
    if (e.key === " " && e.target.tagName === "BUTTON") return; // the button's own key
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.go(this.k - 1),
      ArrowRight: () => this.go(this.k + 1),
      PageUp: () => this.go(this.k - 10),
      PageDown: () => this.go(this.k + 10),
      Home: () => this.go(0),
      End: () => this.go(this.n - 1),
      "+": () => this.faster(1),
      "-": () => this.faster(-1),
    };
    if (!actions[e.key]) return;
    e.preventDefault();
    actions[e.key]();
  }

  /* What is shown, for whoever drives the page. */
  state() {
    const { data, k, line, ends, wrong, playing } = this, { frames } = data;
    const names = ["update", "pass", "visit", "mistakes", "row", "label", "before", "after", "offset", "norm", "cosine"];
    const numbers = Object.fromEntries(names.map((name) => [name, frames[name][k]]));
    return { frame: k, frames: this.n, playing, line, ends, wrong, ...numbers };
  }
}

/* ---------------------------------------------------------------------------- words */

function byId(id) { return document.getElementById(id); }

/* Text only: nothing that comes from data is ever read as HTML. */
function put(id, words) {
  const element = byId(id);
  if (element.textContent !== words) element.textContent = words;
}

/* R^2 / gamma^2 as it is written by hand. */
function signs(formula) {
  return formula.replaceAll("^2", "²").replaceAll("gamma", "γ").replaceAll("sqrt", "√").replaceAll("tau", "τ").replaceAll("eta", "η");
}

function axes({ kind, features }) {
  if (kind === "line") return { aspect: 0.4, names: [features[0], null] };
  if (kind === "plane") return { aspect: 1, names: features };
  return { aspect: 0.75, names: ["along w", "across w"] };
}

function drawnWords({ kind, box, rows, totals }) {
  const n = rows.y.length, all = n === totals.rows ? `All ${n}` : `${n} of ${totals.rows.toLocaleString("en")}`;
  const held = rows.held.includes(1) ? " Pale ones were held out and never visited." : "";
  const many = `${all} rows are drawn.${held} `;
  const alike = Math.abs((box[1] - box[0]) / (box[3] - box[2]) - 1) < 1e-9;
  const how = {
    line: "There is one feature, from left to right; the height only keeps rows apart. The hyperplane is a point, drawn as an upright line.",
    plane: "The two features are drawn as they are." + (alike ? "" : " The axes have different scales, so w does not look perpendicular to the line."),
    projection: `There are ${totals.features.toLocaleString("en")} features. Drawn is a plane that contains w and turns with it: across, the coordinate along w, measured from the centre of the rows; up, the coordinate along a direction orthogonal to w in which the rows spread widely. So the hyperplane is exactly a straight line, distances to it are true, and which side a row is on is true; other distances are shortened.`,
  };
  return many + how[kind];
}

/* `script`: milliseconds spent here; `firstFrame`: from the start of navigation until the first
   picture was on the screen. */
const began = performance.now();
window.film = new Film(JSON.parse(byId("data").textContent, unpacked));
window.film.script = performance.now() - began;
requestAnimationFrame(() => requestAnimationFrame(() => { window.film.firstFrame = performance.now(); }));
