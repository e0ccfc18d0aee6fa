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
