// The graph as the page holds it: integer ids, adjacency in both directions, and
// what changed lately. It knows the protocol's actions and nothing of drawing.
import { resource } from "./kinds.js";

/** How an object is, from good to bad. "missing" is a reference that leads nowhere. */
export const healths = ["unknown", "ok", "suspended", "terminating", "progressing", "degraded", "missing"];
const order = new Map(healths.map((name, i) => [name, i]));

/** The worse of two. */
export const worse = (a, b) => (order.get(a) >= order.get(b) ? a : b);

/** Whether somebody should look at it. */
export const isProblem = (health) => health === "degraded" || health === "missing";

/** The identity of a vertex, as a short string that also goes into a URL. */
export const keyOf = (v) => `${v.g}/${v.v}/${v.r}/${v.ns ?? ""}/${v.n}`;

/** Roles of what one card alone may use, and that then is folded into one. */
export const leafRoles = new Set(["config", "storage", "identity"]);

const journalSize = 10_000;

/** The kinds of arcs. "or" leads from an object to its owner. */
export const arcTypes = ["or", "r", "t"];

export class Store {
  byKey = new Map(); // key: id
  vertices = []; // by id: a vertex, or undefined
  present = 0; // vertices that are in the graph
  arcs = 0;
  journal = []; // {at, what: + ~ -, key, health, was}
  changed = new Set(); // vertices whose structure changed since take()
  restated = new Set(); // vertices whose state alone changed since take()
  #free = [];

  /** Carries out a rev's actions. Reset forgets everything first. */
  apply(actions, { reset = false, at = 0 } = {}) {
    if (reset) this.#forget();
    for (const { svx, dvx, sarc, darc } of actions) {
      if (svx) this.#set(svx.vx, svx.m ?? {}, at, reset);
      else if (dvx) this.#unset(dvx.vx, at);
      else if (sarc) this.#connect(sarc);
      else if (darc) this.#disconnect(darc);
    }
  }

  /** The vertices that changed since it was asked last, also those that are gone. */
  take() {
    const { changed, restated } = this;
    this.changed = new Set();
    this.restated = new Set();
    return { changed, restated };
  }

  get(id) { return this.vertices[id]; }

  find(key) { return this.vertices[this.byKey.get(key)]; }

  /** All vertices, also those that are referred to and missing. */
  * [Symbol.iterator]() { for (const v of this.vertices) if (v) yield v; }

  /** Lets time do what no message does: what is overdue becomes degraded. */
  grow(now) {
    for (const v of this.vertices) {
      if (!v || v.overdue === undefined || v.overdue * 1000 > now || v.health === "degraded") continue;
      this.#log({ at: now, what: "~", key: v.key, health: "degraded", was: v.health });
      v.health = "degraded";
      this.changed.add(v);
    }
  }

  #forget() {
    this.byKey.clear();
    this.vertices = [];
    this.#free = [];
    this.present = this.arcs = 0;
    this.changed.clear();
    this.restated.clear();
  }

  #vertex(key) {
    const text = keyOf(key);
    let id = this.byKey.get(text);
    if (id !== undefined) return this.vertices[id];
    id = this.#free.pop() ?? this.vertices.length;
    const about = resource(key.r);
    const v = {
      id, key: text, g: key.g, v: key.v, r: key.r, ns: key.ns ?? "", n: key.n,
      kind: about.kind, short: about.short, role: about.role, rank: about.rank,
      present: false, health: "missing", why: "", rd: undefined, t: 0, app: "", root: false, changedAt: 0,
      out: [], in: [], // arcs
      card: undefined, home: "", // of fold
    };
    this.vertices[id] = v;
    this.byKey.set(text, id);
    this.changed.add(v);
    return v;
  }

  #set(key, m, at, quiet) {
    const v = this.#vertex(key);
    const health = m.od !== undefined && m.od * 1000 <= at ? "degraded" : m.h ?? "unknown";
    const fresh = !v.present;
    const [was, wasApp] = [v.health, v.app];
    v.kind = m.k ?? v.kind;
    v.health = health;
    v.why = m.w ?? "";
    v.rd = m.rd;
    v.t = m.t ?? 0;
    v.overdue = m.od; // seconds since 1970, from when on it counts as degraded
    v.app = m.app ?? "";
    v.uid = m.u ?? "";
    v.root = m.root === true;
    v.changedAt = quiet ? 0 : at;
    if (fresh) {
      v.present = true;
      this.present++;
    }
    // Whether what others use is folded into them depends on how it is; a pod's card
    // is the same card.
    const folds = leafRoles.has(v.role) || (v.card && leafRoles.has(v.card.anchor.role));
    const structural = fresh || v.app !== wasApp || (was !== health && folds);
    if (structural) this.changed.add(v);
    else this.restated.add(v);
    if (!quiet) this.#log({ at, what: fresh ? "+" : "~", key: v.key, health, was: fresh ? "" : was });
  }

  #unset(key, at) {
    const v = this.find(keyOf(key));
    if (!v?.present) return;
    v.present = false;
    this.present--;
    this.#log({ at, what: "-", key: v.key, health: "", was: v.health });
    Object.assign(v, { health: "missing", why: "", rd: undefined, app: "", root: false, changedAt: at });
    this.changed.add(v);
    this.#sweep(v);
  }

  #connect(a) {
    const [s, d] = [this.#vertex(a.s), this.#vertex(a.d)];
    const known = s.out.find((arc) => arc.d === d && arc.t === a.t);
    if (known) {
      if (a.a?.f) [known.f, known.w] = [a.a.f, a.a.w ?? []];
      known.c = a.a?.c === true;
      return;
    }
    const arc = { s, d, t: a.t, f: a.a?.f ?? [], w: a.a?.w ?? [], c: a.a?.c === true };
    s.out.push(arc);
    d.in.push(arc);
    this.arcs++;
    this.changed.add(s);
    this.changed.add(d);
  }

  #disconnect(a) {
    const [s, d] = [this.find(keyOf(a.s)), this.find(keyOf(a.d))];
    if (!s || !d) return;
    const at = s.out.findIndex((arc) => arc.d === d && arc.t === a.t);
    if (at < 0) return;
    const [arc] = s.out.splice(at, 1);
    d.in.splice(d.in.indexOf(arc), 1);
    this.arcs--;
    this.changed.add(s);
    this.changed.add(d);
    this.#sweep(s);
    this.#sweep(d);
  }

  // A vertex that is not there and that nothing refers to is forgotten.
  #sweep(v) {
    if (v.present || v.in.length + v.out.length > 0) return;
    if (this.vertices[v.id] !== v) return;
    this.byKey.delete(v.key);
    this.vertices[v.id] = undefined;
    this.#free.push(v.id);
    this.changed.add(v);
    this.restated.delete(v);
  }

  #log(entry) {
    this.journal.push(entry);
    if (this.journal.length > journalSize * 1.1) this.journal.splice(0, this.journal.length - journalSize);
  }
}
