// The part of the graph that is drawn: all of it, the part that passes the filters, or the
// neighbourhood of one object. It sets the place of each vertex, undefined for a vertex that
// is not drawn.
import { isProblem } from "./store.js";

export const emptyFilters = () => ({ kinds: [], namespaces: [], apps: [], health: [], types: [], problems: false, recent: false, text: null });

/** Whether any filter is on. */
export const isFiltering = (filters) => filters.problems || filters.recent || Boolean(filters.text) ||
  ["kinds", "namespaces", "apps", "health", "types"].some((name) => filters[name].length > 0);

const recently = 5 * 60_000;

/** A cluster-scoped object is at home where the only namespace is that uses it. */
export function homeOf(v) {
  const own = v.ns;
  if (isNamespace(own)) return own;
  let home = own;
  for (const arc of v.in) {
    const { ns } = arc.s;
    if (!isNamespace(ns) || ns === home) continue;
    if (home !== own) return own;
    home = ns;
  }
  for (const arc of v.out) {
    const { ns } = arc.d;
    if (!isNamespace(ns) || ns === home) continue;
    if (home !== own) return own;
    home = ns;
  }
  return home;
}

// In a picture of several clusters, what is cluster-scoped is in CLUSTER: alone.
const isNamespace = (ns) => ns !== "" && !ns.endsWith(":");

/** The vertices that filters leave, with what leads to them; undefined: all. */
export function select(store, filters, now, { matchesText, isTrouble }) {
  const { kinds, namespaces, apps, health, problems, recent, text } = filters;
  if (![kinds, namespaces, apps, health].some((list) => list.length > 0) && !problems && !recent && !text) return undefined;
  const has = (list, value) => list.length === 0 || list.includes(value);
  const shown = new Set();
  let matches = 0;
  for (const v of store) {
    const fits = has(kinds, v.kind) && has(namespaces, v.ns) && has(apps, v.app) && has(health, v.health) &&
      (!problems || (isProblem(v.health) && isTrouble(v)) || v.differs !== "") && (!recent || now - v.changedAt < recently) && (!text || matchesText(v, now));
    if (!fits) continue;
    matches++;
    withOwners(v, shown);
    // A missing object is drawn with the objects that refer to it.
    if (!v.present) for (const arc of v.in) withOwners(arc.s, shown);
  }
  return { shown, matches };
}

function withOwners(v, shown) {
  for (let at = v; at && !shown.has(at); at = at.out.find((arc) => arc.t === "or" && arc.d.present)?.d) shown.add(at);
}

/** Yields the vertices that v uses or owns, or that use or own v. */
function* neighbours(v, down) {
  for (const arc of v.out) if ((arc.t === "or") !== down) yield arc.d;
  for (const arc of v.in) if ((arc.t === "or") === down) yield arc.s;
}

/**
 * The neighbourhood of an object and of what it owns, by single references. Up is
 * what uses it, down what it uses; both are two walks that never turn back, so that
 * what everything uses does not lead to everything.
 */
export function neighbourhood(v, { depth = 1, up = true, down = true }) {
  const start = new Set([v]);
  for (const each of start) for (const arc of each.in) if (arc.t === "or") start.add(arc.s);
  const shown = new Set(start);
  for (const way of [down && "down", up && "up"]) {
    const seen = new Set(start);
    let edge = way ? [...start] : [];
    for (let step = 0; step < depth; step++) edge = edge.flatMap((at) => [...neighbours(at, way === "down")]).filter((near) => !seen.has(near) && seen.add(near));
    for (const each of seen) shown.add(each);
  }
  return shown;
}
