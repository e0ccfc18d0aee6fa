// Properties of folding over random graphs: no arc is lost, and none is counted twice.
import assert from "node:assert/strict";
import test from "node:test";

import { Answers } from "../../dashboard/web/model/answers.js";
import { fold, whereIs } from "../../dashboard/web/model/fold.js";
import { card as cardSize } from "../../dashboard/web/model/layers.js";
import { inOrder } from "../../dashboard/web/model/links.js";
import { Model } from "../../dashboard/web/model/model.js";
import { findPlace } from "../../dashboard/web/model/pack.js";
import { inset, layOutPlace } from "../../dashboard/web/model/place.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { compile, parse } from "../../dashboard/web/model/search.js";
import { Store } from "../../dashboard/web/model/store.js";
import { Wire } from "../../dashboard/web/model/wire.js";
import { cluster, random } from "./cluster.mjs";
import { changesOf } from "./graphs.mjs";

const resources = ["pods", "deployments", "replicasets", "services", "configmaps", "secrets", "persistentvolumes", "widgets", "roles", "nodes"];
const names = ["a", "web", "<img src=x onerror=alert(1)>", "x".repeat(253), "naïve", "שלום", "👩‍👩‍👧‍👦", "a/b", "constructor", "__proto__", "1. list", ""];
const healths = [undefined, "ok", "progressing", "degraded", "suspended", "terminating"];

/** A random graph with cycles, self-loops, hubs, arcs to what is missing, and names as strange as RBAC allows. */
function wild(seed) {
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const size = pick([0, 1, 2, 8, 30, 120, 400]);
  const keys = Array.from({ length: size }, (_, i) => {
    const r = pick(resources);
    return { g: pick(["", "apps"]), v: "v1", r, ...(r === "nodes" || r === "persistentvolumes" ? {} : { ns: pick(["one", "two", "three"]) }), n: `${pick(names)}${i}` };
  });
  const actions = keys.filter(() => next() < 0.92).map((vx) => ({ svx: { vx, m: { k: vx.r, h: pick(healths), u: "u", ...(next() < 0.4 ? { app: pick(["x", "y", "z"]) } : {}) } } }));
  const hub = pick(keys);
  for (let i = 0; i < size * pick([0.5, 1, 3]); i++) {
    const s = pick(keys);
    const d = next() < 0.15 ? hub : next() < 0.02 ? s : pick(keys);
    actions.push({ sarc: { s, d, t: pick(["or", "or", "r", "r", "t"]), a: { c: next() < 0.5, f: ["spec.x"] } } });
  }
  return actions;
}

const modelOf = (actions) => {
  const store = new Store();
  store.apply(actions, { reset: true, at: 1 });
  const model = new Model(store, emptyFilters());
  model.update(1);
  return { store, model };
};

// Counts each arc where the drawing has it, and compares with where it says it is.
function conserved(store, model, what) {
  const drawn = { inside: 0, hub: 0, line: 0, between: 0, hidden: 0 };
  const seen = new Set();
  for (const place of model.places.values()) {
    drawn.inside += place.account.inside;
    drawn.hidden += place.account.hidden;
    drawn.hub += place.cards.reduce((sum, card) => sum + card.badge, 0);
    for (const app of place.apps) {
      for (const line of app.lines) {
        for (const arc of line.arcs) {
          assert.ok(!seen.has(arc), `${what}: one arc, two lines`);
          seen.add(arc);
          drawn.line++;
        }
      }
    }
    for (const arc of place.between) {
      assert.ok(!seen.has(arc), `${what}: one arc, twice between boxes`);
      seen.add(arc);
      drawn.between++;
    }
  }
  const wanted = { inside: 0, hub: 0, line: 0, between: 0, hidden: 0 };
  for (const v of store) for (const arc of v.out) if (arc.s.home !== undefined) wanted[whereIs(arc, model.shows)]++;
  assert.deepEqual(drawn, wanted, what);
  let shown = 0;
  for (const v of store) if (v.home !== undefined) shown++;
  const cards = [...model.places.values()].flatMap((place) => place.cards);
  assert.equal(cards.reduce((sum, card) => sum + card.members.length, 0), shown, `${what}: each vertex is in one card`);
}

function tidy(model, what) {
  const overlap = (a, b) => a.x < b.x + b.w - 0.5 && b.x < a.x + a.w - 0.5 && a.y < b.y + b.h - 0.5 && b.y < a.y + a.h - 0.5;
  const places = [...model.places.values()];
  places.forEach((a, i) => places.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b), `${what}: places ${a.name} and ${b.name} overlap`)));
  for (const place of places) {
    place.apps.forEach((a, i) => {
      assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.w <= place.w && a.y + a.h <= place.h, `${what}: ${a.key} is out of ${place.name}`);
      place.apps.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b), `${what}: boxes ${a.key} and ${b.key} overlap in ${place.name}`));
      const cards = a.cards.map((card) => ({ ...cardSize, x: card.x, y: card.y, key: card.key }));
      cards.forEach((c, j) => {
        assert.ok(c.x >= 0 && c.y >= 0 && c.x + c.w <= a.w && c.y + c.h <= a.h, `${what}: card ${c.key} is out of ${a.key}`);
        cards.slice(j + 1).forEach((d) => assert.ok(!overlap(c, d), `${what}: cards ${c.key} and ${d.key} overlap`));
      });
    });
  }
}

test("no arc is lost and none is drawn twice, whatever the graph", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const { store, model } = modelOf(wild(seed));
    conserved(store, model, `seed ${seed}`);
    tidy(model, `seed ${seed}`);
  }
});

test("the same holds with open cards, filters, a focus, and after changes", () => {
  for (let seed = 200; seed < 240; seed++) {
    const next = random(seed);
    const { store, model } = modelOf(wild(seed));
    for (let step = 0; step < 6; step++) {
      const cards = [...model.places.values()].flatMap((place) => place.cards);
      const chosen = cards[Math.floor(next() * cards.length)];
      if (chosen) model.toggled.set(chosen.key, next() < 0.7);
      model.filters = { ...emptyFilters(), problems: next() < 0.2, types: next() < 0.2 ? ["or"] : [], kinds: next() < 0.2 ? ["pods"] : [] };
      model.setFocus(chosen && next() < 0.3 ? { key: chosen.anchor.key, depth: 1 + Math.floor(next() * 3), up: next() < 0.7, down: true } : undefined);
      store.apply(wild(1000 * seed + step).slice(0, 40), { at: step });
      const gone = [...store].filter((v) => v.present && next() < 0.1);
      for (const v of gone) {
        for (const { s, d, t } of [...v.out]) store.apply([{ darc: { s, d, t } }]);
        store.apply([{ dvx: { vx: v } }], { at: step });
      }
      model.invalidate();
      model.update(step);
      conserved(store, model, `seed ${seed}, step ${step}`);
      tidy(model, `seed ${seed}, step ${step}`);
    }
  }
});

test("changes one by one end in the graph that a fresh load has", () => {
  const actions = cluster(400, { seed: 5 });
  const { store, model } = modelOf(actions);
  for (const list of changesOf(actions, { lists: 60, each: 4, replaced: 0.5 })) {
    store.apply(list, { at: 5 });
    model.update(5);
    conserved(store, model, "after a change");
  }
  tidy(model, "after all changes");
  const fresh = new Store();
  const again = [...store].filter((v) => v.present).map((v) => ({ svx: { vx: v, m: { k: v.kind, h: v.health, w: v.why, rd: v.rd, app: v.app } } }));
  fresh.apply([...again, ...[...store].flatMap((v) => v.out.map(({ s, d, t, f }) => ({ sarc: { s, d, t, a: { f } } })))], { reset: true });
  const second = new Model(fresh, emptyFilters());
  second.update(1);
  const told = (m) => [...m.places.values()].map((place) => [place.name, place.account, place.cards.map((card) => [card.key, card.health, card.name, card.badge]).sort()]).sort();
  assert.deepEqual(told(model), told(second));
});

test("a fresh load has each box where the last one had it", () => {
  const at = () => [...modelOf(cluster(700, { seed: 3 })).model.places.values()].map((place) => [place.name, place.x, place.y, place.apps.map((app) => [app.key, app.x, app.y, app.cards.map((card) => [card.key, card.x, card.y])])]);
  assert.deepEqual(at(), at());
});

test("a graph is drawn the same in whatever order it came", () => {
  const drawn = (actions) => [...modelOf(actions).model.places.values()].map((place) => [place.name, place.x, place.y, place.apps.map((app) => [app.key, app.x, app.y,
    app.cards.map((card) => [card.key, card.name, card.x, card.y]), app.lines.map((line) => [line.a.key, line.b.key, line.way])])]).sort();
  const shuffled = (list, next) => list.map((each) => [next(), each]).sort(([a], [b]) => a - b).map(([, each]) => each);
  for (let seed = 1; seed <= 20; seed++) {
    const said = new Set(); // of an arc that comes twice, the last would count
    const once = ({ sarc }) => !sarc || (said.size !== said.add(JSON.stringify([sarc.s, sarc.d, sarc.t])).size);
    const actions = (seed % 2 === 0 ? cluster(600, { seed }) : wild(seed)).filter(once);
    assert.deepEqual(drawn(shuffled(actions, random(seed))), drawn(actions), `seed ${seed}`);
  }
});

test("pairs are sorted as a comparison sorts them", () => {
  const next = random(11);
  for (const [m, n] of [[0, 1], [1, 1], [50, 3], [400, 400], [3000, 20]]) {
    const [from, to] = [0, 1].map(() => Array.from({ length: m }, () => Math.floor(next() * n)));
    const want = Array.from({ length: m }, (_, i) => i).sort((a, b) => from[a] - from[b] || to[a] - to[b] || a - b);
    assert.deepEqual([...inOrder(from, to, m, n).subarray(0, m)], want);
  }
});

test("lines lead to the right, but for those that close a circle", () => {
  const { model } = modelOf(cluster(1500, { seed: 9 }));
  let [right, left] = [0, 0];
  for (const place of model.places.values()) {
    for (const app of place.apps) {
      for (const { a, b } of app.lines) {
        if (b.x > a.x) right++;
        else {
          left++;
          const reached = new Set([b]);
          for (const card of reached) for (const other of app.lines) if (other.a === card) reached.add(other.b);
          assert.ok(reached.has(a), `${a.key} → ${b.key} closes no circle`);
        }
      }
    }
  }
  assert.ok(left < right / 5, `${left} of ${left + right} lead to the left`);
});

// Points of a line as the painter goes along it.
function* pointsOf({ a, b, way }) {
  const back = b.x <= a.x;
  const middle = cardSize.h / 2 + (back ? 8 : 0);
  const points = [{ x: a.x + (back ? 0 : cardSize.w), y: a.y + middle }, ...way, { x: b.x + (back ? cardSize.w : 0), y: b.y + middle }];
  for (let i = 1; i < points.length; i++) {
    const [p, q] = [points[i - 1], points[i]];
    for (let t = 0; t <= 1; t += 0.05) {
      const u = 1 - t;
      yield { x: (u ** 3 + 1.5 * u * t) * p.x + (t ** 3 + 1.5 * u * t) * q.x, y: (u ** 3 + 3 * u * u * t) * p.y + (t ** 3 + 3 * u * t * t) * q.y };
    }
  }
}

test("no line runs behind a card", () => {
  for (const [size, isOpen] of [[26, true], [500, false], [500, true], [2000, false]]) {
    const store = new Store();
    store.apply(cluster(size), { reset: true, at: 1 });
    const model = new Model(store, emptyFilters());
    if (isOpen) for (const v of store) model.toggled.set(v.key, true);
    model.update(1);
    for (const place of model.places.values()) {
      for (const { cards, lines } of place.apps) {
        for (const line of lines) {
          for (const { x, y } of pointsOf(line)) {
            const over = cards.find((card) => card !== line.a && card !== line.b && x > card.x + 1 && x < card.x + cardSize.w - 1 && y > card.y + 1 && y < card.y + cardSize.h - 1);
            assert.equal(over?.key, undefined, `${size} objects: ${line.a.key} → ${line.b.key}`);
          }
        }
      }
    }
  }
});

test("a pod that is replaced moves nothing", () => {
  const actions = cluster(600, { seed: 4 });
  const { store, model } = modelOf(actions);
  const where = () => new Map([...model.places.values()].flatMap((place) => place.apps.flatMap((app) => app.cards.map((card) => [card.key, [place.x + app.x + card.x, place.y + app.y + card.y]]))));
  const before = where();
  for (const list of changesOf(actions, { lists: 20, each: 1, replaced: 1 })) store.apply(list.filter((action) => !action.svx || true), { at: 2 });
  model.update(2);
  assert.deepEqual(where(), before);
});

test("a new app moves no other namespace", () => {
  const { store, model } = modelOf(cluster(900, { seed: 8 }));
  const where = (but) => [...model.places.values()].filter((place) => place.name !== but).map((place) => [place.name, place.x, place.y]);
  const before = where("shop");
  const key = (r, n) => ({ g: "apps", v: "v1", r, ns: "shop", n });
  for (let i = 0; i < 12; i++) {
    store.apply([{ svx: { vx: key("deployments", `new-${i}`), m: { k: "Deployment", h: "ok" } } }, { svx: { vx: { ...key("services", `new-${i}`), g: "" }, m: { k: "Service" } } },
      { sarc: { s: { ...key("services", `new-${i}`), g: "" }, d: key("deployments", `new-${i}`), t: "r" } }], { at: 3 });
    model.update(3);
    tidy(model, `app ${i}`);
  }
  assert.deepEqual(where("shop"), before);
});

test("one namespace is folded alone", () => {
  assert.deepEqual(fold("x", []).apps, []);
});

test("the language of the search", () => {
  assert.deepEqual(parse("kind:secret ns:shop -web \"a b\" foo:bar"), [
    { not: false, qualifier: "kind", value: "secret" }, { not: false, qualifier: "ns", value: "shop" }, { not: true, qualifier: "", value: "web" },
    { not: false, qualifier: "", value: "a b" }, { not: false, qualifier: "", value: "foo:bar" },
  ]);
  const { store } = modelOf(cluster(300));
  const found = (text) => [...store].filter(compile(text)).length;
  assert.equal(found("kind:po"), [...store].filter((v) => v.r === "pods").length);
  assert.equal(found("is:problem"), [...store].filter((v) => v.health === "degraded" || v.health === "missing").length);
  assert.equal(found("kind:pod -kind:pod"), 0);
});

test("the words of a reference are among the details of both its ends", () => {
  const store = new Store();
  const vx = (r, n) => ({ g: "", v: "v1", r, ns: "shop", n });
  const [pod, config] = [vx("pods", "web"), vx("configmaps", "web")];
  store.apply([{ svx: { vx: pod, m: { k: "Pod" } } }, { svx: { vx: config, m: { k: "ConfigMap" } } }, { sarc: { s: pod, d: config, t: "r", a: { f: ["spec.x"], w: ["mounts"] } } }], { reset: true });
  const model = new Model(store, emptyFilters());
  model.update(0);
  const answers = new Answers(store, model);
  const words = (key, list) => answers.details({ key })[list].map((end) => end.words);
  assert.deepEqual([words("/v1/pods/shop/web", "uses"), words("/v1/configmaps/shop/web", "usedBy")], [[["mounts"]], [["mounts"]]]);
  store.apply([{ sarc: { s: pod, d: config, t: "r", a: { f: ["spec.y"], w: ["selects"] } } }]);
  assert.deepEqual(words("/v1/pods/shop/web", "uses"), [["selects"]]);
});

test("what is not there is missing only to those who need it", () => {
  const vx = (r, n) => ({ g: "", v: "v1", r, ns: "shop", n });
  const config = vx("configmaps", "web");
  const store = new Store();
  const refer = (name, a) => store.apply([{ svx: { vx: vx("pods", name), m: { k: "Pod", h: "ok" } } }, { sarc: { s: vx("pods", name), d: config, t: "r", a: { e: true, ...a } } }]);
  const model = new Model(store, emptyFilters());
  const seen = () => {
    model.update(0);
    const { health, card } = store.find("/v1/configmaps/shop/web");
    const line = new Wire().whole([...model.places.values()]).flatMap(({ apps }) => apps).flatMap(({ lines }) => lines)[0];
    return [health, card.problems, card.state, line?.missing ?? false];
  };
  const steps = [
    [() => refer("a", { o: true }), ["optional", 0, "optional, not there", false]],
    [() => refer("b", {}), ["missing", 1, "missing", true]],
    [() => refer("b", { o: true }), ["optional", 0, "optional, not there", false]],
    [() => store.apply([{ darc: { s: vx("pods", "b"), d: config, t: "r" } }]), ["optional", 0, "optional, not there", false]],
    [() => refer("a", { x: "outside" }), ["outside", 0, "outside the view", false]],
    [() => refer("a", { x: "unknown", o: true }), ["unseen", 0, "where the view does not look", false]],
    [() => store.apply([{ svx: { vx: config, m: { k: "ConfigMap", h: "ok" } } }, { sarc: { s: vx("pods", "a"), d: config, t: "r", a: {} } }]), ["ok", 0, "", false]],
    [() => store.apply([{ dvx: { vx: config } }]), ["missing", 1, "missing", true]],
  ];
  for (const [act, want] of steps) {
    act();
    assert.deepEqual(seen(), want);
  }
});

test("a Deployment that is opened makes nothing that it alone uses shared by many", () => {
  const vx = (g, r, n) => ({ g, v: "v1", r, ns: "shop", n });
  const [owner, set, config, service] = [vx("apps", "deployments", "web"), vx("apps", "replicasets", "web-1"), vx("", "configmaps", "web"), vx("", "services", "web")];
  const actions = [[owner, "Deployment"], [set, "ReplicaSet"], [config, "ConfigMap"], [service, "Service"]].map(([key, k]) => ({ svx: { vx: key, m: { k, app: "web" } } }));
  actions.push({ sarc: { s: set, d: owner, t: "or" } }, { sarc: { s: owner, d: config, t: "t" } });
  for (let i = 0; i < 20; i++) {
    const pod = vx("", "pods", `web-1-${i}`);
    actions.push({ svx: { vx: pod, m: { k: "Pod", app: "web" } } }, { sarc: { s: pod, d: set, t: "or" } }, { sarc: { s: pod, d: config, t: "r" } }, { sarc: { s: service, d: pod, t: "r" } });
  }
  for (let i = 0; i < 20; i++) actions.push({ svx: { vx: vx("", "services", `other-${i}`), m: { k: "Service" } } });
  const { store, model } = modelOf(actions);
  for (const key of [owner, set]) model.open(`${key.g}/v1/${key.r}/shop/${key.n}`, true);
  model.invalidate();
  model.update(1);
  conserved(store, model, "opened");
  const cards = [...model.places.values()].flatMap((place) => place.cards);
  assert.ok(cards.length > 20, `${cards.length} cards`);
  assert.deepEqual(cards.filter((card) => card.hub).map(({ key }) => key), []);
});

test("a large box that grows stays, and small ones make room", () => {
  const vx = (r, n) => ({ g: "", v: "v1", r, ns: "shop", n });
  const set = (key, k) => ({ svx: { vx: key, m: { k, app: key.n.split("-")[0] } } });
  const chain = (i) => [set(vx("services", `big-${i}`), "Service"), set(vx("deployments", `big-${i}`), "Deployment"), { sarc: { s: vx("services", `big-${i}`), d: vx("deployments", `big-${i}`), t: "r" } }];
  const { store, model } = modelOf([...Array.from({ length: 30 }, (_, i) => chain(i)).flat(), ...Array.from({ length: 20 }, (_, i) => set(vx("deployments", `small${i}-1`), "Deployment"))]); // without these, all have one label
  const at = () => model.places.get("shop").apps.filter(({ title }) => title === "big").map(({ x, y, h }) => [x, y, h])[0];
  const [x, y, h] = at();
  store.apply(Array.from({ length: 12 }, (_, i) => chain(30 + i)).flat(), { at: 2 });
  model.update(2);
  tidy(model, "grown");
  const [nx, ny, nh] = at();
  assert.deepEqual([nx, ny], [x, y]);
  assert.ok(nh !== h, "it has not grown");
});

const owned = {
  "circles of two": (i) => i ^ 1,
  "one circle": (i, size) => (i + 1) % size,
  "one chain": (i, size) => (i + 1 < size ? i + 1 : undefined),
};

for (const [name, ownerOf] of Object.entries(owned)) {
  for (const isOpen of [false, true]) {
    test(`owners in ${name}, ${isOpen ? "open" : "folded"}: each is looked at a few times, however many there are`, () => {
      const size = 4000;
      const key = (i) => ({ g: "", v: "v1", r: "configmaps", ns: "one", n: `c${i}` });
      const store = new Store();
      store.apply(Array.from({ length: size }, (_, i) => ({ svx: { vx: key(i), m: { k: "ConfigMap", u: "u" } } })), { reset: true, at: 1 });
      const owners = Array.from({ length: size }, (_, i) => [i, ownerOf(i, size)]).filter(([, owner]) => owner !== undefined);
      store.apply(owners.map(([i, owner]) => ({ sarc: { s: key(i), d: key(owner), t: "or", a: {} } })), { at: 2 });
      let reads = 0;
      const vertices = [...store.vertices.values()];
      for (const v of vertices) {
        v.home = "one";
        let owner;
        Object.defineProperty(v, "owner", { get() { reads++; return owner; }, set(value) { owner = value; } });
      }
      const { cards } = fold("one", vertices, { opened: () => isOpen });
      assert.equal(cards.reduce((sum, card) => sum + card.members.length, 0), size);
      assert.ok(reads <= 30 * size, `${reads} reads of an owner, of ${size} objects`);
    });
  }
}

const configMap = (n) => ({ g: "", v: "v1", r: "configmaps", ns: "one", n });
const role = (n) => ({ g: "rbac.authorization.k8s.io", v: "v1", r: "roles", ns: "one", n });

/** Returns a store of objects with the given owners and targets. */
function owning(size, ownerOf, targetsOf) {
  const store = new Store();
  const actions = [];
  const put = (vx) => actions.push({ svx: { vx, m: { k: "Thing", u: "u" } } });
  const refer = (s, d, t) => actions.push({ sarc: { s, d, t, a: {} } });
  for (let i = 0; i < size; i++) put(configMap(`c${i}`));
  for (let i = 0; i < size; i++) {
    const owner = ownerOf(i, size);
    if (owner !== undefined) refer(configMap(`c${i}`), configMap(`c${owner}`), "or");
    for (const target of targetsOf(i)) refer(configMap(`c${i}`), role(`t${target}`), "r");
  }
  store.apply(actions, { reset: true, at: 1 });
  for (const v of store) v.home = "one";
  return [...store];
}

for (const [name, ownerOf] of Object.entries(owned)) {
  test(`what opened owners in ${name} refer to: each is looked at a few times, however many there are`, () => {
    const size = 2000;
    const vertices = owning(size, ownerOf, (i) => ["all", i]);
    let reads = 0;
    for (const v of vertices) {
      let card;
      Object.defineProperty(v, "card", { get() { reads++; return card; }, set(value) { card = value; } });
    }
    fold("one", vertices, { opened: () => true, whole: true });
    assert.ok(reads <= 60 * size, `${reads} reads of a card, of ${size} objects`);
  });
}

test("what an owner refers to, and what it owns, is the line of the highest owner", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const next = random(seed);
    const size = 2 + Math.floor(next() * 60);
    const vertices = owning(size, (i) => (i > 0 && next() < 0.8 ? Math.floor(next() * i) : undefined), () => Array.from({ length: 3 }, () => Math.floor(next() * 8)));
    const { apps } = fold("one", vertices, { opened: () => true, whole: true });
    const lines = new Map(apps.flatMap((app) => app.lines).flatMap((line) => line.arcs.map((arc) => [arc, line.a.anchor])));
    for (const v of vertices) {
      for (const arc of v.out) {
        if (arc.t === "or") continue;
        let highest = v;
        for (let up = v.owner; up; up = up.owner) if (up.out.some(({ d, t }) => d === arc.d && t !== "or")) highest = up;
        assert.equal(lines.get(arc)?.key, highest.key, `seed ${seed}: ${v.key} → ${arc.d.key}`);
      }
    }
  }
});

for (const ns of ["one", "kube-system"]) {
  test(`the outline finds each object of a circle of owners in ${ns}`, () => {
    const key = (i) => ({ g: "", v: "v1", r: "configmaps", ns, n: `c${i}` });
    const { store, model } = modelOf([0, 1, 2].flatMap((i) => [
      { svx: { vx: key(i), m: { k: "ConfigMap", u: "u" } } }, { sarc: { s: key(i), d: key((i + 1) % 3), t: "or", a: {} } },
    ]));
    const answers = new Answers(store, model);
    for (const i of [2, 1, 0]) assert.ok(answers.outline({ key: `/v1/configmaps/${ns}/c${i}` }).at > 0);
    assert.equal(answers.expand({ all: true, open: true }), answers.outline({}).total);
  });
}

test("the outline has each object of a chain of owners, however long it is", () => {
  const size = 9_000;
  const vx = (i) => ({ g: "", v: "v1", r: "roles", ns: "shop", n: `r${i}` });
  const { model, store } = modelOf(Array.from({ length: size }, (_, i) => [{ svx: { vx: vx(i), m: { k: "Role" } } }, ...i > 0 ? [{ sarc: { s: vx(i), d: vx(i - 1), t: "or", a: { c: true } } }] : []]).flat());
  const answers = new Answers(store, model);
  assert.equal(answers.expand({ all: true, open: true }), size + 2, "with the rows of the namespace and the box");
  const { rows: [row] } = answers.outline({ from: size + 1, to: size + 2 });
  assert.deepEqual([row.name, row.level, row.pos, row.size], [`r${size - 1}`, size + 2, 1, 1]);
});

test("problems and boxes may be more than a call takes arguments", () => {
  const { store, model } = modelOf([]);
  store.apply([{ svx: { vx: configMap("a"), m: { k: "ConfigMap" } } }], { at: 2 });
  Object.assign(model, { causes: { update: () => Array(300_000).fill({}), list: [] } });
  assert.deepEqual(model.update(2).places.map(({ name }) => name), ["one"]);
  const boxes = Array.from({ length: 300_000 }, (_, i) => ({ key: String(i), x: 18, y: 60 * i, w: 100, h: 50 }));
  const place = { apps: boxes.map((box) => ({ ...box })) };
  layOutPlace(place, new Map(boxes.map((box) => [box.key, box])), 40, 1.5);
  assert.deepEqual([place.w, place.h], [18 + 100 + inset.place, 60 * 299_999 + 50 + inset.place]);
});

test("a place for a box is not compared with all boxes, and in the same hole", () => {
  const size = 3_000;
  let reads = 0;
  const boxes = Array.from({ length: size }, (_, i) => {
    const [x, y] = [120 * (i % 50), 60 * Math.floor(i / 50)];
    return { get x() { reads++; return x; }, y, w: 100, h: 40 };
  });
  boxes.splice(1234, 1);
  assert.deepEqual(findPlace({ w: 100, h: 40 }, boxes, 20), { x: 120 * (1234 % 50), y: 60 * Math.floor(1234 / 50) });
  assert.ok(reads < 1000 * size, `${reads} reads, of ${size} boxes`);
});

test("a chain of objects that each use the next one folds, however long it is", () => {
  const size = 8_000;
  const key = (i) => ({ g: "", v: "v1", r: i % 2 ? "secrets" : "serviceaccounts", ns: "one", n: `c${i}` });
  const { model } = modelOf(Array.from({ length: size }, (_, i) => [
    { svx: { vx: key(i), m: { k: "X", u: "u" } } }, ...i + 1 < size ? [{ sarc: { s: key(i), d: key(i + 1), t: "r", a: {} } }] : [],
  ]).flat());
  assert.equal(model.places.get("one").cards.reduce((sum, card) => sum + card.members.length, 0), size);
});
