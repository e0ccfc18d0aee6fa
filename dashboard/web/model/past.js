// The graph as it was at a moment, and how it differs from the graph as it is.
import { ownerOf } from "./fold.js";
import { Store } from "./store.js";

const attributes = ({ c, f, w, absence }) => ({ c, f, w, e: absence === "missing", o: absence === "optional", x: { outside: "outside", unseen: "unknown" }[absence] });

/**
 * Returns a store of the graph as it was, and counts: how many objects came since, went, and changed, as their keys say or by
 * what differs. An object that came since is in the store, too, unless its owner was there.
 */
export function storeAt(at, actions, live, keys) {
  const store = new Store();
  store.kindOf = live.kindOf;
  store.hasAll = live.hasAll;
  store.apply(actions, { quiet: true, at });
  const counts = { came: 0, went: 0, changed: 0, vertices: store.present, arcs: store.arcs };
  store.take(at); // judges the objects that have ended or select nothing
  const came = [...live].filter((v) => v.present && !store.find(v.key)?.present);
  const alone = came.filter((v) => !store.find(v.key) && !store.find(topOf(v).key)?.present);
  store.apply(alone.map((v) => ({ svx: { vx: v, m: { k: v.kind, app: v.app, t: v.t, u: v.uid } } })), { quiet: true, at });
  for (const { out } of alone) {
    store.apply(out.filter(({ d }) => store.find(d.key)).map((arc) => ({ sarc: { s: arc.s, d: arc.d, t: arc.t, a: attributes(arc) } })), { quiet: true, at });
  }
  for (const v of came) {
    const then = store.find(v.key);
    if (then) then.differs = "+"; // also an object that was missing
    else store.find(topOf(v).key).differs = "~";
  }
  counts.came = came.length;
  for (const v of store) {
    if (!v.present || v.differs === "+") continue;
    const differs = differenceOf(v, store, live) || (keys.has(v.key) ? "~" : "");
    if (differs === "-") counts.went++;
    else if (differs) counts.changed++;
    v.differs = differs || v.differs;
  }
  return { store, counts };
}

// Returns the outermost owner.
function topOf(v) {
  const seen = new Set([v]);
  for (let owner = ownerOf(v); owner && !seen.has(owner); owner = ownerOf(owner)) seen.add(owner);
  return [...seen].at(-1);
}

// Compares an object with the same one now: "-" if that is gone, "~" if it differs. References to objects that are only in one
// of the graphs do not count.
function differenceOf(v, store, live) {
  const now = live.find(v.key);
  if (!now?.present) return "-";
  if (v.health !== now.health || v.why !== now.why || v.uid !== now.uid || String(v.rd) !== String(now.rd)) return "~";
  const namesOf = ({ out }, other) => out.filter(({ d }) => !d.present || other.find(d.key)?.present).map(({ d, t }) => `${t} ${d.key}`).sort().join();
  return namesOf(v, live) === namesOf(now, store) ? "" : "~";
}
