// The graph that the messages of a stream make, and what its elements are called.
import { explaining, healthAt, isWhole, selectsNothing } from "./health.js";

import { Sums, childOf, keeps, tagOfKey } from "./contents.js";

/** The identity of a vertex, as a string. No two vertices have the same. */
export const vertexKey = (v) => JSON.stringify([v.g, v.v, v.r, v.ns ?? "", v.n]);

/** The identity of an arc, as a string. */
export const arcKey = (a) => JSON.stringify([vertexKey(a.s), a.t, vertexKey(a.d)]);

/** The identity of a warning, as a string. */
export const warningKey = (w) => JSON.stringify([w.t, sorted(w.a ?? {})]);

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.keys(value).sort().map((key) => [key, sorted(value[key])]);
};

// Returns a function from a key to its tag, which remembers tags. A map in a map takes less time than a text of all parts.
const tagged = () => {
  const tags = new Map();
  return (key) => {
    const names = childOf(childOf(childOf(childOf(tags, key.g), key.v), key.r), key.ns ?? "");
    let tag = names.get(key.n);
    if (!tag) names.set(key.n, tag = tagOfKey(key));
    return tag;
  };
};

const isInferred = ({ a }) => a?.f?.length > 0 && a.f.every((field) => field.startsWith("inferred/"));

/** Returns a message without the arcs that only inferred references make. They are deleted where a graph may have them. */
export const excludeInferred = (message) => !message.actions?.some(({ sarc }) => sarc && isInferred(sarc)) ? message : {
  ...message, actions: message.actions.map((action) => {
    if (!action.sarc || !isInferred(action.sarc)) return action;
    const { s, d, t } = action.sarc;
    return { darc: { s, d, t } };
  }),
};

/** Returns what explaining says of the objects of a graph. */
export const explainingIn = (graph) => explaining(() => graph.vertices.values());

/** A graph that is kept up to date by the messages of a stream. */
export class Graph {
  vertices = new Map(); // by vertexKey: {vx, o} or {vx, j} or {vx}
  arcs = new Map(); // by arcKey: {s, d, t, a}
  warnings = new Map(); // by warningKey: {t, m, a}
  rev = "";
  synced = false;
  #kinds = new Map(); // by group and resource
  #ends; // by vertexKey: the arcs that begin and end there, by arcKey; made when asked for
  #keeps;

  /** With keep false, vertices and arcs stay empty. */
  constructor({ keep = true } = {}) {
    this.#keeps = keep;
  }

  /** Carries out one message, or takes in the answer to a get. */
  apply(message) {
    if (message.reset) {
      const dropped = this.dropped(message.keep);
      if (!message.keep) this.forget();
      this.reconnected();
      this.rev = "";
      for (const { dvx, darc } of dropped) {
        if (dvx) this.vertices.delete(vertexKey(dvx.vx));
        else this.#deleteArc(arcKey(darc), darc);
      }
    }
    for (const { svx, dvx, sarc, darc } of this.#keeps ? message.actions ?? [] : []) {
      if (svx) this.vertices.set(vertexKey(svx.vx), svx);
      else if (dvx) this.vertices.delete(vertexKey(dvx.vx));
      else if (sarc) this.#setArc(arcKey(sarc), sarc);
      else if (darc) this.#deleteArc(arcKey(darc), darc);
    }
    for (const w of message.cleared ?? []) this.warnings.delete(warningKey(w));
    for (const w of message.warnings ?? []) this.warnings.set(warningKey(w), w);
    if (message.kinds?.length) this.#kinds = new Map(message.kinds.map((kind) => [`${kind.g}/${kind.r}`, kind])); // all that the view watches
    if (message.synced) this.synced = true;
    if (message.rev) this.rev = message.rev;
  }

  /** The kind of a vertex, or of what an arc leads to; undefined where the server does not say. */
  kind({ g, r }) {
    return this.#kinds.get(`${g}/${r}`)?.k;
  }

  /** Whether the graph has all objects of a kind in a namespace that the subscriber may see. */
  hasAll(group, kind, namespace) {
    const known = this.synced && [...this.#kinds.values()].find(({ g, k }) => g === group && k === kind);
    return Boolean(known && known.a && isWhole([...this.warnings.values()], known, namespace));
  }

  /**
   * The health of an object of a graph with summaries at a time in milliseconds, and its reason, by everything that is around it: its
   * deadline; "unknown" if it has ended and was replaced; and "degraded" if it has to select an object and selects none.
   */
  healthAt(key, now, others = explainingIn(this)) {
    const { vx, m } = this.vertices.get(typeof key === "string" ? key : vertexKey(key)) ?? {};
    if (!m) return { health: "unknown", why: "" };
    const out = this.out(key);
    const of = (arc) => this.vertices.get(vertexKey(arc.d))?.m;
    if (m.end && out.some((arc) => arc.t === "or" && arc.a?.c && of(arc) && healthAt(of(arc), now).health === "ok")) return { health: "unknown", why: "" };
    const said = healthAt(m, now);
    if (said.health === "degraded" || said.health === "terminating") return said;
    const why = selectsNothing(m, now, {
      selects: (group, kind) => out.some(({ d }) => d.g === group && this.kind(d) === kind),
      hasAll: (group, kind) => this.hasAll(group, kind, vx.ns),
      others: () => others(vx.ns),
    });
    return why ? { health: "degraded", why } : said;
  }

  /** The arcs that begin at a vertex. */
  out(key) {
    return [...(this.#endsOf(key)?.out.values() ?? [])];
  }

  /** The arcs that end at a vertex. */
  in(key) {
    return [...(this.#endsOf(key)?.in.values() ?? [])];
  }

  #setArc(key, arc) {
    this.arcs.set(key, arc);
    this.#index(key, arc);
  }

  #deleteArc(key, { s, d }) {
    this.arcs.delete(key);
    for (const [vertex, side] of [[s, "out"], [d, "in"]]) {
      const ends = this.#ends?.get(vertexKey(vertex));
      ends?.[side].delete(key);
      if (ends && ends.out.size + ends.in.size === 0) this.#ends.delete(vertexKey(vertex));
    }
  }

  #endsOf(key) {
    if (!this.#ends) {
      this.#ends = new Map();
      for (const [name, arc] of this.arcs) this.#index(name, arc);
    }
    return this.#ends.get(typeof key === "string" ? key : vertexKey(key));
  }

  #index(key, arc) {
    if (!this.#ends) return;
    for (const [vertex, side] of [[arc.s, "out"], [arc.d, "in"]]) {
      const name = vertexKey(vertex);
      if (!this.#ends.has(name)) this.#ends.set(name, { out: new Map(), in: new Map() });
      this.#ends.get(name)[side].set(key, arc);
    }
  }

  /** What a server needs to continue this graph, with at most so many bits: its sums, or "" if it is empty. */
  have(mostBits, seed) {
    if (this.vertices.size === 0) return "";
    const sums = new Sums(this.vertices.size, mostBits, seed);
    const tag = tagged();
    for (const { vx, c } of this.vertices.values()) sums.addVertex(tag(vx), c);
    for (const { s, d, t, a } of this.arcs.values()) sums.addArc(tag(s), tag(d), t, a);
    return String(sums);
  }

  /** The actions that delete what a reset does not keep. */
  dropped(keep) {
    if (!keep) return [];
    const kept = keeps(keep);
    const tag = tagged();
    const actions = [];
    for (const { s, d, t } of this.arcs.values()) if (!kept(tag(s))) actions.push({ darc: { s, d, t } });
    for (const { vx } of this.vertices.values()) if (!kept(tag(vx))) actions.push({ dvx: { vx } });
    return actions;
  }

  /** Forgets everything. */
  forget() {
    this.vertices.clear();
    this.arcs.clear();
    this.#ends = undefined;
    this.reconnected();
    this.rev = "";
  }

  /** Prepares for a new connection, which sends all live warnings and synced again. */
  reconnected() {
    this.warnings.clear();
    this.synced = false;
  }
}
