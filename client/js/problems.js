// The problems of a graph, each below its cause, as the Go client and the command line have them: docs/health.md has the rule.
import { explainingIn, vertexKey } from "./graph.js";

const severities = new Map([["terminating", 1], ["progressing", 2], ["degraded", 3], ["missing", 4]]);

/** How bad a health is: 0 is no problem. */
const severity = (health) => severities.get(health) ?? 0;
const degraded = severity("degraded");

const ordered = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Orders objects by namespace, resource, group, name and version. */
const compare = (a, b) => ordered(a.ns ?? "", b.ns ?? "") || ordered(a.r, b.r) || ordered(a.g, b.g) || ordered(a.n, b.n) || ordered(a.v, b.v);

const isInferred = ({ f }) => f.length > 0 && f.every((field) => field.startsWith("inferred/"));
const isMade = ({ w }) => w.includes("issues"); // by the object that refers to it

/**
 * Groups the problems of objects, the worst first. An object has g, v, r, ns, n, kind, health, why, present, and out and in: arcs with s, d, t, c, f,
 * w, and absence, which is "missing" if the target is needed. The result has, for each cause: object, the cause or the outermost controller of
 * it that is unhealthy too; source, the object that why is about; stops, the others; shared, if every object of its kind has
 * this problem; and bad, unless all of it is only on its way.
 */
export function problemsOf(objects) {
  const all = new Map();
  const scalers = [];
  for (const v of objects) {
    if (v.health !== "ok" && severities.has(v.health)) all.set(v, { v, effects: [], caused: false, root: undefined });
    if (v.kind === "HorizontalPodAutoscaler" && v.g === "autoscaling" && v.present) scalers.push(v);
  }
  if (all.size === 0) return [];
  const order = [...all.keys()].sort((a, b) => severity(b.health) - severity(a.health) || compare(a, b));
  for (const v of order) {
    for (const cause of causesOf(v, all)) {
      all.get(cause).effects.push(v);
      all.get(v).caused = true;
    }
  }
  const roots = [];
  for (const caused of [false, true]) { // a circle of causes begins with its worst
    for (const v of order) {
      const trouble = all.get(v);
      if (trouble.caused !== caused || trouble.root) continue;
      roots.push(v);
      spread(v, all);
    }
  }
  const groups = gather(roots, all);
  for (const v of order) {
    const group = groups.of.get(all.get(v).root);
    if (group.object !== v) group.stops.push(v);
  }
  share(groups.heads, scalers);
  const problems = [...groups.heads.values()];
  const worst = new Map();
  for (const p of problems) {
    let level = severity(p.health);
    for (const { health } of p.stops.sort(compare)) level = Math.max(level, severity(health));
    p.bad = level >= degraded;
    worst.set(p, Math.min(degraded, level));
  }
  return problems.sort((a, b) => worst.get(b) - worst.get(a) || compare(a.object, b.object));
}

/**
 * The problems of a Graph with summaries at a time in milliseconds, each below its cause, the worst first: what the dashboard and
 * `kubectl graphview problems` count.
 */
export function problems(graph, now) {
  const objects = new Map();
  const put = (vx, about) => {
    const key = vertexKey(vx);
    if (!objects.has(key)) objects.set(key, { ...vx, vx, kind: graph.kind(vx), why: "", present: false, health: "absent", out: [], in: [], ...about });
    return objects.get(key);
  };
  const others = explainingIn(graph);
  for (const [key, { vx, m }] of graph.vertices) if (m) put(vx, { kind: m.k, present: true, ...graph.healthAt(key, now, others) });
  for (const { s, d, t, a = {} } of graph.arcs.values()) {
    const absence = a.e && !a.x && !a.o ? "missing" : "";
    const arc = { s: put(s), d: put(d), t, c: a.c, f: a.f ?? [], w: a.w ?? [], absence };
    arc.s.out.push(arc);
    arc.d.in.push(arc);
    if (absence && arc.d.health === "absent") arc.d.health = absence;
  }
  return problemsOf(objects.values()).map(({ object, source, stops, ...rest }) => ({ ...rest, object: object.vx, source: source.vx, stops: stops.map(({ vx }) => vx) }));
}

// The problems that an object's problem follows from: those of the objects that it refers to, unless they are milder, and of
// the objects that it owns, and for an object that another one makes, that of its maker. A deletion follows from deletions only.
function causesOf(v, all) {
  const causes = [];
  const add = (cause) => { if (cause !== v && all.has(cause) && isDeleted(cause) === isDeleted(v)) causes.push(cause); };
  const explains = ({ t, d, absence }) => t !== "or" && (d.present || absence === "missing") && severity(d.health) >= severity(v.health);
  for (const arc of v.out) if (explains(arc) && !isInferred(arc) && !isMade(arc)) add(arc.d);
  for (const arc of v.in) if (arc.t === "or" || (v.health === "missing" && isMade(arc))) add(arc.s);
  return causes;
}

const isDeleted = ({ health }) => health === "terminating";

// Makes an object the root of all problems that follow from it and have no root.
function spread(root, all) {
  all.get(root).root = root;
  const next = [root];
  for (const v of next) {
    for (const effect of all.get(v).effects) {
      const trouble = all.get(effect);
      if (trouble.root) continue;
      trouble.root = root;
      next.push(effect);
    }
  }
}

// Puts roots below their outermost unhealthy controllers: heads by object, and the group of each root. No list of the controllers
// of each root is kept, since thousands may have the same thousands: climbed is the last root whose controllers included
// the object, and it is passed if one of them was the root of its group.
function gather(roots, all) {
  const [heads, of] = [new Map(), new Map()];
  for (const trouble of all.values()) trouble.controller = all.get(controllerOf(trouble.v, all));
  for (const root of roots) {
    let at = all.get(root);
    at.climbed = root;
    at.passed = true;
    for (let owner = at.controller; owner && owner.climbed !== root && (owner.root === root || owner.passed); owner = at.controller) {
      owner.climbed = root;
      owner.passed ||= owner.root === root;
      at = owner;
    }
    const head = at.v;
    let group = heads.get(head);
    if (!group) heads.set(head, group = { object: head, source: head, health: head.health, why: head.why, shared: false, stops: [] });
    if (group.source === head && root.why !== "" && severity(root.health) >= severity(group.health)) Object.assign(group, { source: root, health: root.health, why: root.why });
    of.set(root, group);
  }
  return { heads, of };
}

// The controller of an object if it is unhealthy in the same way.
const controllerOf = (v, all) => v.out.find(({ t, c, d }) => t === "or" && c && all.has(d) && d.health !== "missing" && isDeleted(d) === isDeleted(v))?.d;

// Merges the problems of all autoscalers if none of them gets a metric: the cause is the metrics API.
function share(heads, scalers) {
  if (scalers.some(({ health }) => health === "ok")) return;
  const alike = new Map();
  for (const v of scalers) {
    const { stops, why } = heads.get(v) ?? {};
    if (stops?.length !== 0 || !/^FailedGet.*Metric$/.test(why)) continue;
    if (!alike.has(why)) alike.set(why, []);
    alike.get(why).push(v);
  }
  for (const list of alike.values()) {
    if (list.length < 2) continue;
    const [first, ...others] = list.sort((a, b) => severity(heads.get(b).health) - severity(heads.get(a).health) || compare(a, b));
    Object.assign(heads.get(first), { shared: true, stops: others });
    for (const v of others) heads.delete(v);
  }
}
