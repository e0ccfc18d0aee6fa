// The graph as it was: where it is drawn, how it differs from the graph as it is, and what is said of
// changes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Engine } from "../../dashboard/dist/model/engine.js";
import { storeAt } from "../../dashboard/web/model/past.js";
import { keyOf, Store } from "../../dashboard/web/model/store.js";
import { linesOf } from "../../dashboard/web/view/acts.js";
import { changeWords, clock, levelOf, lineWords, objectsOf, viaWords } from "../../dashboard/web/view/changes.js";
import { parseState, writeState } from "../../dashboard/web/view/permalink.js";
import { cluster, random } from "./cluster.mjs";
import { changesOf } from "./graphs.mjs";

const at = "2026-11-29T10:02:38.123456Z";
const key = (r, n, g = "") => ({ g, v: "v1", r, ns: "shop", n });
const [web, config, late, secret, pod, other] = [key("deployments", "web", "apps"), key("configmaps", "web"), key("configmaps", "late"), key("secrets", "db"), key("pods", "web-1"), key("pods", "web-2")];
const set = (vx, m) => ({ svx: { vx, m: { k: { deployments: "Deployment", configmaps: "ConfigMap", secrets: "Secret", pods: "Pod" }[vx.r], u: vx.n, h: "ok", ...m } } });
const arc = (s, d, t = "r", a = { f: ["spec"], w: ["mounts"] }) => ({ sarc: { s, d, t, a } });

/** An engine that follows a view, whose server the test plays; past is the answer for a moment. */
async function following(t, actions, past) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const posted = [];
  const sockets = [];
  const asked = [];
  class WebSocket {
    constructor() { sockets.push(this); }
    close() {}
    hear(message) { this.onmessage({ data: JSON.stringify(message) }); }
  }
  const fetch = async (url) => {
    asked.push(Object.fromEntries(new URL(url).searchParams));
    return { ok: Boolean(past), status: past ? 200 : 404, json: async () => (past ? { actions: past, synced: true } : { message: "the history begins at 10:00" }) };
  };
  const engine = new Engine((message) => posted.push(structuredClone(message)));
  engine.handle({ do: "open", options: { namespace: "shop", name: "view", base: "http://graphs", WebSocket, fetch } });
  t.after(() => engine.handle({ do: "close" }));
  const turns = async () => { for (let i = 0; i < 30; i++) await Promise.resolve(); };
  await turns();
  sockets[0].onopen();
  sockets[0].hear({ reset: true, actions, rev: "1", synced: true });
  t.mock.timers.tick(1000);
  const last = (type = "scene") => posted.filter((message) => message.type === type).at(-1);
  return { engine, socket: sockets[0], posted, asked, turns, last };
}

const cards = ({ places }) => new Map(places.flatMap((place) => place.apps.flatMap((app) => app.cards.map((card) => [card.key, { ...card, at: [place.x + app.x, place.y + app.y] }]))));

test("the graph as it was is drawn where the graph is, with marks on what differs, and leaves it as it was", async (t) => {
  const now = [set(web, { h: "degraded", w: "0 of 1 ready" }), set(config), set(other, { h: "degraded", w: "CrashLoopBackOff" }), arc(other, web, "or", { c: true }), arc(web, config), arc(web, secret, "r", { e: true, w: ["reads"] })];
  const then = [set(web), set(config), set(secret), set(pod), arc(pod, web, "or", { c: true }), arc(web, config), arc(web, secret, "r", { w: ["reads"] })];
  const { engine, socket, asked, turns, posted, last } = await following(t, now, then);
  const before = cards(last());
  engine.handle({ do: "past", at, keys: [keyOf(config)] });
  await turns();
  assert.deepEqual(asked, [{ content: "summary", at }]);
  const { past, stats, journal } = last();
  assert.deepEqual([past, stats.vertices, stats.problems, journal.length], [{ at, came: 1, went: 2, changed: 2, vertices: 4, arcs: 3 }, 4, 0, 0]);
  const drawn = cards(last());
  assert.deepEqual([...drawn.values()].map(({ name, state, health, differs }) => [name, state, health, differs]).sort(), [["1 Secret, 1 ConfigMap", "db is gone now, web differs now", "ok", "~"], ["web", "", "ok", "~"]]);
  assert.deepEqual(drawn.get(keyOf(web)).at, before.get(keyOf(web)).at);
  assert.equal(engine.handle({ ask: "details", id: 1, args: { key: keyOf(web) } }) ?? last("answer").answer.then, "differs now: degraded: 0 of 1 ready");
  // Meanwhile the graph goes on.
  const { length } = posted.filter(({ type }) => type === "scene");
  socket.hear({ actions: [set(late)], rev: "2" });
  t.mock.timers.tick(60_000);
  assert.equal(posted.filter(({ type }) => type === "scene").length, length, "a moment does not change");
  engine.handle({ do: "present" });
  assert.deepEqual([last().past, last().stats.vertices, cards(last()).get(keyOf(web)).at, cards(last()).get(keyOf(web)).health], [undefined, 4, before.get(keyOf(web)).at, "degraded"]);
  assert.deepEqual(last().journal.map((entry) => [entry.what, entry.key]), [["+", keyOf(late)]]);
});

test("a moment that the history does not have is said, and one that came too late is nothing", async (t) => {
  const { engine, turns, last, posted } = await following(t, [set(web)], undefined);
  engine.handle({ do: "past", at, keys: [] });
  await turns();
  assert.deepEqual(last("past"), { type: "past", at, error: "the history begins at 10:00" });
  assert.equal(last().past, undefined);
  posted.length = 0;
  engine.handle({ do: "past", at, keys: [] });
  engine.handle({ do: "present" });
  await turns();
  assert.deepEqual(posted.filter(({ type }) => type !== "status"), []);
});

for (const seed of [1, 2, 3]) {
  test(`the differences are those that a comparison of the graphs finds (seed ${seed})`, () => {
    const actions = cluster(600, { seed });
    const [then, live] = [new Store(), new Store()];
    for (const store of [then, live]) store.apply(actions, { reset: true });
    for (const list of changesOf(actions, { lists: 40, seed })) live.apply(list, { at: 1 });
    then.take(0);
    live.take(0);
    const written = new Set([...live].filter(() => random(seed)() < 0.01).map((v) => v.key));
    const { store, counts } = storeAt(0, actions, live, written);
    const present = (of) => new Map([...of].filter((v) => v.present).map((v) => [v.key, v]));
    const [a, b] = [present(then), present(live)];
    const state = (v) => JSON.stringify([v.health, v.why, v.rd, v.uid]);
    const arcs = (v, of) => v.out.filter(({ d }) => !d.present || of.has(d.key)).map(({ t, d }) => `${t} ${d.key}`).sort().join();
    const differs = (key) => (!a.has(key) ? "+" : !b.has(key) ? "-" : state(a.get(key)) !== state(b.get(key)) || arcs(a.get(key), b) !== arcs(b.get(key), a) || written.has(key) ? "~" : "");
    const owned = new Set([...live].filter((v) => !a.has(v.key) && v.out.some(({ t, d }) => t === "or" && d.present)).map((v) => v.key));
    let checked = 0;
    for (const k of new Set([...a.keys(), ...b.keys()])) {
      if (owned.has(k)) {
        assert.equal(store.find(k), undefined, "the card of its owner stands for it");
        continue;
      }
      const want = differs(k);
      const got = store.find(k).differs;
      // An owner also differs by what it owns.
      if (want !== got) assert.deepEqual([want, got, live.find(k).in.some(({ t, s }) => t === "or" && s.present)], ["", "~", true], k);
      checked++;
    }
    assert.ok(checked > 500);
    assert.deepEqual([counts.came, counts.went, counts.vertices], [[...b.keys()].filter((k) => !a.has(k)).length, [...a.keys()].filter((k) => !b.has(k)).length, a.size]);
    assert.ok(counts.came > 0 && counts.went > 0 && counts.changed > 0);
  });
}

test("the strip is about what filters of names and places leave, and not only about what is broken", async (t) => {
  const actions = [set(web, { h: "degraded" }), set(config), set({ ...config, ns: "other" }), arc(web, config)];
  const { engine, last } = await following(t, actions, undefined);
  const objects = [web, config, { ...config, ns: "other" }, secret].map((vx) => ({ key: keyOf(vx), kind: "ConfigMap", ns: vx.ns }));
  const about = (filters) => {
    engine.handle({ do: "filter", filters: { kinds: [], namespaces: [], apps: [], health: [], types: [], problems: false, recent: false, text: null, ...filters } });
    engine.handle({ ask: "about", id: 1, args: { objects } });
    return last("answer").answer?.map((k) => k.split("/").slice(-3).join("/"));
  };
  assert.equal(about({}), undefined);
  assert.equal(about({ problems: true }), undefined);
  assert.deepEqual(about({ problems: true, namespaces: ["shop"] }), ["deployments/shop/web", "configmaps/shop/web", "secrets/shop/db"], "also what is gone");
  engine.handle({ do: "focus", focus: { key: keyOf(web), depth: 1, up: true, down: true } });
  assert.deepEqual(about({}), ["deployments/shop/web", "configmaps/shop/web"]);
});

const changes = {
  "an image": [{ type: "content", paths: [{ p: "spec.template.spec.containers[web].image", op: "changed", b: "shop/web:1.4", a: "shop/web:1.5" }] }, "spec.template.spec.containers[web].image: shop/web:1.4 → shop/web:1.5", 0],
  "a value that is not kept": [{ type: "content", paths: [{ p: "data.features.json", op: "changed" }, { p: "data.x", op: "added" }], morePaths: 3 }, "data.features.json changed, data.x added and 3 more fields", 0],
  "fields that are not known": [{ type: "content", f: at, t: at }, `changed while nothing was recorded (between ${clock(Date.parse(at))} and ${clock(Date.parse(at))})`, 0],
  "a value that was not there": [{ type: "content", paths: [{ p: "spec.replicas", op: "added", a: "3" }] }, "spec.replicas: 3 added", 0],
  "a health": [{ type: "health", health: { from: "ok", to: "degraded", why: "CrashLoopBackOff" } }, "degraded: CrashLoopBackOff", 2],
  "one without a reason": [{ type: "health", health: { from: "ok", to: "progressing" } }, "progressing", 1],
  "what is gone": [{ type: "removed", health: { from: "degraded" } }, "removed", 0],
  "what came broken": [{ type: "added", health: { to: "degraded", why: "Failed" } }, "added, degraded: Failed", 2],
  "a reference": [{ type: "reference", ref: { d: config, k: "ConfigMap", r: "r", w: ["mounts"], change: "added" } }, "now mounts ConfigMap web", 0],
  "a reference to what is gone": [{ type: "reference", ref: { d: config, k: "ConfigMap", r: "r", w: ["mounts"], change: "missing" } }, "mounts ConfigMap web, which is missing", 2],
  "a series": [{ type: "health", health: { to: "degraded" }, times: 400, first: at }, `degraded (×400 since ${clock(Date.parse(at))})`, 2],
};

for (const [name, [change, words, level]] of Object.entries(changes)) {
  test(`in words: ${name}`, () => assert.deepEqual([changeWords(change), levelOf(change)], [words, level]));
}

test("the strip says less of an image than the details", () => {
  const change = { type: "content", paths: [{ p: "spec.template.spec.containers[web].image", op: "changed", b: "registry.example.com/shop/web:1.4", a: "registry.example.com/shop/web:1.5" }] };
  assert.equal(changeWords(change, { brief: true }), "containers[web].image: web:1.4 → web:1.5");
});

test("how an object leads to a change is read in the direction of the reference", () => {
  assert.deepEqual([
    { vx: web, k: "Deployment", w: ["mounts"] }, { vx: web, k: "Deployment", up: true }, { vx: pod, k: "Pod", w: ["restricts"], up: true }, { vx: pod, k: "Pod" }, undefined,
  ].map((via) => viaWords({ via })), ["Deployment web mounts it", "owned by Deployment web", "restricts Pod web-1", "Pod web-1 is owned by it", ""]);
});

test("the page tells acts from what followed as kubectl does", () => {
  const cases = JSON.parse(readFileSync(new URL("../../client/testdata/changes.json", import.meta.url), "utf8"));
  assert.ok(Object.keys(cases).length > 10);
  for (const [name, { object, changes: all, lines: wanted, left: others }] of Object.entries(cases)) {
    const { lines, left } = linesOf(all, object);
    assert.deepEqual(lines.map((line) => line.map((change) => all.indexOf(change))), wanted.map((line) => line.changes), name);
    assert.equal(left, others, name);
  }
});

test("an act has a line with the worst that followed above it, and noise has none", () => {
  const time = (s) => `2026-11-29T10:00:${s}.000000Z`;
  const [owner, job] = [key("replicasets", "web-1", "apps"), key("jobs", "once", "batch")];
  const change = (s, vx, type, rest) => ({ t: time(s), vx, k: vx.r, type, ...rest });
  const bad = { health: { to: "degraded", why: "CrashLoopBackOff" } };
  const image = { paths: [{ p: "metadata.annotations[deployment.kubernetes.io/revision]", op: "changed" }, { p: "spec.template.spec.containers[web].image", op: "changed", b: "1", a: "2" }], via: undefined };
  const changes = [
    change(50, pod, "health", { ...bad, o: owner }), change(49, other, "health", { ...bad, o: owner }), change(48, other, "added", { o: owner }),
    change(47, web, "health", { health: { to: "progressing" } }), change(46, job, "health", { health: { to: "ok" } }),
    change(45, { ...config, g: "coordination.k8s.io", r: "leases" }, "content", { paths: [{ p: "spec.renewTime", op: "changed" }] }),
    change(44, config, "content", { paths: [{ p: "metadata.generation", op: "changed" }] }),
    change(40, web, "content", image),
    change(33, web, "reference", { ref: { d: secret, r: "r", w: ["reads"], change: "missing" } }),
    change(32, config, "content", { paths: [{ p: "data.a", op: "removed" }] }), change(31, late, "content", { paths: [{ p: "data.a", op: "removed" }] }),
    change(30, secret, "removed"), change(20, config, "content", { times: 30, first: time(10), paths: [{ p: "data.leader", op: "changed" }] }),
  ];
  const { lines, left } = linesOf(changes, web);
  assert.deepEqual(lines.map((line) => `${line[0].t.slice(17, 19)} ${objectsOf(line)}: ${lineWords(line)}`), [
    "50 pods ×2 web-…: degraded: CrashLoopBackOff, added", "47 deployments web: progressing", "40 deployments web: spec.template.spec.containers[web].image: 1 → 2",
    "32 configmaps ×2 web, …: data.a removed", "30 secrets db: removed",
  ]);
  assert.equal(left, 5);
});

test("a permalink keeps the moment, and nothing that is none", () => {
  const state = { ...parseState(""), at };
  assert.deepEqual(parseState(writeState(state, { x: 0, y: 0, k: 1 })).at, at);
  assert.equal(parseState("at=yesterday").at, undefined);
});
