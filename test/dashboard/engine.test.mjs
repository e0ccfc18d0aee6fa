// The bundled worker's answers to commands: opening, focus and pause, and their state when
// the user goes back or to another view.
import assert from "node:assert/strict";
import test from "node:test";

import { Engine } from "../../dashboard/dist/model/engine.js";
import { Link } from "../../dashboard/web/link.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Scene } from "../../dashboard/web/view/scene.js";
import { cluster } from "./cluster.mjs";

const plain = { filters: emptyFilters(), toggled: [], focus: undefined };

/** An engine that shows a graph of the generator, and what it has posted. */
function engineOf(t, vertices) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const posted = [];
  const engine = new Engine((message) => posted.push(message));
  const open = () => engine.handle({ do: "open", options: { snapshot: { actions: cluster(vertices), synced: true, taken: 0 } } });
  open();
  engine.handle({ do: "scope", ...plain });
  t.after(() => engine.handle({ do: "close" }));
  return { engine, open, posted, last: (type) => posted.filter((message) => message.type === type).at(-1) };
}

test("a box is opened whole, and folded whole", (t) => {
  const { engine, last } = engineOf(t, 300);
  const box = ({ places }) => places.flatMap(({ apps }) => apps).find(({ title }) => title === "cart-db" || title === "sync-db" || title === "rank-db");
  const [{ key: card, opens }] = box(last("scene")).cards.filter((each) => each.opens);
  const before = box(last("scene")).cards.length;
  assert.ok(opens);
  engine.handle({ do: "toggleBox", card });
  const opened = last("scene").places.flatMap(({ apps }) => apps).find((app) => app.cards?.some(({ key }) => key === card));
  assert.ok(opened.cards.length > before, `${before} cards, then ${opened.cards.length}`);
  assert.deepEqual(opened.cards.filter((each) => each.opens && !each.opened).map(({ key }) => key), []);
  assert.ok(last("toggled").toggled.length > 0);
  engine.handle({ do: "toggleBox", card });
  assert.equal(last("scene").places.flatMap(({ apps }) => apps).find((app) => app.cards?.some(({ key }) => key === card)).cards.length, before);
  assert.deepEqual(last("toggled").toggled, []);
});

test("who goes back from a focus sees everything again, where it was", (t) => {
  const { engine, last } = engineOf(t, 300);
  const where = () => last("scene").places.map(({ name, x, y }) => [name, x, y]).sort();
  const before = where();
  const { key } = last("scene").places[0].apps[0].cards[0];
  engine.handle({ do: "focus", focus: { key, depth: 1, up: true, down: true } });
  assert.deepEqual(where().map(([name]) => name), ["focus"]);
  engine.handle({ do: "scope", ...plain });
  assert.deepEqual(where(), before);
});

test("a focus goes by single references, not by whole cards", (t) => {
  const { engine, last } = engineOf(t, 0);
  const vertex = (g, r, n) => ({ g, v: "v1", r, ns: "shop", n });
  const [web, old, pod, settings, other] = [vertex("apps", "deployments", "web"), vertex("apps", "replicasets", "web-1"), vertex("", "pods", "web-1-a"), vertex("", "configmaps", "web"), vertex("", "configmaps", "web-new")];
  const arc = (s, d, t) => ({ sarc: { s, d, t, a: { f: ["spec"], w: ["mounts"] } } });
  const actions = [...[web, old, pod, settings, other].map((vx) => ({ svx: { vx, m: { k: vx.r, u: vx.n } } })), arc(old, web, "or"), arc(pod, old, "or"), arc(web, settings, "r"), arc(pod, other, "r")];
  engine.handle({ do: "open", options: { snapshot: { actions, synced: true, taken: 1 } } });
  for (const n of ["deployments/shop/web", "replicasets/shop/web-1"]) engine.handle({ do: "toggle", key: `apps/v1/${n}` });
  const shown = (focus) => {
    engine.handle({ do: "focus", focus });
    return last("scene").places.flatMap(({ apps }) => apps.flatMap(({ cards }) => cards.map((card) => card.key))).sort();
  };
  assert.deepEqual(shown({ key: "/v1/configmaps/shop/web", depth: 1, up: true, down: false }), ["/v1/configmaps/shop/web", "apps/v1/deployments/shop/web"]);
  assert.deepEqual(shown({ key: "/v1/configmaps/shop/web-new", depth: 2, up: true, down: false }),
    ["/v1/configmaps/shop/web-new", "/v1/pods/shop/web-1-a", "apps/v1/replicasets/shop/web-1"]);
  // A focus includes the objects that the focused one owns.
  assert.deepEqual(shown({ key: "apps/v1/deployments/shop/web", depth: 1, up: false, down: true }),
    ["/v1/configmaps/shop/web", "/v1/configmaps/shop/web-new", "/v1/pods/shop/web-1-a", "apps/v1/deployments/shop/web", "apps/v1/replicasets/shop/web-1"]);
});

test("another view is drawn although the one before stood still", (t) => {
  const { engine, open, posted } = engineOf(t, 50);
  engine.handle({ do: "pause", on: true });
  posted.length = 0;
  open();
  t.mock.timers.tick(1000);
  assert.ok(posted.some(({ type, places }) => type === "scene" && places.length > 0), JSON.stringify(posted.map(({ type }) => type)));
});

/** An engine that follows a view, whose server the test plays. */
async function following(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const posted = [];
  const sockets = [];
  class WebSocket {
    constructor() { sockets.push(this); }
    close() {}
    hear(message) { this.onmessage({ data: JSON.stringify(message) }); }
  }
  const engine = new Engine((message) => posted.push(structuredClone(message)));
  engine.handle({ do: "open", options: { namespace: "one", name: "view", base: "http://graphs", WebSocket } });
  t.after(() => engine.handle({ do: "close" }));
  await Promise.resolve();
  await Promise.resolve();
  sockets[0].onopen();
  return { engine, socket: sockets[0], scenes: () => posted.filter(({ type, places }) => type === "scene" && places.length > 0), posted };
}

const cards = ({ places }) => places.flatMap(({ apps }) => apps).flatMap((app) => app.cards.map(({ kind, name }) => `${kind} ${name}`)).sort();
const configMap = (n) => ({ g: "", v: "v1", r: "widgets", ns: "one", n });
const set = (n) => ({ svx: { vx: configMap(n), m: { k: "Widget", u: n } } });

test("a graph that comes in parts is drawn when all of it is there, and one that replaces it as well", async (t) => {
  const { engine, socket, scenes } = await following(t);
  socket.hear({ reset: true, actions: [set("a"), { sarc: { s: configMap("a"), d: { ...configMap("gone"), r: "gadgets" }, t: "r", a: { e: true } } }] });
  socket.hear({ actions: [set("b")] });
  t.mock.timers.tick(1000);
  engine.handle({ do: "tidy" });
  assert.deepEqual(scenes(), [], "not whole yet");
  // Kinds come last.
  socket.hear({ kinds: [{ g: "", v: "v1", r: "gadgets", k: "GadgetOfSomebody" }], rev: "1", synced: true });
  t.mock.timers.tick(1000);
  assert.deepEqual(cards(scenes().at(-1)), ["GadgetOfSomebody gone", "Widget a", "Widget b"]);
  socket.hear({ reset: true, actions: [set("c")] });
  engine.handle({ do: "tidy" });
  assert.deepEqual(cards(scenes().at(-1)), ["GadgetOfSomebody gone", "Widget a", "Widget b"], "the graph before is there until the next is whole");
  socket.hear({ actions: [set("d")], rev: "2", synced: true });
  t.mock.timers.tick(1000);
  assert.deepEqual(cards(scenes().at(-1)), ["Widget c", "Widget d"]);
  socket.hear({ actions: [set("e")] });
  engine.handle({ do: "tidy" });
  assert.deepEqual(cards(scenes().at(-1)), ["Widget c", "Widget d"], "half of a change");
  socket.hear({ rev: "3" });
  t.mock.timers.tick(1000);
  assert.ok(cards(scenes().at(-1)).includes("Widget e"));
});

test("what was drawn of a view is gone as soon as another one is opened", async (t) => {
  const { engine, socket, posted } = await following(t);
  socket.hear({ reset: true, actions: [set("a")], rev: "1", synced: true });
  t.mock.timers.tick(0);
  assert.deepEqual(cards(posted.at(-1)), ["Widget a"]);
  class WebSocket { close() {} }
  engine.handle({ do: "open", options: { namespace: "one", name: "other", base: "http://graphs", WebSocket } });
  engine.handle({ do: "scope", ...plain });
  const { whole, places, synced } = posted.filter(({ type }) => type === "scene").at(-1);
  assert.deepEqual([whole, places, synced], [true, [], false]);
});

test("what came twice of a graph is drawn when it changes once more", async (t) => {
  const { socket, posted } = await following(t);
  const is = (health) => ({ svx: { vx: configMap("a"), m: { k: "Widget", u: "a", h: health } } });
  socket.hear({ reset: true, actions: [is("ok"), is("progressing")], rev: "1", synced: true });
  t.mock.timers.tick(0);
  socket.hear({ actions: [is("degraded")], rev: "2" });
  t.mock.timers.tick(1000);
  const scene = posted.filter(({ type }) => type === "scene").at(-1);
  assert.equal(scene.stats.problems, 1);
  assert.deepEqual(scene.cards.map(({ card }) => card.health), ["degraded"]);
});

test("a page that says again what is drawn has nothing drawn again", async (t) => {
  const { engine, socket, posted } = await following(t);
  engine.handle({ do: "scope", ...plain });
  assert.deepEqual(posted.filter(({ type }) => type === "scene"), [], "there is nothing yet");
  socket.hear({ reset: true, actions: [set("a")], rev: "1", synced: true });
  t.mock.timers.tick(0);
  engine.handle({ do: "scope", ...plain });
  assert.equal(posted.filter(({ type }) => type === "scene").length, 1);
});

test("a function gets the token of each connection, and a refused token is not the end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const turns = async () => { for (let i = 0; i < 50; i++) await Promise.resolve(); };
  const sockets = [];
  class WebSocket {
    constructor(url, protocols) { sockets.push(Object.assign(this, { protocols })); }
    close() {}
  }
  const link = new Link({ worker: () => { throw new Error("not in this test"); }, engine: async () => ({ Engine }) });
  t.after(() => link.stop());
  const states = [];
  link.addEventListener("status", ({ detail: { status } }) => states.push(status.state));
  const given = ["first", "second"];
  const fetch = async () => ({ ok: false, json: async () => ({ code: 401, reason: "Unauthorized", message: "expired" }) });
  const options = { namespace: "one", name: "view", base: "http://graphs", asksToken: true, transport: "websocket", WebSocket, fetch };
  link.open(options, async () => given.shift());
  await turns();
  const token = ({ protocols }) => atob(protocols.find((name) => name.startsWith("base64url.")).split(".").at(-1));
  sockets[0].onopen();
  sockets[0].onmessage({ data: JSON.stringify({ reset: true, actions: [set("a")], rev: "1", synced: true }) });
  sockets[0].onmessage({ data: JSON.stringify({ error: { code: 1008, reason: "Unauthorized", message: "expired" } }) });
  sockets[0].onclose({ code: 1008, reason: "Unauthorized" });
  await turns();
  t.mock.timers.tick(0);
  await turns();
  assert.deepEqual(sockets.map(token), ["first", "second"]);
  assert.ok(!states.includes("ended"), JSON.stringify(states));
});

test("a pod that has ended is no problem while its controller is well", (t) => {
  const { engine, last } = engineOf(t, 0);
  const [job, pod] = [{ g: "batch", v: "v1", r: "jobs", ns: "shop", n: "once" }, { g: "", v: "v1", r: "pods", ns: "shop", n: "once-1" }];
  const open = (h) => engine.handle({ do: "open", options: { snapshot: { synced: true, taken: 1, actions: [
    { svx: { vx: job, m: { k: "Job", h, u: "1" } } }, { svx: { vx: pod, m: { k: "Pod", h: "degraded", w: "Error", end: true, u: "2" } } },
    { sarc: { s: pod, d: job, t: "or", a: { c: true } } },
  ] } } });
  open("ok");
  t.mock.timers.tick(1000);
  assert.equal(last("scene").stats.problems, 0);
  open("progressing");
  t.mock.timers.tick(1000);
  assert.equal(last("scene").stats.problems, 1);
});

test("clusters of one picture are boxes, and one that is away delays and moves no other", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const [posted, sockets] = [[], []];
  class WebSocket {
    readyState = 1;
    said = [];
    constructor(url) { sockets.push(Object.assign(this, { url })); }
    send(text) { this.said.push(JSON.parse(text)); }
    close() {}
    hear(message) { this.onmessage({ data: JSON.stringify(message) }); }
  }
  const engine = new Engine((message) => posted.push(structuredClone(message)));
  t.after(() => engine.handle({ do: "close" }));
  const turns = async () => { for (let i = 0; i < 20; i++) await Promise.resolve(); };
  const drawn = () => {
    t.mock.timers.tick(2000);
    const scene = new Scene();
    for (const message of posted) if (message.type === "scene") scene.apply(message, 0);
    return scene;
  };
  const views = ["eu-1", "us-1"].map((cluster) => ({ cluster, namespace: "one", name: "view" }));
  engine.handle({ do: "open", options: { ...views[0], views, base: "http://hub", WebSocket } });
  await turns();
  assert.equal(sockets.length, 1, "one connection");
  const [socket] = sockets;
  socket.onopen();
  await turns();
  assert.deepEqual(socket.said.map(({ subscribe: { cluster, namespace, name } }) => `${cluster}:${namespace}/${name}`), ["eu-1:one/view", "us-1:one/view"]);
  assert.deepEqual(drawn().clusters().map(({ cluster, state }) => [cluster, state]), [["eu-1", "connecting"], ["us-1", "connecting"]]);
  const [eu, us] = socket.said.map(({ id }) => id);
  socket.hear({ id: eu, channel: 1 });
  socket.hear({ id: us, error: { code: 1013, reason: "ClusterUnreachable", message: "the cluster is not connected" } });
  const whole = (channel, ...actions) => socket.hear({ channel, reset: true, synced: true, rev: `r.${channel}`, actions });
  whole(1, set("a"), set("b"));
  const texts = (scene) => [...scene.cards.values()].map(({ card, place }) => `${place.name} ${card.kind} ${card.name}`).sort();
  const first = drawn();
  assert.deepEqual(texts(first), ["eu-1: Cluster eu-1", "eu-1:one Widget a", "eu-1:one Widget b", "us-1: Cluster us-1"]);
  assert.deepEqual(first.clusters().map(({ cluster, state }) => [cluster, state]), [["eu-1", ""], ["us-1", "not connected"]]);
  assert.deepEqual([first.stats.vertices, posted.filter(({ type }) => type === "status").at(-1).status.state], [2, "live"]);

  // It is connected after all, and lost.
  for (let i = 0; i < 40 && socket.said.length < 3; i++) {
    t.mock.timers.tick(1000);
    await turns();
  }
  socket.hear({ id: socket.said.at(-1).id, channel: 2 });
  whole(2, set("a"));
  assert.deepEqual(texts(drawn()).filter((text) => text.startsWith("us-1:one")), ["us-1:one Widget a"]);
  socket.hear({ channel: 2, error: { code: 1001, reason: "Stopping", message: "lost" } });
  const lost = drawn();
  assert.match(lost.clusters().find(({ cluster }) => cluster === "us-1").state, /^away since \d/);
  assert.ok(texts(lost).includes("us-1:one Widget a"), "what was there stays");
  const [a, b] = lost.clusters();
  assert.ok(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, "the boxes do not overlap");
  socket.hear({ channel: 1, rev: "r.3", actions: [set("c")] });
  assert.ok(texts(drawn()).includes("eu-1:one Widget c"), "the other goes on");

  // A page that is cut off says nothing about the clusters.
  socket.onclose({ code: 1006, reason: "" });
  await turns();
  const cut = drawn();
  for (const { state } of cut.clusters()) assert.match(state, /^not updated since \d/);
  assert.equal(cut.stats.problems, 0, "and no cluster needs attention");
  for (let i = 0; i < 40 && sockets.length < 2; i++) {
    t.mock.timers.tick(1000);
    await turns();
  }
  sockets[1].onopen();
  await turns();
  sockets[1].said.forEach(({ id, subscribe: { cluster } }) => sockets[1].hear(cluster === "eu-1" ? { id, channel: 1 } : { id, error: { code: 1013, reason: "ClusterUnreachable", message: "away" } }));
  sockets[1].hear({ channel: 1, synced: true, rev: "r.3" });
  assert.match(drawn().clusters().find(({ cluster }) => cluster === "us-1").state, /^away since \d/);

  // A graph that begins anew replaces that of its cluster alone.
  sockets[1].hear({ channel: 1, reset: true, synced: true, rev: "r.4", actions: [set("c")] });
  assert.deepEqual(texts(drawn()), ["eu-1: Cluster eu-1", "eu-1:one Widget c", "us-1: Cluster us-1", "us-1:one Widget a"]);
});
