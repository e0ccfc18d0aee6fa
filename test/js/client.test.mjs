import assert from "node:assert/strict";
import test from "node:test";

import { Connection } from "../../client/js/connection.js";
import { GraphView, getGraph, getObject, listGraphs, arcKey, vertexKey, warningKey, Graph } from "../../client/js/graphview.js";
import { control, ending, eventually, follow } from "./scenario.mjs";
import { open, require, token, url } from "./place.mjs";

const roads = { "own port": url, "API server": `${url}/kube` };
const view = { namespace: "busy", name: "view", token };
const sockets = { ws: require("ws"), ...(globalThis.WebSocket && { "global WebSocket": globalThis.WebSocket }) };
const ways = { "server-sent events": { transport: "events" } };
for (const [name, WebSocket] of Object.entries(sockets)) ways[name] = { transport: "websocket", WebSocket };

for (const [road, base] of Object.entries(roads)) {
  for (const [way, options] of Object.entries(ways)) {
    test(`Node.js, ${road}, ${way}: a graph over connections that break`, async (t) => {
      const counts = await follow({ url, base, ...view, ...options });
      t.diagnostic(JSON.stringify(counts));
      assert.ok(counts.errors >= 5 && counts.vertices > 0 && counts.arcs > 0, JSON.stringify(counts));
      // It continues where it was: only the first graph is a whole one.
      assert.deepEqual([counts.resets, counts.closed], [1, 1]);
    });
  }
}

for (const [road, base] of Object.entries(roads)) {
  test(`Node.js, ${road}: many graphs on a connection that breaks`, async () => {
    const connection = new Connection({ base, token, WebSocket: sockets.ws });
    const counts = await Promise.all([1, 2].map(() => follow({ url, base, ...view, connection, cuts: 2 })));
    for (const { errors, vertices, resets } of counts) assert.ok(errors >= 2 && vertices > 0 && resets === 1, JSON.stringify(counts));
  });

  test(`Node.js, ${road}: a list and a get`, async () => {
    const listed = await listGraphs({ base, token, namespace: view.namespace });
    assert.ok(listed.some(({ name }) => name === view.name), JSON.stringify(listed));
    assert.ok((await getGraph({ base, ...view })).vertices.size > 0);
    await assert.rejects(getGraph({ base, ...view, name: "unknown" }), { code: 404, reason: "NotFound" });
    await eventually(async () => {
      const { vertices } = await getGraph({ base, ...view, content: "summary" });
      for (const { vx, m, o } of vertices.values()) assert.ok(m.k && m.u && !o, JSON.stringify([vx, m, o]));
      const [{ vx, m }] = vertices.values();
      try {
        const one = await getObject({ base, ...view, key: vx });
        assert.deepEqual([one.vx, one.m.k], [vx, m.k]);
        return "";
      } catch ({ code, message }) {
        if (code === 404) return `${vx.n} has gone meanwhile`;
        throw new Error(message);
      }
    });
    await assert.rejects(getObject({ base, ...view, key: { g: "", r: "pods", ns: view.namespace, n: "unknown" } }), { code: 404 });
  });
}

test("Node.js: a graph over a restart of the server", async (t) => {
  const counts = await follow({ url, base: url, ...view, WebSocket: sockets.ws, cuts: 2, restart: true });
  t.diagnostic(JSON.stringify(counts));
  assert.equal(counts.resets, 1); // the first graph: what it has goes on
});

for (const transport of ["websocket", "events"]) {
  const options = { base: url, ...view, transport, WebSocket: sockets.ws };
  test(`${transport}: what is refused ends with the reason`, async () => {
    assert.deepEqual(await ending({ ...options, name: "unknown" }), {
      code: 404, reason: "NotFound", message: 'graphs.stream.graphview.dev "unknown" not found',
      errors: [{ code: 404, reason: "NotFound", message: 'graphs.stream.graphview.dev "unknown" not found' }],
    });
    assert.equal((await ending({ ...options, token: "wrong" })).code, 401);
    assert.equal((await ending({ ...options, token: undefined })).code, 401);
  });

  test(`${transport}: a token that was refused is asked for once more`, async () => {
    const given = ["wrong", token];
    const stopped = await new Promise((resolve) => {
      const followed = new GraphView({ minDelay: 20, ...options, token: async () => given.shift() });
      followed.addEventListener("synced", () => followed.stop());
      followed.addEventListener("close", ({ detail }) => resolve(detail));
    });
    assert.deepEqual([stopped, given], [{ code: 1000, reason: "Stopped", message: "stopped" }, []]);
    const end = await ending({ ...options, token: () => "wrong" });
    assert.deepEqual([end.code, end.errors.length], [401, 2]);
  });

  test(`${transport}: a view that is deleted ends`, async () => {
    const name = `short-${transport}`;
    const spec = { queries: [{ include: { resourceSelectorExpression: "resource == 'configmaps'" } }], namespaces: { names: ["busy"] } };
    await control(url, "kubectl", {
      args: ["apply"], manifest: { apiVersion: "graphview.dev/v1alpha1", kind: "GraphView", metadata: { namespace: "busy", name }, spec },
    });
    await control(url, "kubectl", { args: ["wait", "--for=condition=Ready", "-n", "busy", `gv/${name}`, "--timeout=180s"] });
    const end = await ending({ ...options, name }, () => control(url, "kubectl", { args: ["delete", "gv", "-n", "busy", name] }));
    assert.deepEqual(end, { code: 1000, reason: "Deleted", message: "the view was deleted", errors: [] });
  });
}

test("pauses grow, to a limit, and are not the same for everybody", async () => {
  const pauses = [];
  await new Promise((resolve) => {
    class Refusing {
      constructor() { queueMicrotask(() => this.onerror()); }
      close() {}
    }
    const followed = new GraphView({
      base: "http://127.0.0.1:1", ...view, WebSocket: Refusing, fetch: () => Promise.reject(new Error("no")),
      minDelay: 1, maxDelay: 8, random: () => (pauses.length % 2 ? 1 : 0),
    });
    followed.addEventListener("error", ({ detail }) => {
      if (pauses.push(detail.retryIn) === 6) followed.stop();
    });
    followed.addEventListener("close", resolve);
  });
  assert.deepEqual(pauses, [0.5, 3, 2, 12, 4, 12]);
});

test("a graph takes actions in order, and ignores what it does not know", () => {
  const pod = { g: "", v: "v1", r: "pods", ns: "shop", n: "a" };
  const node = { g: "", v: "v1", r: "nodes", n: "a" };
  const arc = { s: pod, d: node, t: "r" };
  const warning = { t: "T", m: "one", a: { b: 1, a: { d: 1, c: [2] } } };
  const graph = new Graph();
  graph.apply({ actions: [{ svx: { vx: pod, o: 1 } }, { dvx: { vx: pod } }, { dvx: { vx: node } }, { svx: { vx: pod, o: 2 } }, { sarc: arc }], warnings: [warning], rev: "1", synced: true });
  assert.deepEqual([...graph.vertices], [[vertexKey(pod), { vx: pod, o: 2 }]]);
  assert.deepEqual([...graph.arcs], [[arcKey(arc), arc]]);
  // The order of attributes does not matter.
  graph.apply({ warnings: [{ t: "T", m: "two", a: { a: { c: [2], d: 1 }, b: 1 } }] });
  assert.deepEqual([...graph.warnings.values()].map((w) => w.m), ["two"]);
  graph.apply({ actions: [{ darc: arc }, { darc: arc }], cleared: [{ t: "T", a: warning.a }, { t: "other" }], rev: "2" });
  assert.deepEqual([graph.arcs.size, graph.warnings.size, graph.rev], [0, 0, "2"]);
  graph.apply({ reset: true, actions: [{ svx: { vx: node } }] });
  assert.deepEqual([[...graph.vertices.keys()], graph.rev, graph.synced], [[vertexKey(node)], "", false]);
  assert.notEqual(vertexKey({ ...pod, ns: undefined }), vertexKey(pod));
  assert.notEqual(warningKey({ t: "T", a: { a: 1 } }), warningKey({ t: "T" }));
});

for (const [road, base] of Object.entries(roads)) {
  test(`Chromium, ${road}: a graph over connections that break`, async (t) => {
    const page = await open(t, "/files/test/js/blank.html");
    for (const transport of ["websocket", "events"]) {
      const counts = await page.evaluate(async (options) => {
        const { follow } = await import("/files/test/js/scenario.mjs");
        return follow(options);
      }, { url, base, ...view, transport });
      t.diagnostic(`${transport}: ${JSON.stringify(counts)}`);
      assert.ok(counts.errors >= 5 && counts.vertices > 0 && counts.arcs > 0, JSON.stringify(counts));
      assert.deepEqual([counts.resets, counts.closed], [1, 1]);
    }
  });
}
