// Answers to the page's questions about the graph: rows of the outline, search, one object.
import { absences, differences } from "./card.js";
import { ownerOf } from "./fold.js";
import { natural } from "./natural.js";
import { Outline } from "./outline.js";
import { compile } from "./search.js";
import { select } from "./scope.js";
import { arcTypes, healths, isProblem } from "./store.js";

const mostHits = 300;
const mostBundles = 400;

export class Answers {
  #store;
  #model;
  #outline;
  #live; // the graph as it is, if the store has one of the past

  constructor(store, model, live) {
    this.#store = store;
    this.#model = model;
    this.#live = live;
    this.#outline = new Outline(model);
  }

  changed() { this.#outline.changed(); }

  /** A window of the outline's rows. */
  outline(args) { return this.#outline.window(args); }

  /** Opens or closes a row of the outline. */
  expand(args) { return this.#outline.expand(args); }

  /** Returns the matches of a query: the first hits in order, all of their cards, and the count. */
  search({ text }) {
    const fits = compile(text);
    const hits = [];
    const now = Date.now();
    for (const v of this.#store) if (fits(v, now)) hits.push(v);
    const needle = text.toLowerCase();
    const weight = (v) => (v.n.toLowerCase() === needle ? 0 : v.n.toLowerCase().startsWith(needle) ? 1 : 2) * 100 + (isProblem(v.health) ? 0 : 10) + (ownerOf(v) ? 5 : 0);
    hits.sort((a, b) => weight(a) - weight(b) || a.rank - b.rank || (a.n < b.n ? -1 : a.n > b.n ? 1 : 0));
    return {
      total: hits.length,
      hits: hits.slice(0, mostHits).map(brief),
      cards: [...new Set(hits.flatMap((v) => (v.home !== undefined && v.card ? [v.card.key] : [])))],
    };
  }

  /** All that is known of an object but its content. */
  details({ key }) {
    const v = this.#store.find(key);
    if (!v) return undefined;
    const owners = [];
    for (let up = ownerOf(v); up && !owners.includes(up) && up !== v; up = ownerOf(up)) owners.push(up);
    const end = (arc, other) => ({ ...brief(other), type: arc.t, fields: arc.f, words: arc.w });
    return {
      ...brief(v), group: v.g, version: v.v, resource: v.r, uid: v.uid, created: v.t, root: v.root, ready: v.rd, remote: v.x,
      card: v.home !== undefined ? v.card?.key : undefined, box: v.home !== undefined && v.card?.app ? v.card.app.title : "",
      then: this.#live && thenOf(v, this.#live.find(key)),
      owners: owners.map(brief), troubles: troublesOf(v), ...causeOf(v),
      owns: v.in.filter((arc) => arc.t === "or").map((arc) => end(arc, arc.s)).sort(byWorst),
      uses: v.out.filter((arc) => arc.t !== "or").map((arc) => end(arc, arc.d)).sort(byWorst),
      usedBy: v.in.filter((arc) => arc.t !== "or").map((arc) => end(arc, arc.s)).sort(byWorst),
      journal: this.#store.journal.filter((entry) => entry.key === key).slice(-50).reverse(),
    };
  }

  /**
   * Returns which of some objects, {key, kind, ns}, the drawing is about, undefined for all: what filters of names, kinds and
   * places leave, or a focus. A filter of states is about all, since a cause need not be a problem.
   */
  about({ objects }) {
    const { focus, filters, matchesText } = this.#model;
    const shown = focus ? undefined : select(this.#store, { ...filters, health: [], problems: false, recent: false }, 0, { matchesText, isTrouble: () => true })?.shown;
    if (!focus && !shown) return undefined;
    const { kinds, namespaces, apps, text } = filters;
    const gone = ({ kind, ns }) => !focus && !text && apps.length === 0 && (kinds.length === 0 || kinds.includes(kind)) && (namespaces.length === 0 || namespaces.includes(ns));
    return objects.filter((object) => {
      const v = this.#store.find(object.key);
      return v ? (focus ? v.home !== undefined : shown.has(v)) : gone(object);
    }).map(({ key }) => key);
  }

  /** The card of an object, and in which place it is. */
  locate({ key }) {
    const v = this.#store.find(key);
    return v && v.home !== undefined && v.card ? { card: v.card.key, place: v.home } : undefined;
  }

  /** Returns the targets of a card's arcs that have no line from the card: those in other boxes, and those of its owner's lines; merged. */
  bundles({ card }) {
    const found = new Map();
    const lines = new Set();
    const nameOf = (from, to) => `${from.key}\n${to.key}`;
    const chosen = this.#model.card(card);
    for (const { a, b } of chosen?.app.lines ?? []) if (a === chosen || b === chosen) lines.add(nameOf(a, b));
    const note = (from, to, arc) => {
      const name = nameOf(from, to);
      if (lines.has(name)) return;
      if (!found.has(name)) found.set(name, { from: from.key, to: to.key, missing: arc.s.health === "missing" || arc.d.health === "missing" });
    };
    for (const v of chosen?.members ?? []) {
      for (const arc of [...v.out, ...v.in]) {
        const [a, b] = [arc.s.card, arc.d.card];
        if (arc.s.home === undefined || arc.d.home === undefined || a === b || !this.#model.shows(arc)) continue;
        note(...(arc.t === "or" ? [b, a] : [a, b]), arc);
      }
    }
    return [...found.values()].slice(0, mostBundles);
  }

  /** The causes of problems by namespace, the worst first, and at last one that is shared: what n and p go through. */
  problems() {
    const all = this.#model.causes.list.filter(({ object }) => object.home !== undefined);
    return all.sort((a, b) => Number(a.shared) - Number(b.shared) || natural(a.object.home, b.object.home)).map(({ object }) => brief(object));
  }

  /** Returns the values of each filter, with counts. */
  facets() {
    const count = (of) => {
      const found = new Map();
      for (const v of this.#store) {
        const value = of(v);
        if (value) found.set(value, (found.get(value) ?? 0) + 1);
      }
      return [...found].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    };
    const arcs = new Map(arcTypes.map((t) => [t, 0]));
    for (const v of this.#store) for (const arc of v.out) arcs.set(arc.t, (arcs.get(arc.t) ?? 0) + 1);
    const health = new Map(count((v) => v.health));
    return {
      kinds: count((v) => v.kind), namespaces: count((v) => v.ns), apps: count((v) => v.app), types: [...arcs],
      health: [...healths].reverse().filter((h) => health.has(h)).map((h) => [h, health.get(h)]),
    };
  }

  /** Every object, for a table. */
  table() {
    const rows = [];
    for (const v of this.#store) {
      rows.push([v.kind, v.ns, v.n, v.health, v.why, v.rd ? `${v.rd[0]}/${v.rd[1]}` : "", v.app,
        v.out.filter((arc) => arc.t !== "or").length, v.in.filter((arc) => arc.t !== "or").length, ownerOf(v)?.n ?? ""]);
    }
    return rows.sort((a, b) => (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[2] < b[2] ? -1 : 1));
  }
}

const brief = (v) => ({ key: v.key, kind: v.kind, resource: v.r, role: v.role, ns: v.ns, name: v.n, health: v.health, why: v.why, present: v.present, absent: v.present ? "" : absences[v.health] ?? "missing" });

// Returns how an object of the past differs from the same one now.
const thenOf = (v, now) => [differences[v.differs], v.differs !== "-" && now?.present && now.health !== v.health && now.health, v.differs === "~" && now?.why !== v.why && now?.why].filter(Boolean).join(": ");

// Returns the cause of an object's problem, or what follows from it outside of its card if it is the cause.
function causeOf(v) {
  const { problem } = v;
  if (!problem) return { causes: [], stops: [], shared: false };
  const isCause = problem.object === v;
  return { causes: isCause ? [] : [brief(problem.object)], stops: isCause ? problem.stops.filter(({ home, card }) => home === undefined || card !== v.card).map(brief) : [], shared: problem.shared };
}

// Returns the problems of the objects that an object owns, one for each reason: {n, kind, why, key, name} of the first.
function troublesOf(v) {
  const found = new Map();
  if (v.home === undefined || v.card?.anchor !== v || v.card.uses) return [];
  for (const each of v.card.members) {
    if (each === v || !isProblem(each.health)) continue;
    const why = each.why || each.health;
    const known = found.get(`${each.kind} ${why}`);
    if (known) known.n++;
    else found.set(`${each.kind} ${why}`, { n: 1, kind: each.kind, why, key: each.key, name: each.n });
  }
  return [...found.values()];
}

const byWorst = (a, b) => healths.indexOf(b.health) - healths.indexOf(a.health) || (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.name < b.name ? -1 : 1);
