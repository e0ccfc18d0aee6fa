// The graph as the page holds it: integer ids, adjacency in both directions, and
// what changed lately. It knows the protocol's actions and nothing of drawing.
import { Sums, keeps, tagOfKey } from "../../../client/js/contents.js";
import { explaining, healthAt, selectsNothing } from "../../../client/js/health.js";
import { resource } from "./kinds.js";

/**
* The healths of objects, from good to bad. Four are for targets of references that are not
* in the graph: "unseen" if the view does not watch them, "outside" if it does not select
* them, "optional" if they need not exist, and "missing" if another object needs them.
*/
export const healths = ["unknown", "unseen", "outside", "optional", "ok", "suspended", "terminating", "progressing", "degraded", "missing"];
const order = new Map(healths.map((name, i) => [name, i]));
const attention = order.get("degraded"); // from this level on

/** How bad a health is, as a number. */
export const levelOf = (health) => order.get(health) ?? 0;

/** The worse of two. */
export const worse = (a, b) => (levelOf(a) >= levelOf(b) ? a : b);

/** Reports whether an object with this health needs attention. */
export const isProblem = (health) => levelOf(health) >= attention;

/** The identity of a vertex, as a short string that also goes into a URL. */
export const keyOf = (v) => `${v.g}/${v.v}/${v.r}/${v.ns ?? ""}/${v.n}`;

/** Roles of what one card alone may use, and that then is folded into one. */
export const leafRoles = new Set(["config", "storage", "identity"]);

const journalSize = 10_000;
const mostWords = 10_000; // texts that are kept once
const noWords = [];

/** The kinds of arcs. "or" leads from an object to its owner. */
export const arcTypes = ["or", "r", "t"];

/** How filters call them. */
export const typeNames = { or: "owner", r: "uses", t: "names" };

export class Store {
  byKey = new Map(); // key: id
  vertices = []; // by id: a vertex, or undefined
  present = 0; // vertices that are in the graph
  arcs = 0;
  revision = 0; // grows with what the impact of a deletion may depend on: objects, arcs, and what holds an object
  journal = []; // {at, what: + ~ -, key, health, was}
  kindOf = (/** @type {{ g: string, r: string }} */ _key) => undefined; // the kind of what a reference leads to, if the server says it
  hasAll = (/** @type {string} */ _group, /** @type {string} */ _kind, /** @type {string} */ _namespace) => false; // whether the graph has all objects of a kind there
  #changed = []; // vertices whose structure changed since take()
  #restated = []; // vertices whose state alone changed since take()
  #free = [];
  #ended = new Set(); // vertices that have ended, such as failed pods
  #selecting = new Set(); // vertices that have to select an object
  #words = new Map(); // texts that many objects share, each once

  /** Carries out a rev's actions. Reset forgets everything first; what is new is no news then, nor if quiet. */
  apply(actions, { reset = false, quiet = reset, at = 0 } = {}) {
    if (reset) this.#forget();
    for (const { svx, dvx, sarc, darc } of actions) {
      if (svx) this.#set(svx, at, quiet);
      else if (dvx) this.#unset(dvx.vx, at);
      else if (sarc) this.#connect(sarc);
      else if (darc) this.#disconnect(darc);
    }
  }

  /** Takes over the graph of another store, which is not used any more. */
  become(other) {
    this.#forget();
    this.revision += other.revision;
    [this.byKey, this.vertices, this.present, this.arcs] = [other.byKey, other.vertices, other.present, other.arcs];
    [this.#changed, this.#restated, this.#free, this.#words, this.#ended] = [other.#changed, other.#restated, other.#free, other.#words, other.#ended];
    this.#selecting = other.#selecting;
    // The kinds of what is not there are said last.
    for (const v of this) if (!v.present) v.kind = this.#word(this.kindOf(v) ?? v.kind);
  }

  /** Returns the vertices that changed or were deleted since the last call. */
  take(now = 0) {
    const others = explaining(() => this.#said());
    for (const v of this.#selecting) this.#seek(v, now, others);
    for (const v of this.#ended) {
      // Its controller has made another one.
      const health = v.out.some((arc) => arc.c && arc.d.health === "ok") ? "unknown" : v.said;
      if (health !== v.health) this.#change(v);
      this.#judge(v, health);
    }
    const [changed, restated] = [this.#changed, this.#restated];
    this.#changed = [];
    this.#restated = [];
    for (const v of changed) v.changed = false;
    for (const v of restated) v.restated = false;
    return { changed, restated };
  }

  get(id) { return this.vertices[id]; }

  find(key) { return this.vertices[this.byKey.get(key)]; }

  /** Iterates over all vertices, including missing targets of references. */
  *[Symbol.iterator]() { for (const v of this.vertices) if (v) yield v; }

  /** Lets time do what no message does: what is overdue becomes degraded. */
  grow(now) {
    for (const v of this.vertices) {
      if (!v || v.overdue === undefined || v.overdue * 1000 > now || v.health === "degraded") continue;
      this.#log({ at: now, what: "~", key: v.key, health: "degraded", was: v.health });
      const { health, why } = healthAt({ h: v.health, w: v.why, od: v.overdue }, now);
      this.#judge(v, v.said = health);
      v.why = why;
      this.#change(v);
    }
  }

  // Judges a vertex that has to select an object.
  #seek(v, now, others) {
    const found = v.said === "degraded" || v.said === "terminating" ? "" : selectsNothing(v.m, now, {
      selects: (group, kind) => v.out.some(({ d }) => d.present && d.g === group && d.kind === kind),
      hasAll: (group, kind) => this.hasAll(group, kind, v.ns),
      others: () => others(v.ns),
    });
    const health = found ? "degraded" : v.said;
    if (health === v.health) return;
    this.#judge(v, health);
    v.why = found || v.m.w || "";
    this.#change(v);
  }

  // The names of the objects, and the parts of their summaries that may say why nothing is selected.
  *#said() {
    for (const v of this) if (v.present) yield { vx: v, m: { h: v.said, rd: v.rd, pl: v.pl } };
  }

  #forget() {
    this.revision++;
    this.byKey.clear();
    this.#ended.clear();
    this.#selecting.clear();
    this.#words.clear();
    this.vertices = [];
    this.#free = [];
    this.present = this.arcs = 0;
    this.take();
  }

  #change(v) {
    if (v.changed) return;
    v.changed = true;
    this.#changed.push(v);
  }

  #restate(v) {
    if (v.restated) return;
    v.restated = true;
    this.#restated.push(v);
  }

  #judge(v, health) {
    v.health = health;
    v.level = levelOf(health);
  }

  /** The sums of what is there, by which a server continues it; "" if nothing is. */
  have(mostBits, seed) {
    if (this.present === 0) return "";
    const sums = new Sums(this.present, mostBits, seed);
    const tags = this.vertices.map((v) => v && tagOfKey(v));
    for (const v of this) {
      if (v.present) sums.addVertex(tags[v.id], v.c);
      for (const { d, t, f, w, bits } of v.out) sums.addArc(tags[v.id], tags[d.id], t, attributesOf(bits), f, w);
    }
    return String(sums);
  }

  /** The actions that delete what a reset does not keep. */
  dropped(keep) {
    const kept = keeps(keep);
    const actions = [];
    for (const v of this) {
      if (kept(tagOfKey(v))) continue;
      for (const { s, d, t } of v.out) actions.push({ darc: { s: nameOf(s), d: nameOf(d), t } });
      if (v.present) actions.push({ dvx: { vx: nameOf(v) } });
    }
    return actions;
  }

  // The same text as the same string, so that it is compared at a glance and kept once.
  #word(text) {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    if (this.#words.size >= mostWords) this.#words.clear();
    this.#words.set(text, text);
    return text;
  }

  #vertex(key) {
    const text = keyOf(key);
    let id = this.byKey.get(text);
    if (id !== undefined) return this.vertices[id];
    id = this.#free.pop() ?? this.vertices.length;
    const about = resource(key.r);
    const v = {
      id, key: text, g: this.#word(key.g), v: this.#word(key.v), r: this.#word(key.r), ns: this.#word(key.ns ?? ""), n: key.n,
      kind: this.#word(this.kindOf(key) ?? about.kind), short: about.short, role: about.role, rank: about.rank,
      present: false, health: "missing", level: levelOf("missing"), why: "", rd: undefined, t: 0, overdue: undefined, app: "", uid: "", c: "", del: "", root: false, changedAt: 0,
      out: [], in: [], // arcs
      changed: false, restated: false, // whether take() tells of it
      differs: "", // of past: "+", "-" or "~"
      problem: undefined, // of causes
      card: undefined, home: undefined, owner: undefined, anchor: undefined, stamp: 0, // of fold
    };
    this.vertices[id] = v;
    this.byKey.set(text, id);
    this.#change(v);
    return v;
  }

  #set({ vx, m = /** @type {any} */ ({}), c = "" }, at, quiet) {
    const v = this.#vertex(vx);
    v.c = c;
    const { health, why } = healthAt(m, at);
    const fresh = !v.present;
    const [was, wasApp] = [v.health, v.app];
    v.kind = this.#word(m.k ?? v.kind);
    this.#judge(v, v.said = health);
    if (m.end) this.#ended.add(v);
    else this.#ended.delete(v);
    v.why = why;
    if (m.sel) this.#selecting.add(v);
    else this.#selecting.delete(v);
    v.m = m.sel ? m : undefined; // what it selects
    v.pl = m.pl; // the labels of the pods that it makes
    v.rd = m.rd;
    v.t = m.t ?? 0;
    v.overdue = m.od; // seconds since 1970, from when on it counts as degraded
    v.app = this.#word(m.app ?? "");
    v.uid = m.u ?? "";
    const del = m.del ? this.#word(JSON.stringify(m.del)) : "";
    if (fresh || del !== v.del) this.revision++;
    v.del = del;
    v.root = m.root === true;
    v.x = m.x; // references to other clusters
    v.changedAt = quiet ? 0 : at;
    if (fresh) {
      v.present = true;
      this.present++;
    }
    // How what others use is, and what is in no app, decides whether it is folded; a pod's card
    // is the same card.
    const folds = leafRoles.has(v.role) || (v.card && (v.card.spare || v.card.rest || leafRoles.has(v.card.anchor.role)));
    const structural = fresh || v.app !== wasApp || (was !== health && folds);
    if (structural) this.#change(v);
    else this.#restate(v);
    if (!quiet) this.#log({ at, what: fresh ? "+" : "~", key: v.key, health, was: fresh ? "" : was });
  }

  #unset(key, at) {
    const v = this.find(keyOf(key));
    if (!v?.present) return;
    v.present = false;
    this.#ended.delete(v);
    this.#selecting.delete(v);
    this.present--;
    this.revision++;
    this.#log({ at, what: "-", key: v.key, health: "", was: v.health });
    Object.assign(v, { why: "", rd: undefined, overdue: undefined, app: "", root: false, changedAt: at });
    this.#judge(v, absence(v));
    this.#change(v);
    this.#sweep(v);
  }

  #connect(a) {
    const [s, d] = [this.#vertex(a.s), this.#vertex(a.d)];
    const about = a.a ?? {};
    let arc = between(s, d, a.t);
    const known = arc !== undefined;
    if (known) {
      if (about.f || about.e) [arc.f, arc.w] = [about.f ?? noWords, about.w ?? noWords];
    } else {
      arc = { s, d, t: this.#word(a.t), f: about.f ?? noWords, w: about.w ?? noWords, c: false, bits: 0, absence: "missing" };
      s.out.push(arc);
      d.in.push(arc);
      this.arcs++;
      this.#change(s);
      this.#change(d);
    }
    this.revision++;
    arc.c = about.c === true;
    arc.bits = bitsOf(about);
    arc.absence = about.x === "outside" ? "outside" : about.x !== undefined ? "unseen" : about.o === true ? "optional" : "missing";
    if (!d.present) this.#absent(d, known ? absence(d) : d.in.length === 1 ? arc.absence : worse(d.health, arc.absence));
  }

  #disconnect(a) {
    const [s, d] = [this.find(keyOf(a.s)), this.find(keyOf(a.d))];
    const arc = s && d && between(s, d, a.t);
    if (!arc) return;
    s.out.splice(s.out.indexOf(arc), 1);
    d.in.splice(d.in.indexOf(arc), 1);
    this.arcs--;
    this.revision++;
    this.#change(s);
    this.#change(d);
    if (!d.present) this.#absent(d, absence(d));
    this.#sweep(s);
    this.#sweep(d);
  }

  // A vertex that is not in the graph has the worst health that its references give it.
  #absent(v, health) {
    if (health === v.health) return;
    this.#judge(v, health);
    this.#change(v);
  }

  // A vertex that is not there and that nothing refers to is forgotten.
  #sweep(v) {
    if (v.present || v.in.length + v.out.length > 0) return;
    if (this.vertices[v.id] !== v) return;
    this.byKey.delete(v.key);
    this.vertices[v.id] = undefined;
    this.#free.push(v.id);
    this.#change(v);
  }

  #log(entry) {
    this.journal.push(entry);
    if (this.journal.length > journalSize * 1.1) this.journal.splice(0, this.journal.length - journalSize);
  }
}

const nameOf = ({ g, v, r, ns, n }) => ({ g, v, r, ...ns && { ns }, n });

// The attributes of an arc that are no texts, as a number, and back.
const bitsOf = ({ c, b, e, o, x }) => (c ? 1 : 0) | (b ? 2 : 0) | (e ? 4 : 0) | (o ? 8 : 0) | (x === "outside" ? 16 : x ? 32 : 0);

const attributes = Array.from({ length: 64 }, (_, bits) => ({
  c: (bits & 1) > 0, b: (bits & 2) > 0, e: (bits & 4) > 0, o: (bits & 8) > 0, x: bits & 16 ? "outside" : bits & 32 ? "unknown" : "",
}));

const attributesOf = (bits) => attributes[bits];

// Searches the end with fewer arcs, and so never an end with thousands of them.
function between(s, d, t) {
  if (s.out.length <= d.in.length) return s.out.find((arc) => arc.d === d && arc.t === t);
  return d.in.find((arc) => arc.s === s && arc.t === t);
}

// Returns the health of a vertex that is not in the graph: the worst among its references.
function absence(v) {
  if (v.in.length === 0) return "missing";
  let health = healths[0];
  for (const arc of v.in) {
    health = worse(arc.absence, health);
    if (health === "missing") break;
  }
  return health;
}
