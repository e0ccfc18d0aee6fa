// Acts and what followed from them, as `kubectl graphview changes` tells them apart: docs/history.md has the rule.
import { keyOf } from "../model/store.js";

const severities = { ok: -2, suspended: -1, unknown: 0, terminating: 1, progressing: 2, degraded: 3 };
const mostConsequences = 2; // lines above an act
const reordered = 1000; // milliseconds by which an act may be recorded later than its consequences
const leastSeries = 3; // changes of a series that nobody makes by hand
const controllers = new Set(["", "apps", "batch"]); // groups whose controllers make objects
const noisy = /^(coordination\.k8s\.io|events\.k8s\.io) |^ (events|endpoints)$/;

/** How bad an object is after a change: from 1 to 3, and not at all up to 0. */
export function severityOf(/** @type {any} */ { type, health, ref }) {
  if (ref?.change === "missing") return severities.degraded;
  return type === "removed" || !health ? severities.ok : severities[health.to] ?? severities.unknown;
}

const ownerOf = ({ o, via }) => o ?? (via?.up && !via.w?.length ? via.vx : undefined);
const nameOf = ({ g, r, ns, n }) => keyOf({ g, r, ns, n, v: "" });

/** Whether a change is no consequence of another one. */
export function isAct(change) {
  const { type, via, times = 1 } = change;
  const owner = ownerOf(change);
  if (owner && controllers.has(owner.g)) return false;
  if (type === "content") return times < leastSeries;
  if (type === "health") return Boolean(via && !via.up && via.w?.length) && severityOf(change) > 0;
  return type === "added" || type === "removed";
}

// Kubernetes writes a field by itself: a part of the metadata that no manifest has, or an annotation of its own.
function isWrittenByKubernetes(path) {
  const [, key] = /^metadata\.annotations\W*([^\]]*)/.exec(path) ?? [];
  if (key !== undefined) return /(kubernetes|k8s)\.io$/.test(key.split("/")[0]);
  return /^(metadata\.(?!labels)|status)/.test(path);
}

/** The fields that say something of an object, those with values first. */
export function fieldsOf({ paths = [] }) {
  const own = paths.filter(({ p }) => !isWrittenByKubernetes(p));
  const hasValue = ({ b, a }) => b !== undefined || a !== undefined;
  return [...own.filter(hasValue), ...own.filter((path) => !hasValue(path))];
}

/** Whether a change says nothing of an application: that of a Lease, or of fields that Kubernetes writes itself. */
export const isNoise = (change) => noisy.test(`${change.vx.g} ${change.vx.r}`) || (change.type === "content" && change.paths && !change.morePaths && fieldsOf(change).length === 0);

// Whether two changes say the same of two objects, to which the same leads.
const alike = (a, b) => nameOf(a.vx) !== nameOf(b.vx) && sameAs(a) === sameAs(b);
const sameAs = ({ type, vx, paths = [], morePaths, via }) => JSON.stringify([type, vx.g, vx.r, paths.map(({ p, op }) => [p, op]), morePaths, via && [via.w, Boolean(via.up)]]);

// Changes, the newest first, with acts after the consequences that were recorded a moment before them.
function causesFirst(changes) {
  const at = (change) => Date.parse(change.t) - (isAct(change) ? reordered : 0);
  return [...changes].sort((a, b) => at(b) - at(a));
}

/**
 * Returns the lines of changes, the newest first, each with the changes of one or more objects, and the number of changes without one:
 * a line for each act, and above it the worst that followed; a good consequence only if no act followed.
 */
export function linesOf(changes, object) {
  const lines = [];
  const told = new Set(changes.filter(({ type }) => type === "added" || type === "removed").map(({ vx }) => nameOf(vx)));
  let [left, act, consequences] = [0, undefined, []];
  const flush = () => {
    const { kept, hidden } = worstOf(consequences, object, lines.length > 0);
    lines.push(...kept);
    left += hidden;
    consequences = [];
  };
  for (const change of causesFirst(changes)) {
    if (isNoise(change) || (change.ref && told.has(nameOf(change.ref.d)))) left++;
    else if (!isAct(change)) consequences.push(change);
    else if (act && alike(act[0], change)) act.push(change);
    else {
      flush();
      lines.push(act = [change]);
    }
  }
  flush();
  return { lines, left };
}

// The lines of the worst consequences, and the number of the others. The objects of one controller are one line. If onlyBad, lines without
// a bad health are left out.
function worstOf(consequences, object, onlyBad) {
  const lines = new Map();
  for (const change of consequences) {
    const group = `${change.vx.g} ${change.vx.r} ${nameOf(ownerOf(change) ?? change.vx)}`;
    if (!lines.has(group)) lines.set(group, []);
    lines.get(group).push(change);
  }
  const worst = (line) => Math.max(...atEnd(line).map(severityOf));
  const own = ([{ vx }]) => Number(object !== undefined && nameOf(vx) === nameOf(object));
  const newest = ([a], [b]) => (a.t < b.t ? 1 : a.t > b.t ? -1 : 0);
  const sorted = [...lines.values()].sort((a, b) => worst(b) - worst(a) || own(b) - own(a) || (b[0].via?.depth ?? 0) - (a[0].via?.depth ?? 0) || newest(a, b));
  const kept = sorted.slice(0, mostConsequences).filter((line) => !onlyBad || worst(line) > 0);
  return { kept: kept.sort(newest), hidden: consequences.length - kept.flat().length };
}

/** The changes of a line without those of healths that an object had only in between, the worst first. */
export function atEnd(line) {
  const said = new Set();
  return line.flatMap((change) => {
    const { type, vx } = change;
    const name = nameOf(vx);
    if (said.has(name)) return type === "health" ? [] : type === "added" ? [{ ...change, health: undefined }] : [change];
    if (type === "health" || type === "removed") said.add(name);
    return [change];
  }).sort((a, b) => severityOf(b) - severityOf(a));
}
