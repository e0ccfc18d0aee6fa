// Posted changes equal a posted whole: after each change the scene is that of a page that got
// everything, and every visible difference is within the rectangles that are painted again.
import assert from "node:assert/strict";
import test from "node:test";

import { Model } from "../../dashboard/web/model/model.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Store } from "../../dashboard/web/model/store.js";
import { Wire } from "../../dashboard/web/model/wire.js";
import { Camera } from "../../dashboard/web/view/camera.js";
import { regionsOf, stripsOf } from "../../dashboard/web/view/regions.js";
import { Scene, problemsIn } from "../../dashboard/web/view/scene.js";
import { cluster, random } from "./cluster.mjs";
import { changesOf } from "./graphs.mjs";

const still = ({ dx, dy, since, ...rest }) => rest;

/** All that is seen of a scene: a text per app and place title, by its rectangle. */
function seen(scene) {
  const found = new Map();
  for (const place of scene.places.values()) {
    found.set(`${place.name}`, { x: place.x, y: place.y, w: place.w, h: place.title, text: `${place.apps.length} ${problemsIn(place)} ${place.w} ${place.h}` });
    for (const app of place.apps) {
      found.set(`${place.name} ${app.key}`, {
        x: place.x + app.x, y: place.y + app.y, w: app.w, h: app.h, text: JSON.stringify([still({ ...app, cards: [] }), app.cards.map(still)]),
        cards: new Map(app.cards.map((card) => [card.key, JSON.stringify(still(card))])), lines: JSON.stringify(app.lines),
      });
    }
  }
  return found;
}

const covers = (rects, { x, y, w, h }) => rects.some((r) => r.x <= x && r.y <= y && r.x + r.w >= x + w && r.y + r.h >= y + h);

test("the problems of a place are counted once for all cards of a change", () => {
  const size = 1_000;
  const app = (i, why) => ({ key: `a${i}`, x: 0, y: 60 * i, w: 100, h: 50, health: "ok", why, causes: [], vertices: 1, problems: 0, title: "", lines: [], cards: [{ key: `c${i}`, id: `c${i}`, x: 0, y: 0 }] });
  const message = (rest) => ({ whole: false, removed: [], places: [], cards: [], marks: [], stats: {}, ...rest });
  const scene = new Scene();
  const apps = Array.from({ length: size }, (_, i) => app(i, ""));
  scene.apply(message({ whole: true, places: [{ name: "shop", x: 0, y: 0, w: 100, h: 60 * size, title: 40, apps }] }), 0);
  scene.dirt(0, true);
  let reads = 0;
  for (const { key } of apps) {
    const drawn = scene.places.get("shop").apps.find((one) => one.key === key);
    let { causes } = drawn;
    Object.defineProperty(drawn, "causes", { enumerable: true, get() { reads++; return causes; }, set(value) { causes = value; } });
  }
  const cards = Array.from({ length: size }, (_, i) => {
    const { cards: [card], lines, ...rest } = app(i, "CrashLoopBackOff");
    return { app: { ...rest, causes: ["x"], problems: 1, health: "degraded" }, card };
  });
  scene.apply(message({ cards }), 1);
  assert.ok(reads <= 4 * size, `the causes of ${size} boxes were read ${reads} times`);
  const { dirt } = scene.dirt(1, true);
  assert.ok(dirt.some(({ x, y, h }) => x === 0 && y === 0 && h === 40), "the title has another count");
});

for (const seed of [1, 2, 3]) {
  test(`changes in parts are the whole, and what differs is painted (seed ${seed})`, () => {
    const actions = cluster(900, { seed });
    const store = new Store();
    store.apply(actions, { reset: true });
    const model = new Model(store, emptyFilters());
    const [wire, scene] = [new Wire(), new Scene()];
    scene.still = seed === 2;
    const next = random(seed);
    const message = (rest) => JSON.parse(JSON.stringify({ whole: false, removed: [], places: [], cards: [], marks: [], stats: {}, ...rest }));
    model.update(0);
    scene.apply(message({ whole: true, places: wire.whole([...model.places.values()]) }), 0);
    const changes = changesOf(actions, { lists: 60, each: 6, seed, replaced: 0.4 });
    changes.forEach((list, i) => {
      store.apply(list, { at: 1000 * i });
      if (next() < 0.2) {
        const card = [...scene.cards.keys()][Math.floor(next() * scene.cards.size)];
        model.toggled.set(card, !model.opened(card));
        model.invalidate();
      }
      const before = seen(scene);
      const { places, removed, cards } = model.update(0);
      wire.forget(removed);
      scene.apply(message({ removed, places: wire.differing(places), cards: wire.restated(cards) }), 10_000 * i);
      const whole = new Scene();
      whole.apply(message({ whole: true, places: new Wire().whole([...model.places.values()]) }), 0);
      const [got, want] = [seen(scene), seen(whole)];
      assert.deepEqual([...got.keys()].sort(), [...want.keys()].sort());
      for (const [key, { text, x, y }] of got) assert.equal(`${x} ${y} ${text}`, `${want.get(key).x} ${want.get(key).y} ${want.get(key).text}`);
      assert.deepEqual([...scene.cards.keys()].sort(), [...whole.cards.keys()].sort());
      const { dirt } = scene.dirt(10_000 * i, true);
      for (const [key, now] of got) {
        const was = before.get(key);
        const moved = !was || ["x", "y", "w", "h"].some((name) => was[name] !== now[name]);
        if (!moved && was.text === now.text) continue;
        const parts = [...(now.cards ?? [])].filter(([card, text]) => was?.cards?.get(card) !== text).map(([card]) => scene.rect(card));
        const alone = !moved && now.lines === was.lines && parts.length > 0 && parts.every((rect) => covers(dirt, rect));
        if (!alone) for (const rect of moved && was ? [was, now] : [now]) assert.ok(covers(dirt, rect), `${key} differs and is not painted`);
      }
      for (const [key, was] of before) if (!got.has(key)) assert.ok(covers(dirt, was), `${key} is gone and still there`);
    });
  });
}

test("what comes into sight when the map is moved", () => {
  const camera = Object.assign(new Camera(), { x: 100, y: 0, k: 0.5, w: 800, h: 600 });
  const brief = (dx, dy, ratio) => stripsOf(dx, dy, camera, ratio)?.map(({ x, y, w, h }) => [x, y, w, h]);
  assert.deepEqual(brief(6, 0, 1), [[0, 0, 6, 600]]);
  assert.deepEqual(brief(-6, -3, 1), [[794, 0, 6, 600], [0, 597, 800, 3]]);
  assert.deepEqual(brief(4, 2, 2), [[0, 0, 2, 600], [0, 0, 800, 1]], "pixels of the canvas are smaller");
  assert.equal(brief(1.5, 0, 1), undefined, "not on a pixel");
  assert.equal(brief(500, 0, 1), undefined, "most of it is new");
});

test("parts of the canvas", () => {
  const camera = Object.assign(new Camera(), { x: 100, y: 0, k: 0.5, w: 800, h: 600 });
  const box = (x, y, w = 20, h = 20) => ({ x, y, w, h });
  const brief = (rects) => regionsOf(rects, camera, 1)?.map(({ x, y, w, h }) => [x, y, w, h]);
  assert.deepEqual(brief([]), []);
  assert.deepEqual(brief([box(300, 200)]), [[90, 90, 30, 30]]);
  assert.deepEqual(brief([box(-500, -500)]), [], "what is out of sight is not painted");
  assert.deepEqual(brief([box(100, 0)]), [[0, 0, 20, 20]], "only what is on the canvas");
  assert.deepEqual(brief([box(300, 200), box(310, 200)]), [[90, 90, 35, 30]], "what overlaps is one");
  assert.deepEqual(brief([box(300, 200), box(900, 900)]).length, 2);
  assert.equal(brief([box(100, 0, 1400, 1000)]), undefined, "nearly everything is everything");
  assert.equal(brief(Array.from({ length: 60 }, (_, i) => box(100 + (i % 10) * 150, Math.floor(i / 10) * 150))), undefined, "so are many parts");
});
