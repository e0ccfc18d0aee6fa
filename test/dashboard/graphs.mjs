// Writes graphs for replay: node graphs.mjs DIRECTORY [SIZE ...]
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cluster, random } from "./cluster.mjs";

/** Changes of a graph without end, so many at once: pods whose state changes, and pods that are replaced. */
export function* endless(actions, { each = 5, seed = 7, replaced = 0.2 } = {}) {
  const next = random(seed);
  const pods = actions.filter(({ svx }) => svx?.vx.r === "pods").map(({ svx }) => svx);
  const arcs = new Map();
  for (const { sarc } of actions) {
    if (!sarc) continue;
    for (const end of [sarc.s, sarc.d]) {
      if (end.r !== "pods") continue;
      const key = `${end.ns}/${end.n}`;
      if (!arcs.has(key)) arcs.set(key, []);
      arcs.get(key).push(sarc);
    }
  }
  for (;;) {
    const list = [];
    for (let j = 0; j < each; j++) {
      const at = Math.floor(next() * pods.length);
      const pod = pods[at];
      if (next() >= replaced) {
        const health = ["ok", "ok", "progressing", "degraded"][Math.floor(next() * 4)];
        list.push({ svx: { vx: pod.vx, m: { ...pod.m, h: health, ...(health === "degraded" ? { w: "CrashLoopBackOff" } : { w: undefined }) } } });
        continue;
      }
      const key = `${pod.vx.ns}/${pod.vx.n}`;
      const vx = { ...pod.vx, n: pod.vx.n.replace(/-[^-]*$/, `-${Math.floor(next() * 2 ** 31).toString(36)}`) };
      const to = (end) => (end.r === "pods" && end.n === pod.vx.n && end.ns === pod.vx.ns ? vx : end);
      const own = arcs.get(key) ?? [];
      for (const { s, d, t } of own) list.push({ darc: { s, d, t } });
      list.push({ dvx: { vx: pod.vx } }, { svx: { vx, m: { ...pod.m, h: "progressing" } } });
      const moved = own.map((arc) => ({ ...arc, s: to(arc.s), d: to(arc.d) }));
      for (const sarc of moved) list.push({ sarc });
      arcs.delete(key);
      arcs.set(`${vx.ns}/${vx.n}`, moved);
      pods[at] = { vx, m: pod.m };
    }
    yield list;
  }
}

/** A history of so many changes that ends now, as a server answers with it, and the graph before the last of them. */
export function historyOf(actions, { changes: wanted = 2_000, undone = 12, now = Date.now(), span = 3_600_000, seed = 3 } = {}) {
  const next = random(seed);
  const timeOf = (time) => `${new Date(time).toISOString().slice(0, -1)}000Z`;
  const objects = actions.filter(({ svx }) => svx).map(({ svx }) => svx);
  const changes = [];
  while (changes.length < wanted) {
    const { vx, m } = objects[Math.floor(next() * objects.length)];
    // Changes come in bursts, as those of a rollout do.
    const change = { t: timeOf(now - Math.floor((Math.floor(next() * 40) + next() ** 3) * (span / 40))), vx, k: m.k };
    if (vx.r === "configmaps") changes.push({ ...change, type: "content", paths: [{ p: "data.settings.json", op: "changed" }] });
    else if (vx.r === "deployments") changes.push({ ...change, type: "content", paths: [{ p: "spec.template.spec.containers[main].image", op: "changed", b: "shop/web:1.4", a: "shop/web:1.5" }] });
    else if (next() < 0.15) changes.push({ ...change, type: "added" });
    else if (m.h) changes.push({ ...change, type: "health", health: { from: "ok", to: m.h, ...(m.w ? { why: m.w } : {}) } });
  }
  changes.sort((a, b) => (a.t > b.t ? -1 : 1));
  const nameOf = (vx) => JSON.stringify(vx);
  const last = (type) => new Set(changes.slice(0, undone).filter((change) => change.type === type).map(({ vx }) => nameOf(vx)));
  const [gone, well] = [last("added"), last("health")];
  const past = actions.filter(({ svx, sarc }) => !gone.has(nameOf(svx ? svx.vx : sarc.s)) && !(sarc && gone.has(nameOf(sarc.d))))
    .map(({ svx, sarc }) => (svx && well.has(nameOf(svx.vx)) ? { svx: { ...svx, m: { ...svx.m, h: "ok", w: undefined } } } : { svx, sarc }));
  return { history: { changes, since: timeOf(now - span), until: timeOf(now), gaps: [{ from: timeOf(now - 0.6 * span), until: timeOf(now - 0.55 * span), why: "the operator was not running" }] }, past };
}

/** Some of them, as lists. */
export function changesOf(actions, { lists = 200, ...options } = {}) {
  const changes = endless(actions, options);
  return Array.from({ length: lists }, () => changes.next().value);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dir, ...sizes] = process.argv.slice(2);
  mkdirSync(dir, { recursive: true });
  for (const size of sizes) {
    const live = size.endsWith("-live");
    const actions = cluster(Number.parseInt(size, 10));
    writeFileSync(path.join(dir, `${size}.json`), JSON.stringify(actions));
    if (live) writeFileSync(path.join(dir, `${size}.changes.json`), JSON.stringify(changesOf(actions)));
  }
}
