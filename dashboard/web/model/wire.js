// The messages with a drawing from the worker to the page: plain objects without cycles,
// small enough to be posted several times a second.
import { opens } from "./card.js";
import { arcTypes } from "./store.js";

export const wireCard = (card) => ({
  key: card.key, w: card.rest ? card.app.w - 2 * card.x : undefined, id: card.uses ? card.user.key : card.anchor.key, x: card.x, y: card.y, name: card.name, kind: card.kind, short: card.short, state: card.state,
  role: card.role, resource: card.resource, health: card.health, count: card.count, bar: card.bar, badge: card.badge,
  common: card.common, rest: card.rest !== "", missing: !card.uses && !card.anchor.present, uses: card.uses, opened: card.opened, opens: opens(card), differs: card.differs,
});

const longest = 18; // letters of the words on a line
const owns = ["owns"];
const found = []; // words of the line at hand

// Returns the words of a line, read from its start: "mounts", "mounts, reads", "mounts +2".
// References of a card's first object come before those of the objects that it owns.
function wordsOf({ a, arcs }) {
  found.length = 0;
  for (const arc of arcs) if (arc.s === a.anchor && arc.t !== "or") note(arc.w);
  if (found.length === 0) for (const arc of arcs) note(arc.t === "or" ? owns : arc.w);
  if (found.length < 2) return found.length === 0 ? "" : found[0];
  found.sort();
  const both = `${found[0]}, ${found[1]}`;
  return found.length === 2 && both.length <= longest ? both : `${found[0]} +${found.length - 1}`;
}

function note(words) { for (const word of words) if (!found.includes(word)) found.push(word); }

const wireLine = (line) => {
  let type = 2;
  let missing = true;
  for (const arc of line.arcs) {
    if (type > 0) type = arc.t === "or" ? 0 : arc.t === "r" ? 1 : type;
    if (missing && arc.s.health !== "missing" && arc.d.health !== "missing") missing = false;
  }
  const { a, b } = line;
  // A word is at the end that no other line has.
  return { a: a.index, b: b.index, type: arcTypes[type], n: line.arcs.length, missing, way: line.way, words: wordsOf(line), word: b.ends === 1 ? "end" : a.begins === 1 ? "start" : "middle" };
};

/** An app's box without what is in it. */
export const wireApp = (app) => ({
  key: app.key, rest: app.rest, title: app.title, x: app.x, y: app.y, w: app.w, h: app.h, health: app.health, problems: app.problems, causes: app.causes, why: app.why, vertices: app.vertices,
});

const wirePlace = (place, apps) => ({ name: place.name, x: place.x, y: place.y, w: place.w, h: place.h, title: place.title, apps });

/** Remembers what was posted, and posts of a place only the boxes that differ: of others, their key. */
export class Wire {
  #posted = new Map(); // place name: (app key: as it was posted)

  /** All places, whatever was posted before. */
  whole(places) {
    this.#posted.clear();
    return this.differing(places);
  }

  differing(places) {
    return places.map((place) => {
      const before = this.#posted.get(place.name);
      const posted = new Map();
      const apps = place.apps.map((app) => {
        const wired = { ...wireApp(app), cards: app.cards.map(wireCard), lines: app.lines.map(wireLine) };
        const known = before?.get(app.key);
        const same = known !== undefined && isSame(known, wired);
        posted.set(app.key, same ? known : wired);
        return same ? app.key : wired;
      });
      this.#posted.set(place.name, posted);
      return wirePlace(place, apps);
    });
  }

  forget(names) { for (const name of names) this.#posted.delete(name); }

  /** Returns the cards with a changed state only, each with the counts of its box. */
  restated(cards) {
    return cards.map((card) => {
      const wired = { app: wireApp(card.app), card: wireCard(card) };
      const posted = this.#posted.get(card.anchor.home)?.get(card.app.key);
      if (posted) {
        Object.assign(posted, wired.app);
        posted.cards[card.index] = wired.card;
      }
      return wired;
    });
  }
}

// Reports whether two plain values are equal. Unchanged parts of a layout are the same object.
function isSame(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return false;
  if (Array.isArray(a)) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!isSame(a[i], b[i])) return false;
    return true;
  }
  for (const name in b) if (!isSame(a[name], b[name])) return false;
  return true;
}
