// What of the graph is drawn: all of it, what filters leave, or the neighbourhood
// of one object. It says of each vertex in which place it is at home, undefined
// where it is not shown.
import { isProblem } from "./store.js";

export const emptyFilters = () => ({ kinds: [], namespaces: [], apps: [], health: [], types: [], problems: false, recent: false, text: null });

/** Whether any filter is on. */
export const isFiltering = (filters) => filters.problems || filters.recent || Boolean(filters.text) ||
  ["kinds", "namespaces", "apps", "health", "types"].some((name) => filters[name].length > 0);

const recently = 5 * 60_000;

/** A cluster-scoped object is at home where the only namespace is that uses it. */
export function homeOf(v) {
  if (v.ns) return v.ns;
  let home = "";
  for (const arc of v.in) {
    const { ns } = arc.s;
    if (!ns || ns === home) continue;
    if (home) return "";
    home = ns;
  }
  for (const arc of v.out) {
    const { ns } = arc.d;
    if (!ns || ns === home) continue;
    if (home) return "";
    home = ns;
  }
  return home;
}

/** The vertices that filters leave, with what leads to them; undefined: all. */
export function select(store, filters, now, matchesText) {
  const { kinds, namespaces, apps, health, problems, recent, text } = filters;
  if (![kinds, namespaces, apps, health].some((list) => list.length > 0) && !problems && !recent && !text) return undefined;
  const has = (list, value) => list.length === 0 || list.includes(value);
  const shown = new Set();
  let matches = 0;
  for (const v of store) {
    const fits = has(kinds, v.kind) && has(namespaces, v.ns) && has(apps, v.app) && has(health, v.health) &&
      (!problems || isProblem(v.health)) && (!recent || now - v.changedAt < recently) && (!text || matchesText(v, now));
    if (!fits) continue;
    matches++;
    withOwners(v, shown);
    // What is missing says nothing without those that refer to it.
    if (!v.present) for (const arc of v.in) withOwners(arc.s, shown);
  }
  return { shown, matches };
}

function withOwners(v, shown) {
  for (let at = v; at && !shown.has(at); at = at.out.find((arc) => arc.t === "or" && arc.d.present)?.d) shown.add(at);
}

/** The arcs that lead away from v to what it uses and owns, or to who uses and owns it. */
function* neighbours(v, down) {
  for (const arc of v.out) if ((arc.t === "or") !== down) yield arc.d;
  for (const arc of v.in) if ((arc.t === "or") === down) yield arc.s;
}

function treeOf(v) {
  const seen = new Set();
  let top = v;
  for (let up = v; up && !seen.has(up); up = up.out.find((arc) => arc.t === "or" && arc.d.present)?.d) {
    seen.add(up);
    top = up;
  }
  const tree = new Set([top]);
  for (const each of tree) for (const arc of each.in) if (arc.t === "or") tree.add(arc.s);
  return tree;
}

/**
 * The neighbourhood of an object, in steps from owner tree to owner tree. Up is
 * who uses it, down what it uses; both are two walks that never turn back, so that
 * what everybody uses does not lead to everybody.
 */
export function neighbourhood(v, { depth = 1, up = true, down = true }) {
  const shown = new Set(treeOf(v));
  for (const direction of [down && true, up && false]) {
    if ((direction && !down) || (!direction && !up)) continue;
    const seen = new Set(treeOf(v));
    let edge = [...seen];
    for (let step = 0; step < depth && edge.length > 0; step++) {
      const next = new Set();
      for (const at of edge) {
        for (const near of neighbours(at, direction)) {
          if (seen.has(near)) continue;
          for (const each of treeOf(near)) {
            if (seen.has(each)) continue;
            seen.add(each);
            next.add(each);
          }
        }
      }
      edge = [...next];
    }
    for (const each of seen) shown.add(each);
  }
  return shown;
}
