// The rows of the outline: namespace, box, owner, what it owns. A list of all
// rows that are open is made when one is asked for after a change.
import { problems as problemsOf } from "./causes.js";
import { differences, readyOf } from "./card.js";
import { ownerOf } from "./fold.js";
import { counted } from "./kinds.js";
import { natural } from "./natural.js";
import { isSystem } from "./rest.js";
import { worse } from "./store.js";

export class Outline {
  #model;
  #rows;
  #closed = new Set(); // rows of places and boxes that are closed
  #opened = new Set(); // rows of objects that are open

  constructor(model) {
    this.#model = model;
  }

  changed() { this.#rows = undefined; }

  /** Rows from and to, how many there are, and where a key is, if asked for. */
  window({ from = 0, to = 50, key }) {
    const rows = this.#all();
    const at = key === undefined ? -1 : this.#find(key);
    const all = this.#all();
    return { total: all.length, at, from, rows: (rows === all ? rows : all).slice(from, to).map((row) => row.show()) };
  }

  /** Opens or closes a row; all: every one. It returns the number of rows. */
  expand({ key, open, all }) {
    if (all) {
      this.#closed.clear();
      this.#opened = new Set(open ? [...this.#vertices()].map((v) => v.key) : []);
    } else if (key.startsWith("ns:") || key.startsWith("box:")) {
      if (open) this.#closed.delete(key);
      else this.#closed.add(key);
    } else if (open) this.#opened.add(key);
    else this.#opened.delete(key);
    this.#rows = undefined;
    return this.#all().length;
  }

  * #vertices() { for (const place of this.#model.places.values()) for (const card of place.cards) yield* card.members; }

  // Where an object's row is; what it is in is opened.
  #find(key) {
    const known = this.#all().findIndex((row) => row.key === key);
    if (known >= 0) return known;
    for (const v of this.#vertices()) {
      if (v.key !== key) continue;
      for (let up = this.#above(v); up; up = this.#above(up)) this.#opened.add(up.key);
      this.#closed.delete(`ns:${v.home}`);
      this.#closed.delete(`box:${v.home} ${v.card.app.key}`);
      this.#rows = undefined;
    }
    return this.#all().findIndex((row) => row.key === key);
  }

  // The row that a vertex is below: its owner, else its card's first. A circle of owners begins with its anchor.
  #above(v) {
    const owner = ownerOf(v);
    if (owner && owner.card === v.card && (v.anchor !== v || owner.anchor !== v)) return owner;
    return v === v.card.anchor || v.card.uses ? undefined : v.card.anchor;
  }

  #all() {
    if (this.#rows) return this.#rows;
    const rows = this.#rows = [];
    const places = [...this.#model.places.values()].sort((a, b) => Number(isSystem(a.name)) - Number(isSystem(b.name)) || natural(a.name, b.name));
    const push = (key, level, pos, size, expanded, show) => {
      rows.push({ key, show: () => ({ key, level, pos, size, expanded, ...show() }) });
    };
    places.forEach((place, i) => {
      const key = `ns:${place.name}`;
      const open = !this.#closed.has(key);
      push(key, 1, i + 1, places.length, open, () => group(place.name || "cluster-scoped", place.apps));
      if (!open) return;
      const apps = [...place.apps].sort((a, b) => (a.sort || 2.5) - (b.sort || 2.5) || natural(a.title, b.title)); // what is shared after apps
      apps.forEach((app, j) => {
        const box = `box:${place.name} ${app.key}`;
        const wide = !this.#closed.has(box);
        push(box, 2, j + 1, apps.length, wide, () => group(app.title, [app], app.why));
        if (wide) this.#cards(app, push);
      });
    });
    return rows;
  }

  #cards(app, push) {
    const tops = app.cards.flatMap((card) => (card.uses ? card.members.filter((v) => !this.#above(v)) : [card.anchor]));
    const below = new Map();
    for (const card of app.cards) {
      for (const v of card.members) {
        const up = this.#above(v);
        if (!up) continue;
        if (!below.has(up)) below.set(up, []);
        below.get(up).push(v);
      }
    }
    const lists = [{ list: tops, done: 0 }]; // of the levels above a row, of which a chain of owners has thousands
    while (lists.length > 0) {
      const last = lists.at(-1), { list } = last;
      const v = list[last.done++];
      if (!v) {
        lists.pop();
        continue;
      }
      const owned = below.get(v);
      const open = owned ? this.#opened.has(v.key) : undefined;
      push(v.key, lists.length + 2, last.done, list.length, open, () => describeRow(v));
      if (open) lists.push({ list: owned, done: 0 });
    }
  }
}

function group(name, apps, why = "") {
  let health = "unknown";
  let vertices = 0;
  const causes = new Set();
  for (const app of apps) {
    health = worse(health, app.health);
    for (const cause of app.causes) causes.add(cause);
    vertices += app.vertices;
  }
  return { name, kind: "", health, state: why || (causes.size > 0 ? problemsOf(causes.size) : counted(vertices, "object")), group: true };
}

const describeRow = (v) => ({
  name: v.n, kind: v.kind, role: v.role, resource: v.r, health: v.health,
  state: [differences[v.differs], v.why || (v.rd ? readyOf(v) : v.health === "unknown" ? "" : v.health)].filter(Boolean).join(" · "),
  uses: v.out.reduce((n, arc) => n + (arc.t === "or" ? 0 : 1), 0), usedBy: v.in.reduce((n, arc) => n + (arc.t === "or" ? 0 : 1), 0),
});
