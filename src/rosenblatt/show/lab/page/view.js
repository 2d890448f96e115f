/* View: which part of the plane is shown, and where a place of it stands in pixels. */

const MARGIN = { left: 44, right: 10, top: 10, bottom: 34 };

/* A box around points, never empty. */
export function boxAround(points, { origin = false } = {}) {
  if (!points.length) return [-2, 2, -2, 2];
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  if (origin) {
    const turned = points.filter((p) => p[2] < 0); // as the proof draws them
    xs.push(0, ...turned.map((p) => -p[0]));
    ys.push(0, ...turned.map((p) => -p[1]));
  }
  const spread = (values) => {
    const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
    return [low, high];
  };
  const [left, right] = spread(xs), [bottom, top] = spread(ys);
  const most = Math.max(right - left, top - bottom) || Math.abs(left) || 1;
  const padX = 0.25 * Math.max(right - left, 0.1 * most), padY = 0.25 * Math.max(top - bottom, 0.1 * most);
  return [left - padX, right + padX, bottom - padY, top + padY];
}

export class View {
  constructor() {
    this.wanted = [-2, 2, -2, 2];
    this.resize(600, 500);
  }

  /* The width and height of the picture in pixels. */
  resize(width, height) {
    Object.assign(this, { width, height });
    this.scale = Math.min(2, Math.max(1, Math.min(width, height) / 620)); // of marks and letters
    const m = Object.fromEntries(Object.entries(MARGIN).map(([side, size]) => [side, size * this.scale]));
    this.inner = { left: m.left, top: m.top, width: Math.max(50, width - m.left - m.right), height: Math.max(50, height - m.top - m.bottom) };
    this.show(this.wanted);
  }

  /* Show a box: with one scale for both axes, so that w stands upright on its hyperplane, unless
     the axes differ too much. */
  show(wanted) {
    this.wanted = wanted;
    let [left, right, bottom, top] = wanted;
    const { width, height } = this.inner, across = (right - left) / width, up = (top - bottom) / height;
    this.square = across / up < 6 && up / across < 6;
    if (this.square) {
      const unit = Math.max(across, up), x = (left + right) / 2, y = (bottom + top) / 2;
      [left, right, bottom, top] = [x - (unit * width) / 2, x + (unit * width) / 2, y - (unit * height) / 2, y + (unit * height) / 2];
    }
    this.box = [left, right, bottom, top];
  }

  toPixel(x, y) {
    const [left, right, bottom, top] = this.box, { inner } = this;
    return [inner.left + (inner.width * (x - left)) / (right - left), inner.top + (inner.height * (top - y)) / (top - bottom)];
  }

  toPlane(u, v) {
    const [left, right, bottom, top] = this.box, { inner } = this;
    return [left + ((u - inner.left) / inner.width) * (right - left), top - ((v - inner.top) / inner.height) * (top - bottom)];
  }

  holds(x, y) {
    const [left, right, bottom, top] = this.box;
    return x >= left && x <= right && y >= bottom && y <= top;
  }

  /* The size of a pixel in the plane: [across, up]. */
  get pixel() {
    const [left, right, bottom, top] = this.box;
    return [(right - left) / this.inner.width, (top - bottom) / this.inner.height];
  }

  /* A place rounded to what a pixel can tell, so that clicked points have short numbers. */
  rounded(x, y) {
    return [x, y].map((value, k) => {
      const digits = Math.max(0, Math.min(12, Math.ceil(-Math.log10(this.pixel[k])))), power = 10 ** digits;
      return Math.round(value * power) / power;
    });
  }

  zoom(factor, u, v) {
    const [x, y] = this.toPlane(u, v), [left, right, bottom, top] = this.box;
    if (factor > 1 && Math.max(right - left, top - bottom) > 1e7) return;
    if (factor < 1 && Math.min(right - left, top - bottom) < 1e-9) return;
    this.show([x + (left - x) * factor, x + (right - x) * factor, y + (bottom - y) * factor, y + (top - y) * factor]);
  }

  move(u, v) {
    const [dx, dy] = this.pixel, [left, right, bottom, top] = this.box;
    this.show([left - u * dx, right - u * dx, bottom + v * dy, top + v * dy]);
  }
}
