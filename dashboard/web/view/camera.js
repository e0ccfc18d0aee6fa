// The visible part of the plane: the scale, k pixels for a unit, and the point of the plane
// in the top left corner.

export const limits = { least: 0.012, most: 2.5 };

export class Camera {
  x = 0;
  y = 0;
  k = 1;
  w = 1;
  h = 1;
  #window; // {x, y, w, h} of the plane, where less is painted than is seen
  #flight; // {from, to, since, for}

  /** Pixels of a point of the plane. */
  toScreen(x, y) { return [(x - this.x) * this.k, (y - this.y) * this.k]; }

  /** The point of the plane under a pixel. */
  toPlane(x, y) { return [x / this.k + this.x, y / this.k + this.y]; }

  pan(dx, dy) {
    this.#flight = undefined;
    this.x -= dx / this.k;
    this.y -= dy / this.k;
  }

  /** Zooms so that what is under a pixel stays there. */
  zoom(factor, px, py) {
    this.#flight = undefined;
    const [x, y] = this.toPlane(px, py);
    this.k = Math.min(limits.most, Math.max(limits.least, this.k * factor));
    this.x = x - px / this.k;
    this.y = y - py / this.k;
  }

  /** The view in which a rectangle is seen whole. */
  fitting(rect, margin = 28, most = 1) {
    const k = Math.min(most, limits.most, Math.max(limits.least, Math.min((this.w - 2 * margin) / rect.w, (this.h - 2 * margin) / rect.h)));
    return { k, x: rect.x + rect.w / 2 - this.w / 2 / k, y: rect.y + rect.h / 2 - this.h / 2 / k };
  }

  /** The view that has a rectangle in its middle at a zoom. */
  centered(rect, k) { return { k, x: rect.x + rect.w / 2 - this.w / 2 / k, y: rect.y + rect.h / 2 - this.h / 2 / k }; }

  jump(view) {
    this.#flight = undefined;
    Object.assign(this, view);
  }

  fly(view, now, duration = 380) {
    this.#flight = { from: { x: this.x, y: this.y, k: this.k }, to: view, since: now, duration };
  }

  get flies() { return this.#flight !== undefined; }

  /** Goes on flying; false: it has arrived. */
  step(now) {
    const flight = this.#flight;
    if (!flight) return false;
    const t = Math.min(1, Math.max(0, (now - flight.since) / flight.duration));
    const e = t < 0.5 ? 4 * t ** 3 : 1 - (-2 * t + 2) ** 3 / 2;
    const { from, to } = flight;
    const k = from.k * (to.k / from.k) ** e;
    // The middle goes straight while the zoom goes by ratio.
    const middle = (v) => [v.x + this.w / 2 / v.k, v.y + this.h / 2 / v.k];
    const [[ax, ay], [bx, by]] = [middle(from), middle(to)];
    this.k = k;
    this.x = ax + (bx - ax) * e - this.w / 2 / k;
    this.y = ay + (by - ay) * e - this.h / 2 / k;
    if (t >= 1) this.#flight = undefined;
    return true;
  }

  /** Has nothing seen but a rectangle of the plane while something is done. */
  within(rect, act) {
    this.#window = rect;
    act();
    this.#window = undefined;
  }

  sees(x, y, w, h, margin = 0) {
    const part = this.#window;
    if (part) return x + w >= part.x - margin && y + h >= part.y - margin && x <= part.x + part.w + margin && y <= part.y + part.h + margin;
    return x + w >= this.x - margin && y + h >= this.y - margin && x <= this.x + this.w / this.k + margin && y <= this.y + this.h / this.k + margin;
  }
}
