// The page's copy of the drawing: places, apps and cards as the worker posts them, their
// moves, recent changes, and hit tests. It returns the rectangles of the plane that have
// changed, so that only those are painted.
import { clusterKey, clusterOf } from "../model/clusters.js";
import { keyOf } from "../model/store.js";

const margin = 24; // of a cluster's box around its places
const moving = 320; // milliseconds of a move
const marked = { "+": 2000, "~": 1000, "-": 3000 };
const mostGhosts = 100;
export const cardSize = { w: 208, h: 40 };

export class Scene {
  places = new Map();
  cards = new Map(); // key: {card, app, place}
  byId = new Map(); // an object's key: the same, where the card is its own
  marks = new Map(); // card key: {what, until}
  ghosts = []; // cards that went: {x, y, name, until}
  stats = { vertices: 0, arcs: 0, problems: 0, missing: 0, account: {} };
  still = false; // the reader wants nothing to move
  #dirt = []; // rectangles that look different from now on
  #moves = []; // rectangles in which something moves: {x, y, w, h, until}

  /** Takes in a drawing. An app of it that is only a key is as it was. */
  apply(message, now) {
    const gone = []; // cards that were there
    if (message.whole) {
      this.places = new Map();
      this.cards = new Map();
      this.byId = new Map();
      this.#dirt = [];
      this.#moves = [];
    }
    for (const name of message.removed) {
      const place = this.places.get(name);
      if (!place) continue;
      for (const app of place.apps) this.#forget(app, gone);
      this.#dirt.push({ ...place });
      this.places.delete(name);
    }
    for (const sent of message.places) this.#take(sent, gone, now);
    const titles = new Map(); // of places before the states of their cards
    for (const { app, card } of message.cards) this.#restate(app, card, titles);
    for (const [place, titled] of titles) if (titled !== titleText(place)) this.#dirt.push(titleOf(place));
    for (const [key, what] of message.marks) {
      this.marks.set(key, { what, until: now + marked[what] });
      if (this.cards.has(key)) this.#dirt.push(this.rect(key));
    }
    for (const { card, app, place } of gone) if (!this.cards.has(card.key)) this.#ghost(card, app, place, now);
    this.stats = message.stats;
  }

  #take(sent, gone, now) {
    const old = this.places.get(sent.name);
    const place = old ?? sent;
    const before = new Map((old?.apps ?? []).map((app) => [app.key, app]));
    const titled = titleText(place);
    const anew = !old || ["x", "y", "w", "h", "title"].some((name) => old[name] !== sent[name]);
    if (anew) {
      this.#dirt.push({ ...place }, { ...sent });
      this.#move(sent, old, now);
    }
    const apps = sent.apps.map((app) => before.get(app) ?? app);
    const kept = new Set(apps);
    for (const app of before.values()) {
      if (kept.has(app)) continue;
      this.#soil(place, app);
      this.#forget(app, gone);
    }
    // The same object goes on being the place, for the cards of the apps that are kept.
    this.places.set(sent.name, Object.assign(place, sent, { apps }));
    for (const app of apps) {
      if (before.get(app.key) === app) continue;
      this.#soil(place, app);
      this.#enter(place, app, before.get(app.key), now);
    }
    if (!anew && titled !== titleText(place)) this.#dirt.push(titleOf(place));
  }

  #enter(place, app, old, now) {
    this.#move(app, old, now, place);
    const cards = new Map((old?.cards ?? []).map((card) => [card.key, card]));
    let moved = false;
    for (const card of app.cards) {
      moved = this.#move(card, cards.get(card.key), now) || moved;
      const found = { card, app, place };
      this.cards.set(card.key, found);
      if (!card.uses) this.byId.set(card.id, found);
    }
    if (moved) this.#moves.push({ x: place.x + app.x, y: place.y + app.y, w: app.w, h: app.h, until: now + moving });
  }

  #restate(app, card, titles) {
    const found = this.cards.get(card.key);
    if (!found) return;
    const { place } = found;
    if (!titles.has(place)) titles.set(place, titleText(place)); // it takes time where there are thousands of apps
    const same = found.app.health === app.health && found.app.why === app.why && found.app.vertices === app.vertices;
    Object.assign(found.app, app);
    Object.assign(found.card, card);
    if (same) {
      this.#dirt.push(this.rect(card.key));
      return;
    }
    this.#soil(place, found.app);
  }

  #soil(place, app) { this.#dirt.push({ x: place.x + app.x, y: place.y + app.y, w: app.w, h: app.h }); }

  // Starts the move of a place, or of an app in one. All that an app passes is painted.
  #move(to, from, now, place) {
    if (!from || this.still || (from.x === to.x && from.y === to.y)) return false;
    to.dx = from.x - to.x;
    to.dy = from.y - to.y;
    to.since = now;
    if (place || to.apps) {
      const [x, y] = [Math.min(from.x, to.x), Math.min(from.y, to.y)];
      this.#moves.push({
        x: (place?.x ?? 0) + x, y: (place?.y ?? 0) + y, until: now + moving,
        w: Math.max(from.x + from.w, to.x + to.w) - x, h: Math.max(from.y + from.h, to.y + to.h) - y,
      });
    }
    return true;
  }

  #ghost(card, app, place, now) {
    if (this.ghosts.length >= mostGhosts) return;
    const ghost = { x: place.x + app.x + card.x, y: place.y + app.y + card.y, ...cardSize, name: card.name, until: now + marked["-"] };
    this.ghosts.push(ghost);
    this.#dirt.push(ghost);
  }

  #forget(app, gone) {
    for (const card of app.cards) {
      const found = this.cards.get(card.key);
      if (found?.app !== app) continue; // it is in another one by now
      gone.push(found);
      this.cards.delete(card.key);
      if (this.byId.get(card.id) === found) this.byId.delete(card.id);
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

  /**
   * The rectangles that look different from the last frame, and whether something
   * moves or fades, so that the next frame differs again. Marks of cards are seen
   * from near alone.
   */
  dirt(now, near) {
    const dirt = this.#dirt;
    this.#dirt = [];
    // The area of a finished move or fade is painted once more.
    for (const move of this.#moves) dirt.push(move);
    this.#moves = this.#moves.filter((move) => move.until > now);
    for (const [key, mark] of this.marks) {
      if (near && (!this.still || mark.until <= now) && this.cards.has(key)) dirt.push(this.rect(key));
      if (mark.until <= now) this.marks.delete(key);
    }
    if (near) for (const ghost of this.ghosts) if (!this.still || ghost.until <= now) dirt.push(ghost);
    this.ghosts = this.ghosts.filter((ghost) => ghost.until > now);
    return { dirt, moves: this.#moves.length > 0, fades: near && (this.marks.size > 0 || this.ghosts.length > 0) };
  }

  /** The rectangle of everything, or of one card. */
  bounds() {
    let [x, y, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const place of [...this.places.values(), ...this.clusters()]) {
      x = Math.min(x, place.x);
      y = Math.min(y, place.y);
      right = Math.max(right, place.x + place.w);
      bottom = Math.max(bottom, place.y + place.h);
    }
    return right > x ? { x, y, w: right - x, h: bottom - y } : { x: 0, y: 0, w: 1, h: 1 };
  }

  /** The boxes of several clusters: {cluster, x, y, w, h, title, state}, with what is said of a cluster that is away. */
  clusters() {
    const boxes = new Map();
    for (const { name, title, x, y, w, h } of this.places.values()) {
      const cluster = clusterOf(name);
      if (cluster === undefined) continue;
      const box = boxes.get(cluster) ?? { x: Infinity, y: Infinity, right: -Infinity, bottom: -Infinity };
      boxes.set(cluster, { title, x: Math.min(box.x, x), y: Math.min(box.y, y), right: Math.max(box.right, x + w), bottom: Math.max(box.bottom, y + h) });
    }
    return [...boxes].map(([cluster, { title, x, y, right, bottom }]) => {
      const card = this.byId.get(keyOf(clusterKey(cluster)))?.card;
      return { cluster: cluster || "this cluster", state: card?.health === "ok" ? "" : card?.state ?? "", title, x: x - margin, y: y - margin - title, w: right - x + 2 * margin, h: bottom - y + 2 * margin + title };
    });
  }

  /** The rectangles of the titles of places that are cut at their left somewhere between two positions. */
  titlesAt(from, to) {
    return [...this.places.values()].filter((place) => place.x < to && place.x + place.w > from).map(titleOf);
  }

  rect(key) {
    const found = this.cards.get(key);
    if (!found) return undefined;
    const { card, app, place } = found;
    return { x: place.x + app.x + card.x, y: place.y + app.y + card.y, w: card.w ?? cardSize.w, h: cardSize.h };
  }

  /** Returns what is at a point of the plane: any of {place, app, card}. */
  at(x, y) {
    for (const place of this.places.values()) {
      const [px, py] = [x - place.x, y - place.y];
      if (px < 0 || py < 0 || px > place.w || py > place.h) continue;
      for (const app of place.apps) {
        const [ax, ay] = [px - app.x, py - app.y];
        if (ax < 0 || ay < 0 || ax > app.w || ay > app.h) continue;
        const card = app.cards.find((c) => ax >= c.x && ay >= c.y && ax <= c.x + (c.w ?? cardSize.w) && ay <= c.y + cardSize.h);
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

const titleOf = ({ x, y, w, title }) => ({ x, y, w, h: title });

/** The number of problems of a place: one may concern several boxes. */
export const problemsIn = ({ apps }) => new Set(apps.flatMap(({ causes }) => causes)).size;

// Returns the counts in the title of a place.
const titleText = (place) => `${place.apps.length} ${problemsIn(place)}`;
