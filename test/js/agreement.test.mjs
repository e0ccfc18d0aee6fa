// The page, the part of a graph above an object, and the impact of its deletion name the same users.
import assert from "node:assert/strict";
import test from "node:test";

import { getGraph, getImpact } from "../../client/js/graphview.js";
import { neighbourhood } from "../../dashboard/web/model/scope.js";
import { keyOf, Store } from "../../dashboard/web/model/store.js";
import { token, url } from "./place.mjs";

const view = { base: url, namespace: "large", name: "view", token };
const most = 25; // objects that are asked about

test("the focus of the page, ?root= and ?impact= agree", async () => {
  const graph = await getGraph({ ...view, content: "summary" });
  const store = new Store();
  store.apply([...[...graph.vertices.values()].map((svx) => ({ svx })), ...[...graph.arcs.values()].map((sarc) => ({ sarc }))], { reset: true });
  const used = [...store].filter((v) => v.present && v.in.some((arc) => arc.t !== "or"));
  const asked = used.filter((_, i) => i % Math.ceil(used.length / most) === 0);
  assert.ok(asked.length >= 10, `${asked.length} objects`);
  for (const v of asked) {
    const key = { g: v.g, v: v.v, r: v.r, n: v.n, ...(v.ns ? { ns: v.ns } : {}) };
    const focus = [...neighbourhood(v, { depth: 1, up: true, down: false })].filter((each) => each.present).map((each) => each.key).sort();
    const owned = v.in.filter((arc) => arc.t === "or").map((arc) => arc.s.key);
    const part = await getGraph({ ...view, content: "none", roots: [key], direction: "Up", depth: 1 });
    const above = [...part.vertices.values()].map(({ vx }) => keyOf(vx)).sort();
    if (owned.length === 0) assert.deepEqual(focus, above, v.key);
    else for (const each of above) assert.ok(focus.includes(each), `${each} is above ${v.key}`);
    const { groups } = await getImpact({ ...view, key });
    const told = new Set(groups.flatMap(({ objects }) => objects.map(keyOf)));
    for (const arc of v.in) assert.ok(!arc.s.present || told.has(arc.s.key), `${arc.s.key} refers to ${v.key}`);
    assert.ok(told.has(v.key), v.key);
  }
});
