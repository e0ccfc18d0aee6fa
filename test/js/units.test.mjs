// Unit tests of the client, with sockets and answers of the test. They need no operator: node
// --test units.test.mjs
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Connection } from "../../client/js/connection.js";
import { Sums, tagOf, tagOfKey } from "../../client/js/contents.js";
import { Graph, GraphView, GraphViewError, getChanges, getGraph, getImpact, getObject, listGraphs, problems, vertexKey } from "../../client/js/graphview.js";
import { problemsOf } from "../../client/js/problems.js";
import { createChanges, createStore } from "../../client/js/store.js";
import { keyOf, Store } from "../../dashboard/web/model/store.js";
import { remoteEnds } from "../../dashboard/web/view/remote.js";

const key = (n) => ({ g: "", v: "v1", r: "pods", ns: "shop", n });
const vertex = (n) => ({ svx: { vx: key(n) } });
const arc = (s, d, t = "r") => ({ s: key(s), d: key(d), t });
const moment = () => new Promise((resolve) => setTimeout(resolve, 5));
const until = async (check) => {
  for (let i = 0; i < 1000 && !check(); i++) await moment();
  assert.ok(check(), `in vain: ${check}`);
};

/** A class of sockets that a test plays the server of: opens(socket) is called for each. */
const sockets = (opens) => {
  const all = [];
  return {
    all,
    WebSocket: class {
      readyState = 0;
      said = [];
      constructor(url, protocols) {
        Object.assign(this, { url, protocols });
        all.push(this);
        queueMicrotask(() => opens(this, all.length));
      }
      open() {
        this.readyState = 1;
        this.onopen();
      }
      refuse() { this.onerror(); }
      hear(message) { this.onmessage({ data: typeof message === "string" ? message : JSON.stringify(message) }); }
      send(text) {
        this.said.push(JSON.parse(text));
        this.onsaid?.(JSON.parse(text));
      }
      end(code, reason = "") { this.onclose({ code, reason }); }
      close() { this.readyState = 3; }
    },
  };
};

const answers = (code, body) => async () => ({ ok: code < 400, status: code, statusText: "", json: async () => body });
const place = { namespace: "shop", name: "web", minDelay: 1, maxDelay: 4 };
let bases = 0;
const base = () => `http://127.0.0.${++bases}`; // what is remembered of one is nothing to another

const record = (view) => {
  const events = [];
  for (const type of ["rev", "error", "close"]) view.addEventListener(type, ({ detail }) => events.push({ type, ...detail }));
  return events;
};

test("a graph knows what is beside a vertex", () => {
  const graph = new Graph();
  graph.apply({ actions: [{ sarc: arc("a", "b") }, { sarc: arc("a", "c") }], rev: "1" });
  const names = (arcs, end) => arcs.map((one) => one[end].n).sort();
  assert.deepEqual([names(graph.out(key("a")), "d"), names(graph.in(vertexKey(key("b"))), "s"), graph.in(key("a"))], [["b", "c"], ["a"], []]);
  graph.apply({ actions: [{ darc: arc("a", "b") }, { sarc: arc("d", "c") }, { darc: arc("x", "y") }], rev: "2" });
  assert.deepEqual([names(graph.out(key("a")), "d"), names(graph.in(key("c")), "s"), graph.in(key("b"))], [["c"], ["a", "d"], []]);
  graph.apply({ reset: true });
  assert.deepEqual(graph.out(key("a")), []);
});

test("the client and the page count objects as the Go client does", () => {
  const cases = JSON.parse(readFileSync(new URL("../../client/testdata/health.json", import.meta.url), "utf8"));
  assert.ok(Object.keys(cases).length > 20);
  for (const [name, { message, key: of, now, want: [health, why] }] of Object.entries(cases)) {
    const graph = new Graph();
    graph.apply(message);
    const want = { health: health || "unknown", why };
    assert.deepEqual(graph.healthAt(of, 1000 * now), want, `client: ${name}`);
    const store = new Store();
    store.hasAll = (...about) => graph.hasAll(...about);
    store.apply(message.actions, { reset: true, at: 1000 });
    store.grow(1000 * now);
    store.take(1000 * now);
    const v = store.find(keyOf(of));
    if (v && health) assert.deepEqual({ health: v.health, why: v.why }, want, `page: ${name}`);
    else assert.equal(v?.health ?? "unknown", "unknown", `page: ${name}`);
  }
});

test("the client and the page group problems as the Go client does", () => {
  const cases = JSON.parse(readFileSync(new URL("../../client/testdata/problems.json", import.meta.url), "utf8"));
  assert.ok(Object.keys(cases).length > 10);
  for (const [name, { message, now, want }] of Object.entries(cases)) {
    const graph = new Graph();
    graph.apply(message);
    const plain = ({ object, health, source, why, shared, stops = [] }) => ({ object, health, source, why, shared: shared === true, stops });
    const wanted = want.map(plain);
    assert.deepEqual(problems(graph, 1000 * now).map(plain), wanted, `client: ${name}`);
    const store = new Store();
    store.kindOf = (key) => graph.kind(key);
    store.hasAll = (...about) => graph.hasAll(...about);
    store.apply(message.actions, { reset: true, at: 1000 });
    store.grow(1000 * now);
    store.take(1000 * now);
    const nameOf = ({ g, v, r, ns, n }) => ({ g, v, r, n, ...ns && { ns } });
    const found = problemsOf(store).map((p) => plain({ ...p, object: nameOf(p.object), source: nameOf(p.source), stops: p.stops.map(nameOf) }));
    assert.deepEqual(found, wanted, `page: ${name}`);
  }
});

test("thousands of problems below thousands of owners take no list of the owners of each", () => {
  const [owners, leaves] = [500, 500];
  let reads = 0;
  const objects = Array.from({ length: owners + leaves }, (_, i) => {
    const out = [];
    return { ...key(`o${String(i).padStart(4, "0")}`), kind: "Pod", health: "terminating", why: "", present: true, in: [], get out() { reads++; return out; } };
  });
  for (const [i, s] of objects.entries()) {
    const d = objects[Math.min(i, owners) - 1];
    if (!d) continue;
    const arc = { s, d, t: "or", c: true, f: [], w: [], absence: "" };
    s.out.push(arc);
    d.in.push(arc);
  }
  reads = 0;
  const found = problemsOf(objects);
  assert.deepEqual(found.map(({ object, stops }) => [object.n, stops.length]), [["o0000", objects.length - 1]]);
  assert.ok(reads < 10 * objects.length, `the references were read ${reads} times`);
});

test("a graph is searched once for all objects that select nothing", () => {
  const workloads = [["apps", "Deployment"], ["apps", "StatefulSet"], ["apps", "DaemonSet"], ["batch", "Job"], ["batch", "CronJob"]];
  const sel = { g: "", k: "Pod", q: [{ l: "app", o: "In", v: ["web"] }] };
  const message = {
    rev: "1", synced: true, kinds: [["", "Pod"], ...workloads].map(([g, k]) => ({ g, r: k, k, a: true })),
    actions: Array.from({ length: 50 }, (_, i) => ({ svx: { vx: { g: "", v: "v1", r: "services", ns: "shop", n: `s${i}` }, m: { k: "Service", sel } } })),
  };
  const now = Date.parse("2026-01-01");
  const graph = new Graph();
  graph.apply(message);
  let searches = 0;
  const { vertices } = graph;
  vertices.values = () => { searches++; return Map.prototype.values.call(vertices); };
  assert.equal(problems(graph, now).length, 50);
  assert.equal(searches, 1);
  const store = new Store();
  store.hasAll = () => true;
  store.apply(message.actions, { reset: true, at: now });
  searches = 0;
  store.vertices[Symbol.iterator] = () => { searches++; return Array.prototype.values.call(store.vertices); };
  store.take(now);
  assert.equal([...store].filter(({ health }) => health === "degraded").length, 50);
  assert.equal(searches, 2, "for all that select nothing, and for the test");
});

test("a part of a graph is asked for by name or by key, and a graph knows the kinds of its resources", async () => {
  const roots = [{ g: "apps", r: "deployments", ns: "shop", n: "web" }, "nodes/a"];
  const asked = [];
  const fetch = async (url) => {
    asked.push(new URL(url).search);
    return Response.json({ rev: "1", kinds: [{ g: "", v: "v1", r: "pods", k: "Pod" }] });
  };
  const graph = await getGraph({ base: "http://graphs", namespace: "shop", name: "web", roots, direction: "Both", depth: 2, fetch });
  assert.equal(graph.kind(key("a")), "Pod");
  assert.equal(graph.kind({ g: "", r: "nodes" }), undefined);
  const { all, WebSocket } = sockets(() => {});
  const view = new GraphView({ base: "http://graphs", namespace: "shop", name: "web", roots, depth: 1, WebSocket });
  await until(() => all.length === 1);
  view.stop();
  assert.deepEqual([...new URLSearchParams(asked[0])], [["root", "deployments.apps/shop/web"], ["root", "nodes/a"], ["direction", "Both"], ["depth", "2"]]);
  assert.deepEqual(new URL(all[0].url).searchParams.getAll("root"), ["deployments.apps/shop/web", "nodes/a"]);
  assert.equal(new URL(all[0].url).searchParams.get("depth"), "1");
});

test("a graph of a cluster of a fleet is below the path of the cluster, or asked for by name on a connection", async () => {
  const group = "/apis/stream.graphview.dev/v1alpha1";
  const within = `${group}/clusters/eu%2F1/proxy${group}`;
  const asked = [];
  const fetch = async (url) => {
    asked.push(new URL(url).pathname);
    return Response.json({ rev: "1" });
  };
  const of = { base: "http://graphs/", cluster: "eu/1", ...place, fetch };
  await getGraph(of);
  await listGraphs(of);
  await getGraph({ ...of, cluster: undefined });
  const path = `/namespaces/${place.namespace}/graphs`;
  assert.deepEqual(asked, [`${within}${path}/${place.name}`, `${within}${path}`, `${group}${path}/${place.name}`]);
  const { all, WebSocket } = sockets(() => {});
  const view = new GraphView({ ...of, WebSocket });
  await until(() => all.length === 1);
  view.stop();
  assert.equal(new URL(all[0].url).pathname, `${within}/watch${path}/${place.name}`);
  const said = [];
  const connection = { subscribe: (what) => { said.push(JSON.parse(JSON.stringify(what))); return () => {}; } };
  const one = new GraphView({ connection, cluster: "eu-1", ...place });
  await until(() => said.length === 1);
  one.stop();
  assert.deepEqual(said, [{ cluster: "eu-1", namespace: place.namespace, name: place.name, have: "none" }]);
});

test("what is inferred is left out of whatever is asked for", async () => {
  const asked = [];
  const made = (from, to, ...f) => ({ sarc: { s: key(from), d: key(to), t: "r", a: { f } } });
  const actions = [made("a", "b", "inferred/spec.b"), made("a", "c", "inferred/spec.c", "spec.c"), { sarc: arc("a", "d") }];
  const fetch = async (url) => {
    asked.push(new URL(url).search);
    return Response.json({ actions, rev: "1" });
  };
  const arcs = [];
  for (const inferred of [undefined, null, true, false]) arcs.push((await getGraph({ base: "http://graphs", ...place, inferred, fetch })).arcs.size);
  assert.deepEqual([asked, arcs], [["", "", "", ""], [3, 3, 3, 2]]);
  const { all, WebSocket } = sockets((socket) => {
    socket.open();
    socket.hear({ actions, rev: "1", synced: true });
    socket.hear({ actions: [made("a", "c", "inferred/spec.c")], rev: "2" });
  });
  const view = new GraphView({ base: "http://graphs", ...place, inferred: false, WebSocket });
  await until(() => view.graph.rev === "2");
  view.stop();
  assert.deepEqual([new URL(all[0].url).searchParams.has("inferred"), [...view.graph.arcs.values()].map(({ d }) => d.n)], [false, ["d"]]);
  const said = [];
  const connection = { subscribe: (what) => { said.push(JSON.parse(JSON.stringify(what))); return () => {}; } };
  const views = [
    new GraphView({ connection, ...place, inferred: false }), new GraphView({ connection, spec: { queries: [] }, inferred: false }),
    new GraphView({ connection, ...place }), new GraphView({ connection, ...place, inferred: null }),
  ];
  await until(() => said.length === 4);
  for (const one of views) one.stop();
  const named = { namespace: place.namespace, name: place.name };
  assert.deepEqual(said, [named, { spec: { inferredReferences: "Exclude", queries: [] } }, ...[1, 2].map(() => ({ ...named, have: "none" }))]);
});

test("list and get", async () => {
  const items = [{ metadata: { namespace: "shop", name: "web" }, vertices: 3, arcs: 2, roots: 1, subscribers: 0, synced: true }];
  assert.deepEqual(await listGraphs({ base: base(), fetch: answers(200, { items }) }),
    [{ namespace: "shop", name: "web", vertices: 3, arcs: 2, roots: 1, subscribers: 0, synced: true }]);
  const graph = await getGraph({ base: base(), ...place, fetch: answers(200, { actions: [vertex("a")], rev: "1", synced: true }) });
  assert.deepEqual([graph.vertices.size, graph.rev, graph.synced], [1, "1", true]);
  await assert.rejects(getGraph({ base: base(), ...place, fetch: answers(404, { reason: "NotFound", message: "none" }) }),
    (error) => error instanceof GraphViewError && error.code === 404 && error.reason === "NotFound" && error.message === "none");
});

test("summaries, and one object", async () => {
  const asked = [];
  const replies = (code, body) => async (url) => {
    asked.push(new URL(url));
    return answers(code, body)();
  };
  const summary = { k: "Pod", h: "degraded", w: "CrashLoopBackOff", rd: [1, 2], u: "uid" };
  const of = { base: base(), namespace: "shop", name: "a view" };
  const graph = await getGraph({ ...of, content: "summary", fetch: replies(200, { actions: [{ svx: { vx: key("a"), m: summary } }], rev: "1", synced: true }) });
  assert.deepEqual([...graph.vertices.values()], [{ vx: key("a"), m: summary }]);
  const object = { vx: key("a"), m: summary, o: { kind: "Pod" }, out: [arc("a", "b")], in: [] };
  assert.deepEqual(await getObject({ ...of, key: { g: "apps", r: "deployments", ns: "shop", n: "a&b" }, fetch: replies(200, object) }), object);
  await assert.rejects(getObject({ ...of, key: { g: "", r: "nodes", n: "n" }, fetch: replies(404, { reason: "NotFound", message: "none" }) }),
    (error) => error instanceof GraphViewError && error.code === 404);
  assert.deepEqual(asked.map((url) => [url.pathname.split("/v1alpha1")[1], Object.fromEntries(url.searchParams)]), [
    ["/namespaces/shop/graphs/a%20view", { content: "summary" }],
    ["/namespaces/shop/graphs/a%20view/object", { group: "apps", version: "", resource: "deployments", namespace: "shop", name: "a&b" }],
    ["/namespaces/shop/graphs/a%20view/object", { group: "", version: "", resource: "nodes", namespace: "", name: "n" }],
  ]);
});

test("the impact of a deletion", async () => {
  const asked = [];
  const replies = (code, body) => async (url) => {
    asked.push(new URL(url));
    return answers(code, body)();
  };
  const of = { base: base(), ...place };
  const answer = { object: key("a"), propagationPolicy: "Background", counts: { deleted: 1 }, groups: [], synced: true };
  assert.deepEqual(await getImpact({ ...of, key: { g: "apps", r: "deployments", ns: "shop", n: "web" }, fetch: replies(200, answer) }), answer);
  await getImpact({ ...of, key: "nodes/n", policy: "Orphan", inferred: false, fetch: replies(200, answer) });
  await assert.rejects(getImpact({ ...of, key: "pods/shop/none", fetch: replies(404, { reason: "NotFound", message: 'Pod "none" not found in namespace "shop"' }) }),
    (error) => error instanceof GraphViewError && error.message.includes("not found in namespace"));
  assert.deepEqual(asked.map((url) => Object.fromEntries(url.searchParams)), [
    { impact: "deployments.apps/shop/web" }, { impact: "nodes/n", propagationPolicy: "Orphan", inferred: "false" }, { impact: "pods/shop/none" },
  ]);
});

test("the changes of a graph, and the graph as it was", async () => {
  const asked = [];
  const replies = (status, answer) => async (url) => {
    asked.push(Object.fromEntries(new URL(url).searchParams));
    return { ok: status === 200, status, json: async () => answer };
  };
  const of = { base: base(), ...place };
  const answer = { changes: [], since: "2026-11-29T10:00:00.000000Z", until: "2026-11-29T11:00:00.000000Z" };
  assert.deepEqual(await getChanges({ ...of, fetch: replies(200, answer) }), answer);
  const web = { g: "apps", r: "deployments", ns: "shop", n: "web" };
  await getChanges({ ...of, key: web, since: "2h", until: new Date(Date.UTC(2026, 10, 29)), alone: true, limit: 20, fetch: replies(200, answer) });
  await assert.rejects(getChanges({ ...of, fetch: replies(404, { reason: "NotFound", message: "the history is off" }) }), (error) => error instanceof GraphViewError && error.code === 404);
  const graph = await getGraph({ ...of, at: "2h", fetch: replies(200, { actions: [vertex("a")], rev: "1" }) });
  assert.equal(graph.vertices.size, 1);
  assert.deepEqual(asked, [
    { changes: "" }, { changes: "deployments.apps/shop/web", since: "2h", until: "2026-11-29T00:00:00.000Z", alone: "true", limit: "20" }, { changes: "" }, { at: "2h" },
  ]);
});

test("a store of changes goes on where it was, and begins again where the server knows less", async () => {
  const at = (second) => `2026-11-29T10:00:${String(second).padStart(2, "0")}.000000Z`;
  const change = (n, second, rest) => ({ t: at(second), vx: key(n), k: "Pod", type: "health", ...rest });
  const answers = [];
  const asked = [];
  const fetch = async (url) => {
    asked.push(Object.fromEntries(new URL(url).searchParams));
    const { status = 200, ...answer } = answers.shift();
    return { ok: status === 200, status, json: async () => answer };
  };
  const store = createChanges({ base: base(), ...place, fetch }, { every: 1e6 });
  const seen = () => store.getSnapshot().changes.map(({ vx, t, times }) => `${vx.n} ${t.slice(17, 19)} ${times ?? 1}`);
  answers.push({ changes: [change("b", 20), change("a", 10)], since: at(0), until: at(30), more: true });
  let told = 0;
  const leave = store.subscribe(() => told++);
  await until(() => told === 1);
  // A series that goes on is one change.
  answers.push({ changes: [change("b", 35, { times: 3, first: at(20) })], since: at(30), until: at(40), gaps: [{ from: at(31), until: at(32), why: "down" }] });
  await store.refresh();
  assert.deepEqual([seen(), store.getSnapshot().gaps.length, store.getSnapshot().since, store.getSnapshot().more], [["b 35 3", "a 10 1"], 1, at(0), true]);
  answers.push({ changes: [change("a", 10), change("c", 5)], since: at(0), until: at(10) });
  await store.older();
  assert.deepEqual([seen(), store.getSnapshot().more], [["b 35 3", "a 10 1", "c 05 1"], false]);
  await store.older(); // there are none
  // Another replica knows less.
  answers.push({ changes: [], since: at(45), until: at(50) }, { changes: [change("d", 46)], since: at(45), until: at(50) });
  await store.refresh();
  assert.deepEqual([seen(), store.getSnapshot().since], [["d 46 1"], at(45)]);
  answers.push({ status: 404, reason: "NotFound", message: "the history is off" });
  await store.refresh();
  assert.deepEqual([store.getSnapshot().error.code, seen()], [404, ["d 46 1"]]);
  leave();
  assert.deepEqual(asked.map(({ since, until: to }) => [since, to]), [[undefined, undefined], [at(30), undefined], [undefined, at(10)], [at(40), undefined], [undefined, undefined], [at(50), undefined]]);
});

test("a view asks for its content on each connection", async () => {
  const { all, WebSocket } = sockets((socket, n) => {
    socket.open();
    socket.hear({ actions: [{ svx: { vx: key("a"), m: { k: "Pod", u: `uid-${n}` } } }], rev: String(n), synced: true });
    if (n === 1) socket.end(1001);
  });
  const view = new GraphView({ ...place, base: base(), content: "summary", WebSocket });
  await until(() => all.length === 2 && view.graph.rev === "2");
  view.stop();
  assert.deepEqual(all.map(({ url }) => new URL(url, "ws://x").searchParams.get("content")), ["summary", "summary"]);
  assert.equal([...view.graph.vertices.values()][0].m.u, "uid-2");
});

test("a view that keeps nothing tells what changed, and goes on where it was", async () => {
  const { all, WebSocket } = sockets((socket, n) => {
    socket.open();
    socket.hear({ actions: [vertex(`pod-${n}`), { sarc: arc("a", "b") }], kinds: [{ g: "", v: "v1", r: "pods", k: "Pod" }], rev: String(n), synced: true, ...(n === 1 ? { reset: true } : {}) });
    if (n === 1) socket.end(1001);
  });
  const view = new GraphView({ ...place, base: base(), keep: false, WebSocket });
  const events = record(view);
  await until(() => view.graph.rev === "2");
  view.stop();
  assert.deepEqual([view.graph.vertices.size, view.graph.arcs.size, view.graph.kind(key("a"))], [0, 0, "Pod"]);
  assert.deepEqual(events.filter(({ type }) => type === "rev").map(({ reset, actions }) => [reset, actions.length]), [[true, 2], [false, 2]]);
  assert.equal(new URL(all[1].url, "ws://x").searchParams.get("since"), "1");
});

test("a view tells the parts of a change as they come, and which count no more", async () => {
  const { all, WebSocket } = sockets((socket) => socket.open());
  const view = new GraphView({ ...place, base: base(), keep: false, parts: true, WebSocket });
  const told = [];
  const names = (actions) => actions.map(({ svx }) => svx.vx.n).join();
  view.addEventListener("part", ({ detail: { actions, first, reset } }) => told.push([names(actions), first, reset, view.whole]));
  view.addEventListener("rev", ({ detail: { rev, actions, reset } }) => told.push([rev, actions.length, reset, view.whole]));
  await until(() => all.length === 1);
  all[0].hear({ reset: true, actions: [vertex("a")] });
  all[0].hear({ actions: [vertex("b")] });
  all[0].end(1006); // nothing of that is whole
  await until(() => all.length === 2);
  all[1].hear({ reset: true, actions: [vertex("c")] });
  all[1].hear({ rev: "1", synced: true });
  all[1].hear({ actions: [vertex("d")] });
  all[1].end(1006);
  await until(() => all.length === 3);
  assert.equal(view.whole, false, "half of a change is there, until the next rev");
  all[2].hear({ actions: [vertex("e")], rev: "2" });
  all[2].hear({ reset: true, rev: "3" });
  view.stop();
  assert.deepEqual(told, [
    ["a", true, true, false], ["b", false, true, false],
    ["c", true, true, false], ["", false, true, false], ["1", 0, true, true],
    ["d", true, false, false], ["e", true, false, false], ["2", 0, false, true], ["", true, true, false], ["3", 0, true, true],
  ]);
});

for (const own of [true, false]) test(`who was let in asks again with a new token, at once and then slowly, and never gives up: ${own ? "its own" : "that of a proxy"}`, async () => {
  const tokens = [];
  let good = true;
  const server = sockets((socket) => {
    if (!good) return socket.refuse();
    socket.open();
    socket.hear({ actions: [vertex("a")], rev: "1", synced: true });
  });
  const view = new GraphView({
    base: base(), ...place, ...server, transport: "websocket", ...(own ? { token: () => `t${tokens.push("")}` } : {}),
    fetch: answers(401, { code: 401, reason: "Unauthorized", message: "no" }),
  });
  const events = record(view);
  await until(() => events.length === 1);
  good = false;
  server.all[0].hear({ error: { code: 1008, reason: "Unauthorized", message: "expired" } });
  server.all[0].end(1008, "Unauthorized: expired");
  await until(() => events.length >= 5);
  assert.equal(events[1].retryIn, 0);
  assert.ok(events.slice(2).every(({ type, retryIn }) => type === "error" && retryIn > 0), JSON.stringify(events));
  good = true;
  await until(() => events.at(-1).type === "rev");
  assert.ok(!own || tokens.length >= 5);
  view.stop();
});

test("who was never let in is told so", async () => {
  const server = sockets((socket) => socket.refuse());
  const view = new GraphView({ base: base(), ...place, ...server, token: "t", fetch: answers(403, { code: 403, reason: "Forbidden", message: "no" }) });
  const events = record(view);
  await until(() => events.length === 2);
  assert.deepEqual(events.map(({ type, code, reason }) => [type, code, reason]), [["error", 403, "Forbidden"], ["close", 403, "Forbidden"]]);
});

test("a cluster that comes back while its socket waits does not count as one without sockets", async () => {
  const at = base();
  const server = sockets((socket, n) => {
    if (n === 1) return socket.refuse(); // the hub has waited in vain
    socket.open();
    socket.hear({ rev: "1", synced: true });
  });
  const asked = [];
  const fetch = async (url) => { asked.push(new URL(url).searchParams.get("timeout")); return { ok: true }; };
  for (const sockets of [2, 3]) {
    const view = new GraphView({ base: at, cluster: "eu-1", ...place, ...server, fetch });
    const events = record(view);
    await until(() => events.some(({ type }) => type === "rev"));
    assert.equal(server.all.length, sockets);
    assert.ok(events.every(({ type, retryIn }) => type !== "error" || retryIn === 0), JSON.stringify(events));
    view.stop();
  }
  assert.deepEqual(asked, ["1s"], "the request that asks why does not wait for the cluster once more");
});

test("a link that is made again, or a cluster that is away, ends nobody who had its graph", async () => {
  const details = { kind: "clusters", name: "eu-1" };
  const gone = { code: 404, reason: "NotFound", message: "no link", details };
  for (const [status, had, ends] of [
    [gone, true, false], [gone, false, true], [{ ...gone, details: { kind: "graphs" } }, true, true],
    [{ code: 503, reason: "ServiceUnavailable", message: "away", details }, true, false],
    [{ code: 503, reason: "ServiceUnavailable", message: "the server starts" }, true, false],
  ]) {
    const server = sockets((socket, n) => {
      if (!had || n > 1) return socket.refuse();
      socket.open();
      socket.hear({ rev: "1", synced: true });
      socket.end(1001);
    });
    const view = new GraphView({ base: base(), cluster: "eu-1", ...place, ...server, fetch: answers(status.code, status) });
    const events = record(view);
    await until(() => events.some(({ type }) => type === "close") || server.all.length > 4);
    assert.equal(events.at(-1).type === "close", ends, JSON.stringify([status, had, events]));
    view.stop();
  }
});

for (const [why, most, error] of [
  ["a cluster that is away", 4, { code: 1013, reason: "ClusterUnreachable", message: "away" }],
  ["a limit", 16, { code: 1013, reason: "LimitExceeded", message: "full" }],
]) test(`the delay after ${why} is at most ${most} ms`, async () => {
  const server = sockets((socket) => {
    socket.open();
    socket.hear({ error });
    socket.end(error.code);
  });
  const view = new GraphView({ base: base(), ...place, ...server, random: () => 0.5 });
  const events = record(view);
  await until(() => events.length > 6);
  view.stop();
  assert.equal(Math.max(...events.map(({ retryIn }) => retryIn ?? 0)), most);
});

test("where sockets do not get through, events do: after two refusals, and at once for the next view", async () => {
  const server = sockets((socket) => socket.refuse());
  const asked = [];
  const fetch = async (url, { headers, signal }) => {
    asked.push(headers.Accept ?? "a get");
    if (!headers.Accept) return { ok: true };
    const text = new TextEncoder().encode('data: {"actions":[],"rev":"1","synced":true}\n\n');
    return { ok: true, body: new ReadableStream({ start(c) { c.enqueue(text); signal.addEventListener("abort", () => c.error(new Error("cut"))); } }) };
  };
  const at = base();
  for (const sockets of [2, 2]) {
    const view = new GraphView({ base: at, ...place, ...server, fetch });
    const events = record(view);
    await until(() => events.some(({ type }) => type === "rev"));
    assert.equal(server.all.length, sockets);
    view.stop();
  }
  assert.deepEqual(asked, ["a get", "a get", "text/event-stream", "text/event-stream"]);
});

test("a socket that had heartbeats and falls silent is given up", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const server = sockets((socket) => socket.open());
  const view = new GraphView({ base: base(), ...place, ...server });
  const events = record(view);
  const turn = async () => { for (let i = 0; i < 20; i++) await Promise.resolve(); };
  await turn();
  assert.match(server.all[0].url, /heartbeats=1/);
  t.mock.timers.tick(600_000); // a server that sends none
  await turn();
  assert.equal(events.length, 0);
  server.all[0].hear("{}");
  t.mock.timers.tick(60_000);
  server.all[0].hear("{}");
  t.mock.timers.tick(89_000);
  await turn();
  assert.equal(events.length, 0);
  t.mock.timers.tick(2_000);
  await turn();
  assert.deepEqual(events.map(({ type, code }) => [type, code]), [["error", 1006]]);
  view.stop();
});

test("many graphs on one connection, and one of nobody's", async () => {
  let channel = 0;
  const server = sockets((socket) => {
    socket.onsaid = ({ id, subscribe, unsubscribe }) => queueMicrotask(() => {
      if (unsubscribe) return socket.hear({ id, channel: unsubscribe.channel });
      if (subscribe.name === "none") return socket.hear({ id, error: { code: 1008, reason: "NotFound", message: "not found" } });
      socket.hear({ id, channel: ++channel });
      socket.hear({ channel, actions: [vertex(subscribe.name ?? "own")], rev: "1", synced: true });
    });
    socket.open();
  });
  const connection = new Connection({ base: base(), ...server, token: "secret" });
  const views = ["a", "b", "none"].map((name) => new GraphView({ connection, ...place, name }));
  views.push(new GraphView({ connection, spec: { queries: [] }, minDelay: 1 }));
  const events = views.map(record);
  await until(() => events.every((one) => one.length > 0));
  assert.equal(server.all.length, 1);
  assert.deepEqual(events[2].map(({ type, reason }) => [type, reason]), [["error", "NotFound"], ["close", "NotFound"]]);
  assert.deepEqual([views[0], views[1], views[3]].map((view) => [...view.graph.vertices.values()][0].vx.n), ["a", "b", "own"]);
  // After a lost connection, all graphs that can resume do so on one new connection.
  server.all[0].end(1006);
  await until(() => server.all.length === 2 && [0, 1, 3].every((i) => events[i].filter(({ type }) => type === "rev").length === 2));
  const asked = server.all[1].said.map(({ subscribe }) => subscribe);
  assert.deepEqual(asked.map(({ name, since, spec }) => [name ?? (spec && "own"), since]).sort(), [["a", "1"], ["b", "1"], ["own", undefined]]);
  for (const view of views) view.stop();
  assert.equal(server.all[1].said.filter(({ unsubscribe }) => unsubscribe).length, 3);
  assert.equal(server.all[1].readyState, 3);
});

test("a connection that is refused says why to all", async () => {
  const server = sockets((socket) => socket.refuse());
  const connection = new Connection({ base: base(), ...server, fetch: answers(401, { code: 401, reason: "Unauthorized", message: "no" }) });
  const views = ["a", "b"].map((name) => new GraphView({ connection, ...place, name }));
  const events = views.map(record);
  await until(() => events.every((one) => one.at(-1)?.type === "close"));
  assert.deepEqual(events.map((one) => one.at(-1).code), [401, 401]);
});

test("a connection whose handshake alone is refused says what may be in the way", async () => {
  const server = sockets((socket) => socket.refuse());
  const connection = new Connection({ base: base(), ...server, fetch: answers(400, { code: 400, reason: "BadRequest", message: "an upgrade is needed" }) });
  const view = new GraphView({ connection, ...place });
  const events = record(view);
  await until(() => events.length > 0);
  assert.match(events[0].message, /no WebSocket was opened, though the server answers: .*origin.*proxy/);
  view.stop();
});

test("a store has snapshots that stay as they are", async () => {
  const server = sockets((socket) => socket.open());
  const view = new GraphView({ base: base(), ...place, ...server });
  const store = createStore(view, { every: 1 });
  let told = 0;
  const leave = store.subscribe(() => told++);
  await until(() => server.all[0]?.readyState === 1);
  const empty = store.getSnapshot();
  server.all[0].hear({ actions: [vertex("a")], rev: "1" });
  server.all[0].hear({ actions: [vertex("b")] }); // a change that is not whole
  await until(() => told >= 1);
  await moment();
  assert.deepEqual([empty.vertices.size, store.getSnapshot().vertices.size], [0, 0]);
  server.all[0].hear({ actions: [vertex("c")], rev: "2" });
  await until(() => store.getSnapshot().vertices.size === 3);
  assert.equal(store.getSnapshot(), store.getSnapshot());
  view.stop();
  assert.equal(store.getSnapshot().ended.code, 1000);
  leave();
});

test("what an object refers to in other clusters leads to a view of the cluster that has the alias", async () => {
  const items = [
    { metadata: { name: "eu-1" }, aliases: ["argocd:https://eu-1.example.com", "capi:fleet/eu-1", "mgmt/capi:fleet/eu-1", "twice:x"] },
    { metadata: { name: "us-1" }, aliases: ["twice:x"] },
  ];
  const graphs = { "eu-1": [{ metadata: { namespace: "kube-system", name: "all" } }, { metadata: { namespace: "shop", name: "web" } }] };
  const said = [];
  const controllerOf = (cluster, listed = true) => ({
    options: { cluster },
    async fetch(of, path) {
      if (path === "/clusters") return listed ? Response.json({ items }) : new Response("", { status: 403 });
      return Response.json({ items: graphs[of] ?? [] });
    },
    follow: (...args) => said.push(args.join(" ")),
    speaker: { say: (text) => said.push(text) },
  });
  const follow = async (controller, ...references) => {
    const ends = await remoteEnds({ remote: references, ns: "argocd" }, controller);
    for (const end of ends) await end.act();
    return [ends.map(({ kind, name, why }) => [kind, name, why].filter(Boolean).join(" ")), said.splice(0)];
  };
  const deployment = { d: "argocd:https://eu-1.example.com", g: "apps", k: "Deployment", ns: "shop", n: "web" };
  assert.deepEqual(await follow(controllerOf(), deployment, { d: "capi:fleet/eu-1", k: "Node", n: "node-1" }, { d: "capi:fleet/eu-1" }), [
    ["Deployment eu-1/shop/web", "Node eu-1/node-1", "cluster eu-1"], ["eu-1:shop/web web", "eu-1:kube-system/all node-1", "eu-1:kube-system/all "],
  ]);
  const unknown = ["Deployment shop/web in argocd:https://eu-1.example.com"];
  assert.deepEqual((await follow(controllerOf(undefined, false), deployment))[0], unknown, "without the right to list clusters");
  assert.deepEqual((await follow(controllerOf("mgmt"), deployment))[0], unknown, "an alias of the hub's graphs is none of a member's");
  assert.deepEqual((await follow(controllerOf("mgmt"), { d: "capi:fleet/eu-1" }))[0], ["cluster eu-1"]);
  assert.deepEqual((await follow(controllerOf(), { d: "twice:x" }))[0], ["cluster twice:x"], "an alias of two clusters is of neither");
});

test("sums are those of docs/stream.md, and tags those of SHA-256", () => {
  for (const text of ["", "abc", "x".repeat(55), "x".repeat(56), "x".repeat(64), "ü€😀".repeat(40)]) {
    const sum = createHash("sha256").update(text).digest();
    assert.deepEqual(tagOf(text), [sum.readUInt32LE(0), sum.readUInt32LE(4)], text);
  }
  const sums = new Sums(33, 1, Uint32Array.from([0x03020100, 0x07060504]));
  const web = tagOfKey({ g: "apps", v: "v1", r: "deployments", ns: "shop", n: "web" });
  const pod = tagOfKey({ g: "", v: "v1", r: "pods", ns: "shop", n: "web-1" });
  sums.addVertex(web, "LXEWQrcmsEQ");
  sums.addVertex(pod);
  sums.addArc(web, pod, "or", { c: true, b: true });
  assert.equal(String(sums), "1.0001020304050607.R-Wl0HJCPYLhqklTF_9lhg");
});

test("the page has the sums of a graph, and drops what a reset does not keep", () => {
  const [graph, store] = [new Graph(), new Store()];
  const attributes = [undefined, { c: true, b: true }, { e: true, x: "unknown", o: true, f: ["spec.x"], w: ["uses"] }, { e: true, x: "outside" }, { f: ["a", "b"], w: [] }];
  const actions = ["a", "b", "c"].map((n, i) => ({ svx: { vx: key(n), c: `AAAAAAAAA${i}A`, m: { k: "Pod", u: n } } }));
  attributes.forEach((a, i) => actions.push({ sarc: { ...arc("a", `x${i}`), a } }));
  actions.push({ sarc: arc("b", "a", "or") });
  graph.apply({ actions, rev: "1" });
  store.apply(actions);
  const seed = Uint32Array.from([1, 2]);
  assert.equal(store.have(4, seed), graph.have(4, seed));
  const texts = (all) => all.map((one) => JSON.stringify(one)).sort();
  assert.deepEqual(texts(store.dropped("0.AA")), texts(graph.dropped("0.AA")));
  assert.equal(graph.dropped("0.AA").length, 9);
  assert.deepEqual([graph.dropped("0.AQ"), store.dropped("0.AQ"), new Graph().have(), new Store().have()], [[], [], "", ""]);
});

test("who comes back says what there is, and nobody sees less than there is", async () => {
  const { all, WebSocket } = sockets((socket) => socket.open());
  const view = new GraphView({ base: base(), ...place, WebSocket });
  const events = record(view);
  await until(() => all.length === 1);
  assert.equal(new URL(all[0].url).searchParams.get("have"), "none");
  all[0].hear({ actions: [vertex("a"), vertex("b"), { sarc: arc("a", "b") }], rev: "1", synced: true });
  all[0].end(1006);
  await until(() => all.length === 2);
  const query = new URL(all[1].url).searchParams;
  assert.match(query.get("have"), /^0\.[0-9a-f]{16}\..{11}$/);
  assert.equal(query.get("since"), "1");
  all[1].hear({ syncing: true });
  all[1].hear({ reset: true, keep: "0.AA", actions: [vertex("a")] });
  assert.deepEqual([view.graph.vertices.size, view.graph.arcs.size, view.whole], [2, 1, false], "the old graph stays");
  all[1].hear({ actions: [vertex("c")], rev: "2", synced: true });
  assert.deepEqual([...view.graph.vertices.values()].map(({ vx }) => vx.n).sort(), ["a", "c"]);
  const last = events.findLast(({ type }) => type === "rev");
  assert.equal(last.reset, false);
  assert.deepEqual(last.actions, [vertex("a"), vertex("c"), { darc: arc("a", "b") }, { dvx: { vx: key("b") } }]);
  all[1].end(1001, "Outdated: continue");
  await until(() => all.length === 3);
  all[2].hear({ reset: true, keep: "0.AQ", rev: "3", synced: true });
  assert.equal(view.graph.vertices.size, 2);
  view.stop();
});

test("sums that are too long for a URL are the first message, unless the server takes none", async () => {
  const { all, WebSocket } = sockets((socket) => socket.open());
  const view = new GraphView({ base: base(), ...place, WebSocket });
  await until(() => all.length === 1);
  all[0].hear({ actions: Array.from({ length: 3_000 }, (_, i) => vertex(`p${i}`)), rev: "1", synced: true });
  all[0].end(1006);
  await until(() => all.length === 2);
  assert.equal(new URL(all[1].url).searchParams.get("have"), "message");
  await until(() => all[1].said.length === 1);
  assert.match(all[1].said[0].have, /^10\./);
  all[1].hear({ error: { code: 1008, reason: "UnexpectedMessage", message: "takes none" } });
  all[1].end(1008);
  await until(() => all.length === 3);
  assert.match(new URL(all[2].url).searchParams.get("have"), /^9\./);
  view.stop();
});

test("the element is imported where there are no elements, as a server does that renders pages", async () => {
  assert.equal(globalThis.HTMLElement, undefined);
  const { GraphViewElement } = await import("../../dashboard/web/graph-view.js");
  assert.equal(typeof GraphViewElement, "function");
});
