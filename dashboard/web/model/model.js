// The whole drawing: it takes what changed from the store, folds and lays out the
// places that this touches, and leaves all others where they are.
import { describe } from "./card.js";
import { Causes, wordsOf } from "./causes.js";
import { clusterOf } from "./clusters.js";
import { fold, ownerOf } from "./fold.js";
import { commonLabel } from "./links.js";
import { arrange, copyDrawing, inset, isDrawnAs, layOutApp, layOutPlace, movePlace, packPlaces, placeIsFree } from "./place.js";
import { homeOf, neighbourhood, select } from "./scope.js";
import { healths, levelOf } from "./store.js";

const calm = levelOf("ok");
const spacious = 116; // between columns that have room for a word on each line

export class Model {
  places = new Map(); // name: what fold and place made
  causes = new Causes();
  toggled = new Map(); // card key: opened or closed by the user
  view = { w: 1400, h: 820 }; // pixels of the map that it is laid out for
  filters;
  focus; // {key, depth, up, down}
  matches; // how many vertices the filters fit; undefined: there are none
  matchesText = () => true;
  #store;
  #members = new Map(); // place name: set of vertices
  #common = new Map(); // place name: the label of nearly all workloads, where only some are shown
  #shown; // set of vertices; undefined: all
  #rests = false; // there are workloads, beside which the rest is folded
  #title = 0; // height of a place's title
  #kept; // the places as they were before a focus
  #stale = true;

  constructor(store, filters) {
    this.#store = store;
    this.filters = filters;
  }

  /** Returns a model of another store, in which all that is in both is where it is in this one. */
  beside(store) {
    const model = new Model(store, this.filters);
    Object.assign(model, { places: new Map(this.places), toggled: new Map(this.toggled), view: this.view, focus: this.focus, matchesText: this.matchesText });
    model.#title = this.#title;
    model.#rests = this.#rests;
    model.causes.update(store);
    return model;
  }

  /** Whether a card is open. */
  opened = (key) => this.toggled.size > 0 && this.toggled.get(key) === true;

  /** Has a card open or folded from the next update on. */
  open(key, open) {
    if (open) this.toggled.set(key, true);
    else this.toggled.delete(key);
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
    const first = this.places.size === 0;
    const { changed, restated } = this.#store.take(now);
    if (changed.length + restated.length > 0) for (const v of this.causes.update(this.#store)) restated.push(v);
    const rests = (this.#rests && !first) || this.#hasWorkloads();
    if (rests !== this.#rests) this.#stale = true;
    this.#rests = rests;
    const rescoped = this.#stale || (changed.length > 0 && (this.focus || this.matches !== undefined)) ||
      (restated.length > 0 && this.matches !== undefined);
    const dirty = rescoped ? this.#rescope(now) : this.#rehome(changed);
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

  // A view of nothing but roles is not folded away.
  #hasWorkloads() {
    for (const v of this.#store) if (v.present && v.role === "workload") return true;
    return false;
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
      const { list, shared } = this.causes;
      // A problem that all objects of a kind have is shown where there is no other.
      const isTrouble = ({ problem }) => problem !== undefined && (!problem.shared || list.every((one) => one === shared));
      const selected = select(this.#store, this.filters, now, { matchesText: this.matchesText, isTrouble });
      this.#shown = selected?.shown;
      this.matches = selected?.matches;
    }
    this.#common = this.#shown ? this.#commonLabels() : new Map();
    const dirty = new Set([...this.#members.keys(), ...this.places.keys()]);
    this.#members.clear();
    for (const v of this.#store) {
      v.home = this.#homeOf(v);
      if (v.home !== undefined) this.#join(v, dirty);
    }
    return dirty;
  }

  // A filter changes no name of a box.
  #commonLabels() {
    const labels = new Map();
    for (const v of this.#store) {
      v.home = v.ns; // which ownerOf compares
      if (!labels.has(v.ns)) labels.set(v.ns, []);
    }
    for (const v of this.#store) if (v.present && v.role === "workload" && !ownerOf(v)) labels.get(v.ns).push(v.app);
    return new Map([...labels].map(([name, list]) => [name, commonLabel(list)]));
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
    const place = fold(name, members, { opened: this.opened, shows: this.shows, whole: Boolean(this.focus), rests: this.#rests && !this.#shown, common: this.#shown && (this.#common.get(name) ?? "") });
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
      layOutPlace(place, before && new Map(before.apps.map((app) => [app.key, app])), place.title, Math.min(1.5, this.#aspect));
      if (before) Object.assign(place, { x: before.x, y: before.y });
      place.grew = !before || place.w > before.w || place.h > before.h;
      place.before = undefined;
    }
    const all = [...this.places.values()];
    if (first) {
      packPlaces(all, this.#title, this.#aspect);
      return places;
    }
    if (places.some(({ name, grew }) => grew && clusterOf(name) !== undefined)) { // no place may be in the box of another cluster
      packPlaces(all, this.#title, this.#aspect);
      return all;
    }
    for (const place of places) {
      if (place.x === undefined || !placeIsFree(place, all)) movePlace(place, all);
    }
    return places;
  }

  get #aspect() { return Math.min(3, Math.max(0.4, this.view.w / this.view.h)); }

  // A namespace's title has to be readable when everything is in sight.
  #titleHeight() {
    let area = 0;
    for (const place of this.places.values()) for (const app of place.apps) area += (app.w + 24) * (app.h + 24);
    const fit = Math.sqrt((this.view.w * this.view.h) / Math.max(1, area * 1.3));
    return Math.round(Math.min(290, Math.max(52, 24 / fit)));
  }
}

/** Fills in what an app's box says of its cards. */
function summarize(app) {
  let worst = 0;
  app.vertices = 0;
  const causes = new Set();
  for (const card of app.cards) {
    if (card.level > worst) worst = card.common ? Math.max(worst, calm) : card.level;
    app.vertices += card.vertices;
    for (const cause of card.causes) causes.add(cause);
  }
  app.health = healths[worst];
  app.problems = causes.size;
  app.causes = [...causes].map(({ object }) => object.key);
  const [first] = causes;
  app.why = first ? `${wordsOf(first, app.title)}${causes.size > 1 ? `, and ${causes.size - 1} more` : ""}` : "";
}
