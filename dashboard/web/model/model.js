// The whole drawing: it takes what changed from the store, folds and lays out the
// places that this touches, and leaves all others where they are.
import { describe } from "./card.js";
import { clusterOf } from "./clusters.js";
import { fold } from "./fold.js";
import { arrange, copyDrawing, inset, isDrawnAs, layOutApp, layOutPlace, movePlace, packPlaces, placeIsFree } from "./place.js";
import { homeOf, neighbourhood, select } from "./scope.js";
import { healths } from "./store.js";

const smallGraph = 40; // vertices up to which owners are opened unasked
const spacious = 116; // between columns that have room for a word on each line

export class Model {
  places = new Map(); // name: what fold and place made
  toggled = new Map(); // card key: opened or closed by the user
  filters;
  focus; // {key, depth, up, down}
  matches; // how many vertices the filters fit; undefined: there are none
  matchesText = () => true;
  #store;
  #members = new Map(); // place name: set of vertices
  #shown; // set of vertices; undefined: all
  #openAll = false;
  #title = 0; // height of a place's title
  #kept; // the places as they were before a focus
  #stale = true;

  constructor(store, filters) {
    this.#store = store;
    this.filters = filters;
  }

  /** Whether a card is open. */
  opened = (key) => (this.toggled.size > 0 ? this.toggled.get(key) : undefined) ?? this.#opensUnasked(key);

  #opensUnasked(key) { return this.#openAll && !key.startsWith("uses:"); }

  /** Has a card open or folded from the next update on. */
  open(key, open) {
    if (open === this.#opensUnasked(key)) this.toggled.delete(key);
    else this.toggled.set(key, open);
  }

  /** The card of a key. */
  card(key) {
    for (const place of this.places.values()) for (const card of place.cards) if (card.key === key) return card;
    return undefined;
  }

  /** Whether no filter hides an arc. */
  shows = (arc) => this.filters.types.length === 0 || this.filters.types.includes(arc.t);

  /** Lays out everything again, and packs it again if tidy. */
  invalidate({ tidy = false } = {}) {
    this.#stale = true;
    if (!tidy) return;
    this.places.clear();
    this.#kept = undefined;
    this.#title = 0;
  }

  /** Draws the neighbourhood of an object, or everything again. */
  setFocus(focus) {
    if (focus && !this.focus) {
      this.#kept = this.places;
      this.places = new Map();
    } else if (focus) {
      this.places = new Map();
    } else if (this.focus) {
      this.places = this.#kept ?? new Map();
      this.#kept = undefined;
    }
    this.focus = focus;
    this.#stale = true;
  }

  /**
  * Updates the drawing. Returns the changed places, the names of removed places, and the
  * cards with no change but their state.
  */
  update(now) {
    const { changed, restated } = this.#store.take(now);
    const rescoped = this.#stale || (changed.length > 0 && (this.focus || this.matches !== undefined)) ||
      (restated.length > 0 && this.matches !== undefined);
    const dirty = rescoped ? this.#rescope(now) : this.#rehome(changed);
    const first = this.places.size === 0;
    if (first) this.#openAll = this.#store.present <= smallGraph;
    const [places, removed] = [[], []];
    for (const name of dirty) {
      const members = this.#members.get(name);
      if (!members || members.size === 0) {
        this.#members.delete(name);
        if (this.places.delete(name)) removed.push(name);
        continue;
      }
      places.push(this.#refold(name, members));
    }
    const moved = this.#settle(places, first);
    const cards = new Set();
    for (const v of restated) {
      if (v.home === undefined || dirty.has(v.home) || !v.card) continue;
      cards.add(v.card);
    }
    for (const card of cards) describe(card);
    for (const app of new Set([...cards].map((card) => card.app))) summarize(app);
    return { places: moved, removed, cards: [...cards] };
  }

  #homeOf(v) {
    if (this.#store.get(v.id) !== v) return undefined;
    if (this.#shown && !this.#shown.has(v)) return undefined;
    return this.focus ? "focus" : homeOf(v);
  }

  #rescope(now) {
    this.#stale = false;
    this.matches = undefined;
    this.#shown = undefined;
    const start = this.focus && this.#store.find(this.focus.key);
    if (start) this.#shown = neighbourhood(start, this.focus);
    else if (this.focus) this.#shown = new Set();
    else {
      const selected = select(this.#store, this.filters, now, this.matchesText);
      this.#shown = selected?.shown;
      this.matches = selected?.matches;
    }
    const dirty = new Set([...this.#members.keys(), ...this.places.keys()]);
    this.#members.clear();
    for (const v of this.#store) {
      v.home = this.#homeOf(v);
      if (v.home !== undefined) this.#join(v, dirty);
    }
    return dirty;
  }

  #rehome(changed) {
    const dirty = new Set();
    const check = (v) => {
      const home = this.#homeOf(v);
      if (v.home !== undefined && v.home !== home) {
        this.#members.get(v.home)?.delete(v);
        dirty.add(v.home);
      }
      v.home = home;
      if (home !== undefined) this.#join(v, dirty);
    };
    for (const v of changed) check(v);
    return dirty;
  }

  #join(v, dirty) {
    let members = this.#members.get(v.home);
    if (!members) this.#members.set(v.home, members = new Set());
    members.add(v);
    dirty.add(v.home);
  }

  #refold(name, members) {
    const before = this.places.get(name);
    const place = fold(name, members, { opened: this.opened, shows: this.shows, whole: Boolean(this.focus) });
    place.before = before;
    const drawn = new Map((before?.apps ?? []).map((app) => [app.key, app]));
    for (const app of place.apps) {
      arrange(app);
      const known = drawn.get(app.key);
      if (known && isDrawnAs(app, known)) copyDrawing(app, known);
      else layOutApp(app, this.focus ? spacious : undefined);
      summarize(app);
    }
    this.places.set(name, place);
    return place;
  }

  // Returns the places that are elsewhere, or other ones.
  #settle(places, first) {
    if (first || this.#title === 0) this.#title = this.#titleHeight();
    for (const place of places) {
      const { before } = place;
      place.title = this.focus ? inset.place : this.#title;
      layOutPlace(place, before && new Map(before.apps.map((app) => [app.key, app])), place.title);
      if (before) Object.assign(place, { x: before.x, y: before.y });
      place.grew = !before || place.w > before.w || place.h > before.h;
      place.before = undefined;
    }
    const all = [...this.places.values()];
    if (first) {
      packPlaces(all.sort((a, b) => b.w * b.h - a.w * a.h || (a.name < b.name ? -1 : 1)), this.#title);
      return places;
    }
    if (places.some(({ name, grew }) => grew && clusterOf(name) !== undefined)) { // no place may be in the box of another cluster
      packPlaces(all, this.#title);
      return all;
    }
    for (const place of places) {
      if (place.x === undefined || !placeIsFree(place, all)) movePlace(place, all);
    }
    return places;
  }

  // A namespace's title has to be readable when everything is in sight.
  #titleHeight() {
    let area = 0;
    for (const place of this.places.values()) for (const app of place.apps) area += (app.w + 24) * (app.h + 24);
    const fit = Math.sqrt((1400 * 850) / Math.max(1, area * 1.3));
    return Math.round(Math.min(290, Math.max(52, 24 / fit)));
  }
}

/** Fills in what an app's box says of its cards. */
function summarize(app) {
  let worst = 0;
  app.problems = app.vertices = 0;
  for (const { level, problems, vertices } of app.cards) {
    if (level > worst) worst = level;
    app.problems += problems;
    app.vertices += vertices;
  }
  app.health = healths[worst];
}
