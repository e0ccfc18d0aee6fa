// The changes of a graph in words.

import { atEnd, fieldsOf, isAct, severityOf } from "./acts.js";

const mostPaths = 2; // fields that a line names

/** Returns how bad a change is: 2 if an object is degraded or missing after it, 1 if it is on its way, else 0. */
export const levelOf = (change) => (severityOf(change) > 2 ? 2 : Math.max(0, Math.min(1, severityOf(change))));

/** Returns the sort of a change: act, health, or other. */
export const sortOf = (change) => (isAct(change) ? "act" : change.type === "health" ? "health" : "other");

/** "14:02:38", and of another day "Nov 28, 14:02:38". */
export function clock(time, now = Date.now()) {
  const date = new Date(time);
  const words = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return date.toDateString() === new Date(now).toDateString() ? words : `${date.toLocaleDateString([], { month: "short", day: "numeric" })}, ${words}`;
}

/** "12 minutes ago" */
export function ago(time, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  const [n, unit] = seconds < 90 ? [seconds, "second"] : seconds < 5400 ? [Math.round(seconds / 60), "minute"] : seconds < 129_600 ? [Math.round(seconds / 3600), "hour"] : [Math.round(seconds / 86_400), "day"];
  return `${n} ${unit}${n === 1 ? "" : "s"} ago`;
}

const healthWords = ({ to = "unknown", why }) => (why && why !== to ? `${to}: ${why}` : to);

function pathWords({ p, op, b, a }, brief) {
  const path = brief ? p.replace(/^spec\.(template\.spec\.)?/, "") : p;
  const common = brief && b !== undefined && a?.startsWith(b.slice(0, b.lastIndexOf("/") + 1)) ? b.lastIndexOf("/") + 1 : 0; // of images, their registry
  if (b !== undefined && a !== undefined) return `${path}: ${b.slice(common)} → ${a.slice(common)}`;
  return b === undefined && a === undefined ? `${path} ${op}` : `${path}: ${b ?? a} ${op}`;
}

function pathsWords(change, brief) {
  if (!change.paths) return "changed while nothing was recorded";
  const fields = fieldsOf(change);
  const shown = fields.slice(0, brief ? 1 : mostPaths);
  const more = fields.length - shown.length + (change.morePaths ?? 0);
  return `${shown.map((field) => pathWords(field, brief)).join(", ") || "its metadata"}${more > 0 ? ` and ${more} more field${more === 1 ? "" : "s"}` : ""}`;
}

function referenceWords({ d, k, w = [], change }) {
  const leads = `${w.join(", ") || "owned by"} ${k ?? d.r} ${d.n}`;
  return { removed: `no longer ${leads}`, missing: `${leads}, which is missing` }[change] ?? `now ${leads}`;
}

/** "spec.replicas: 3 → 1", "data.features.json changed", "degraded: CrashLoopBackOff", "removed"; brief is one field without what all paths begin with. */
export function changeWords(change, { brief = false } = {}) {
  const { type, health, ref, t, f, times, first } = change;
  const words = ref ? referenceWords(ref)
    : type === "content" ? pathsWords(change, brief)
      : type === "health" ? healthWords(health ?? {}) : type === "added" && severityOf(change) > 0 ? `added, ${healthWords(health)}` : type;
  if (times > 1) return `${words} (×${times} since ${clock(Date.parse(first))})`;
  return f ? `${words} (between ${clock(Date.parse(f))} and ${clock(Date.parse(t))})` : words;
}

/** The changes of a line in words, the worst first. */
export const lineWords = (line) => [...new Set(atEnd(line).map((change) => changeWords(change)))].slice(0, mostPaths).join(", ");

/** "ConfigMap web", "Pod ×3 web-7c9b8d-…" */
export function objectsOf(line) {
  const names = [...new Set(line.map(({ vx }) => vx.n))];
  const [first] = names;
  let common = first;
  for (const name of names) while (!name.startsWith(common)) common = common.slice(0, -1);
  return names.length === 1 ? `${line[0].k} ${first}` : `${line[0].k} ×${names.length} ${common ? `${common}…` : `${first}, …`}`;
}

/** How an object leads to another one: "Deployment web mounts it", "owned by ReplicaSet web-7c9". */
export function viaWords({ via }) {
  if (!via) return "";
  const { vx, k, w = [], up } = via;
  const name = `${k ?? vx.r} ${vx.n}`;
  return up ? `${w.join(", ") || "owned by"} ${name}` : `${name} ${w.length > 0 ? w.join(", ") : "is owned by"} it`;
}
