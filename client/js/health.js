// How objects count at a time, from their summaries and from what is around them. The Go client does the same.

/**
 * The health of a summary at a time in milliseconds, and its reason: from od on the object is degraded, and no message
 * says so.
 */
export function healthAt({ h = "unknown", w = "", od }, now) {
  if (od === undefined || od * 1000 > now) return { health: h, why: w };
  return { health: "degraded", why: h === "ok" ? "Expired" : w || (h === "terminating" ? "Terminating" : "") };
}

const patience = 600; // seconds after its creation in which an object may select nothing

// They make pods, and say the labels of these. They have to be in the graph before a selector of pods is judged.
const workloads = [["apps", "Deployment"], ["apps", "StatefulSet"], ["apps", "DaemonSet"], ["batch", "Job"], ["batch", "CronJob"]];

/**
 * A sentence such as "selects no Pod: app=web" for an object with a summary that has to select an object and selects none, else "".
 * Around it are: selects(g, kind), whether it has an arc to an object of a kind; hasAll(g, kind), whether the graph has all objects of a
 * kind in its namespace; and others, the objects of explaining in the namespace.
 */
export function selectsNothing({ sel, t = 0 }, now, { selects, hasAll, others }) {
  if (!sel || now / 1000 - t < patience || selects(sel.g, sel.k)) return "";
  const needed = [[sel.g, sel.k], ...sel.k === "Pod" ? workloads : []];
  if (!needed.every(([g, k]) => hasAll(g, k))) return "";
  for (const { vx, m } of others()) if (explains(sel.q, vx.n, m)) return "";
  return `selects no ${sel.k}: ${sel.q.map(written).join(",")}`;
}

/**
 * Returns a function from a namespace to the objects in it that may say why an object selects nothing. Objects are { vx, m } as in a
 * graph, and are iterated over once, when it is called first: thousands of objects may select nothing.
 */
export function explaining(objects) {
  let found;
  return (ns = "") => {
    if (!found) {
      found = new Map();
      for (const object of objects()) {
        const { vx: { ns: at = "" }, m } = object;
        if (!m || !m.pl && !atRest(m)) continue;
        if (!found.has(at)) found.set(at, []);
        found.get(at).push(object);
      }
    }
    return found.get(ns) ?? [];
  };
}

const atRest = ({ h, rd }) => h === "suspended" || rd?.[1] === 0;

// Whether an object says why nothing is selected: it makes such pods, or it is at rest and the selector names it.
function explains(requirements, name, m) {
  if (m.pl && requirements.every((r) => meets(r, m.pl))) return true;
  return atRest(m) && requirements.some(({ o, v }) => o === "In" && v.includes(name));
}

function meets({ l, o, v = [] }, labels) {
  const has = Object.hasOwn(labels, l);
  if (o === "In") return has && v.includes(labels[l]);
  if (o === "NotIn") return !has || !v.includes(labels[l]);
  return o === "Exists" ? has : !has;
}

// A requirement as kubectl writes it.
function written({ l, o, v = [] }) {
  if (o === "Exists") return l;
  if (o === "DoesNotExist") return `!${l}`;
  return o === "In" && v.length === 1 ? `${l}=${v[0]}` : `${l} ${o.toLowerCase()} (${v.join(",")})`;
}

/** Whether no warning says that objects of a resource in a namespace may be absent from the graph. */
export const isWhole = (warnings, { g, r }, ns) =>
  !warnings.some(({ a = /** @type {any} */ ({}) }) => (a.g ?? "") === g && (!a.r || a.r === r) && (!a.ns || a.ns === ns));
