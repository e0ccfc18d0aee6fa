// What the page knows of the drawing: places, apps and cards as the worker posts
// them, where they move from, what changed a moment ago, and what is under a point.

const moving = 320; // milliseconds of a move
const marked = { "+": 2000, "~": 1000, "-": 3000 };
export const cardSize = { w: 208, h: 40 };

export class Scene {
  places = new Map();
  cards = new Map(); // key: {card, app, place}
  byId = new Map(); // an object's key: the same, where the card is its own
  marks = new Map(); // card key: {what, until}
  ghosts = []; // cards that went: {x, y, name, until}
  stats = { vertices: 0, arcs: 0, problems: 0, missing: 0, account: {} };
  still = false; // the reader wants nothing to move
  #moving = 0; // until when something moves

  /** Takes in a drawing. */
  apply(message, now) {
    const gone = []; // cards that were there
    if (message.whole) {
      this.places = new Map();
      this.cards = new Map();
      this.byId = new Map();
    }
    for (const name of message.removed) {
      this.#forget(this.places.get(name), gone);
      this.places.delete(name);
    }
    for (const place of message.places) {
      const old = this.places.get(place.name);
      this.#forget(old, gone);
      this.#move(place, old, now);
      const apps = new Map((old?.apps ?? []).map((app) => [app.key, app]));
      for (const app of place.apps) {
        const oldApp = apps.get(app.key);
        this.#move(app, oldApp, now);
        const cards = new Map((oldApp?.cards ?? []).map((card) => [card.key, card]));
        for (const card of app.cards) {
          this.#move(card, cards.get(card.key), now);
          const found = { card, app, place };
          this.cards.set(card.key, found);
          if (!card.uses) this.byId.set(card.id, found);
        }
      }
      this.places.set(place.name, place);
    }
    for (const { app, card } of message.cards) {
      const found = this.cards.get(card.key);
      if (!found) continue;
      Object.assign(found.app, app);
      Object.assign(found.card, card);
    }
    for (const [key, what] of message.marks) this.marks.set(key, { what, until: now + marked[what] });
    for (const { card, app, place } of gone) if (!this.cards.has(card.key)) this.#ghost(card, app, place, now);
    this.stats = message.stats;
  }

  #move(to, from, now) {
    if (!from || this.still || (from.x === to.x && from.y === to.y)) return;
    to.dx = from.x - to.x;
    to.dy = from.y - to.y;
    to.since = now;
    this.#moving = now + moving;
  }

  #ghost(card, app, place, now) {
    if (this.ghosts.length < 100) this.ghosts.push({ x: place.x + app.x + card.x, y: place.y + app.y + card.y, name: card.name, until: now + marked["-"] });
  }

  #forget(place, gone) {
    for (const app of place?.apps ?? []) {
      for (const card of app.cards) {
        const found = this.cards.get(card.key);
        if (found?.place !== place) continue; // it is in another one by now
        gone.push(found);
        this.cards.delete(card.key);
        if (this.byId.get(card.id) === found) this.byId.delete(card.id);
      }
    }
  }

  /** How far something still is from where it belongs. */
  offset(thing, now) {
    if (thing.since === undefined) return undefined;
    const t = (now - thing.since) / moving;
    if (t >= 1) {
      thing.since = undefined;
      return undefined;
    }
    const left = (1 - t) ** 3;
    return { x: thing.dx * left, y: thing.dy * left };
  }

  /** Whether the next frame differs from this one without anything new. Marks of cards are seen from near alone. */
  busy(now, near) {
    for (const [key, mark] of this.marks) if (mark.until <= now) this.marks.delete(key);
    this.ghosts = this.ghosts.filter((ghost) => ghost.until > now);
    return now < this.#moving || (near && !this.still && (this.marks.size > 0 || this.ghosts.length > 0));
  }

  /** The rectangle of everything, or of one card. */
  bounds() {
    let [x, y, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const place of this.places.values()) {
      x = Math.min(x, place.x);
      y = Math.min(y, place.y);
      right = Math.max(right, place.x + place.w);
      bottom = Math.max(bottom, place.y + place.h);
    }
    return right > x ? { x, y, w: right - x, h: bottom - y } : { x: 0, y: 0, w: 1, h: 1 };
  }

  rect(key) {
    const found = this.cards.get(key);
    if (!found) return undefined;
    const { card, app, place } = found;
    return { x: place.x + app.x + card.x, y: place.y + app.y + card.y, ...cardSize };
  }

  /** What is at a point of the plane: {place, app, card}, as far as there is. */
  at(x, y) {
    for (const place of this.places.values()) {
      const [px, py] = [x - place.x, y - place.y];
      if (px < 0 || py < 0 || px > place.w || py > place.h) continue;
      for (const app of place.apps) {
        const [ax, ay] = [px - app.x, py - app.y];
        if (ax < 0 || ay < 0 || ax > app.w || ay > app.h) continue;
        const card = app.cards.find((c) => ax >= c.x && ay >= c.y && ax <= c.x + cardSize.w && ay <= c.y + cardSize.h);
        return { place, app, card };
      }
      return { place };
    }
    return {};
  }

  /** The card that is nearest to another in a direction. */
  next(key, dx, dy) {
    const from = this.rect(key);
    if (!from) return this.cards.keys().next().value;
    let best;
    let least = Infinity;
    for (const other of this.cards.keys()) {
      if (other === key) continue;
      const to = this.rect(other);
      const [x, y] = [to.x - from.x, to.y - from.y];
      const along = x * dx + y * dy;
      if (along <= 4) continue;
      const cost = along + 3 * Math.abs(x * dy + y * dx);
      if (cost < least) [best, least] = [other, cost];
    }
    return best;
  }

  /** The cards that lines of an app lead to from a card, or from which they come. */
  linked(key, forward) {
    const found = this.cards.get(key);
    if (!found) return [];
    const { app, card } = found;
    const at = app.cards.indexOf(card);
    return app.lines.filter((line) => (forward ? line.a : line.b) === at).map((line) => app.cards[forward ? line.b : line.a].key);
  }
}
