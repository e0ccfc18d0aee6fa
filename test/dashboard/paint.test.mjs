// Painted text is legible at each zoom and size. The test reads the SVG export, which the same
// painter makes.
import assert from "node:assert/strict";
import test from "node:test";

import { Model } from "../../dashboard/web/model/model.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Store } from "../../dashboard/web/model/store.js";
import { Wire } from "../../dashboard/web/model/wire.js";
import { Camera } from "../../dashboard/web/view/camera.js";
import { levels, paint } from "../../dashboard/web/view/paint.js";
import { Scene } from "../../dashboard/web/view/scene.js";
import { colours } from "../../dashboard/web/view/style.js";
import { SVGContext } from "../../dashboard/web/view/svg.js";
import { cluster } from "./cluster.mjs";

const theme = { ...Object.fromEntries(colours.map((name) => [name, name])), font: "sans-serif", forced: false };
const view = { w: 1600, h: 910 };

class Ruled extends SVGContext {
  measureText(text) { return { width: text.length * 0.58 * Number(/([\d.]+)px/.exec(this.font)[1]) }; }
}

function sceneOf(actions, focus) {
  const store = new Store();
  store.apply(actions, { reset: true });
  const model = new Model(store, emptyFilters());
  if (focus) model.setFocus(focus);
  model.update(0);
  const scene = new Scene();
  const places = JSON.parse(JSON.stringify(new Wire().whole([...model.places.values()])));
  scene.apply({ whole: true, removed: [], places, cards: [], marks: [], stats: {} }, 0);
  return scene;
}

/** Returns the painted texts: {text, size, x, y, w}; x is the left end and y the middle. */
function textsOf(scene, camera, options) {
  const context = new Ruled(camera.w, camera.h);
  paint(context, scene, camera, theme, options);
  return [...context.toString().matchAll(/<text x="([^"]*)" y="([^"]*)"[^>]* font-size="([^"]*)"[^>]* text-anchor="([^"]*)"[^>]*>([^<]*)</g)].map(([, x, y, size, anchor, text]) => {
    const w = text.length * 0.58 * size;
    return { text, size: Number(size), x: Number(x) - (anchor === "end" ? w : anchor === "middle" ? w / 2 : 0), y: Number(y), w };
  });
}

const overlap = (a, b) => a.x + 1 < b.x + b.w && b.x + 1 < a.x + a.w && Math.abs(a.y - b.y) < 0.36 * (a.size + b.size);

const fitted = (scene) => Object.assign(new Camera(), view, Object.assign(new Camera(), view).fitting(scene.bounds()));

for (const size of [50, 500, 5000]) {
  test(`text is never smaller than 9 pixels and never over another, ${size.toLocaleString("en")} objects`, () => {
    const scene = sceneOf(cluster(size));
    const [selected] = [...scene.cards.entries()].find(([, { app, card }]) => app.lines.length > 2 && app.lines.some(({ a }) => app.cards[a] === card));
    const middle = scene.rect(selected);
    for (const k of [0, 0.1, levels.shades, 0.2, levels.sketch, 0.33, 0.42, levels.cards, 0.6, 0.7, 1, 1.6]) {
      const camera = k === 0 ? fitted(scene) : Object.assign(new Camera(), view, Object.assign(new Camera(), view).centered(middle, k));
      const texts = textsOf(scene, camera, { selected });
      assert.ok(texts.length > 0, `nothing is said at ${k}`);
      assert.deepEqual(texts.filter((text) => text.size < 9), [], `at ${k}`);
      texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b), `at ${k}, "${a.text}" and "${b.text}" overlap: ${JSON.stringify([a, b])}`)));
    }
  });
}

test("at the fit of 5,000 objects each namespace is named, and what needs attention is seen", () => {
  const scene = sceneOf(cluster(5000));
  const camera = fitted(scene);
  const texts = textsOf(scene, camera);
  for (const place of scene.places.values()) {
    const named = texts.find(({ text }) => text === (place.name || "cluster-scoped"));
    assert.ok(named?.size >= 11, `${place.name}: ${JSON.stringify(named)}`);
    for (const app of place.apps) if (app.problems > 0) assert.ok(Math.min(app.w, app.h) * camera.k >= 6, `${place.name} ${app.title}`);
  }
});

test("at the fit of 500 objects each card that needs attention says its kind, and its box what is wrong", () => {
  const scene = sceneOf(cluster(500));
  const camera = fitted(scene);
  const texts = textsOf(scene, camera);
  const bad = [...scene.cards.values()].filter(({ card }) => card.health === "degraded" || card.health === "missing");
  assert.ok(bad.length > 0);
  for (const { card } of bad) {
    const rect = scene.rect(card.key);
    const [x, y] = camera.toScreen(rect.x, rect.y);
    const named = texts.find((text) => text.x >= x && text.x + text.w <= x + rect.w * camera.k && text.y > y && text.y < y + rect.h * camera.k);
    assert.ok(named?.text.startsWith(card.short), `${card.short} ${card.name}: ${JSON.stringify(named)}`);
  }
  const [app] = [...scene.places.values()].flatMap(({ apps }) => apps).filter(({ problems }) => problems > 0);
  assert.match(app.why, /^ConfigMap .* is missing$/);
  assert.ok(texts.some(({ text }) => text.length > 8 && app.why.startsWith(text.replace(/…$/, ""))), `${app.why}: ${texts.map(({ text }) => text).join()}`);
});

test("cards say their kind at each zoom at which they say a name, and the beginning of a reason", () => {
  const scene = sceneOf(cluster(500));
  const lines = (key, k) => {
    const rect = scene.rect(key);
    const camera = Object.assign(new Camera(), view, Object.assign(new Camera(), view).centered(rect, k));
    const [x, y] = camera.toScreen(rect.x, rect.y);
    return textsOf(scene, camera).filter((text) => text.x >= x && text.x < x + rect.w * k && text.y > y && text.y < y + rect.h * k).map(({ text }) => text).join("\n");
  };
  const of = (fits) => [...scene.cards].find(([, { card }]) => fits(card))[0];
  const [deployment, claim, broken] = [of((card) => card.kind === "Deployment" && card.health === "ok" && card.bar?.[0] > 1), of((card) => card.kind === "PersistentVolumeClaim"),
    of((card) => card.health === "degraded" && card.state === "CreateContainerConfigError")];
  for (const k of [levels.sketch, 0.33, 0.42, 0.49, levels.cards, 0.55, 0.62, 0.68, 0.7, 0.8, 1, 1.6, 2.5]) {
    assert.match(lines(deployment, k), /Deployment|deploy/, `at ${k}`);
    assert.match(lines(claim, k), /PersistentVolumeClaim|pvc/, `at ${k}`);
    if (k >= levels.cards) assert.match(lines(broken, k), /(Deployment|deploy) · Crea/, `at ${k}`);
  }
  assert.match(lines(deployment, 0.55), /deploy · (\d)\/\1/);
  assert.match(lines(deployment, 2), /Deployment · (\d) of \1 ready/);
});

test("a label that all of a namespace has makes no box of it: each has the name of its workload", () => {
  const actions = cluster(200).map((action) => action.svx ? { svx: { ...action.svx, m: { ...action.svx.m, app: "everything" } } } : action);
  const scene = sceneOf(actions);
  let boxes = 0;
  for (const place of scene.places.values()) {
    if (place.apps.filter(({ key, rest }) => key !== "shared" && !rest).length < 2) continue; // its label is its name
    for (const app of place.apps.filter(({ key, rest }) => key !== "shared" && !rest)) {
      boxes++;
      assert.ok(app.cards.some((card) => card.role === "workload" && card.name === app.title), `${app.title}: ${app.cards.map(({ kind, name }) => `${kind} ${name}`)}`);
    }
  }
  assert.ok(boxes > 5, `${boxes} boxes`);
});

test("a card that has changed does not look like one that is selected", () => {
  const scene = sceneOf(cluster(50));
  const [[key]] = scene.cards;
  const camera = fitted(scene);
  const drawn = (options) => {
    const context = new Ruled(camera.w, camera.h);
    paint(context, scene, camera, theme, options);
    return context.toString();
  };
  const plain = drawn({ now: 0 });
  scene.marks.set(key, { what: "~", until: 1000 });
  const changed = drawn({ now: 0 });
  assert.notEqual(changed, plain);
  assert.equal(changed.split("accent").length, plain.split("accent").length, "the colour of a selection");
});

test("in a focus lines say what they mean, and elsewhere those of the card that is selected", () => {
  const actions = cluster(500);
  const said = (scene, key, options) => {
    const camera = Object.assign(new Camera(), view, Object.assign(new Camera(), view).centered(scene.rect(key), 1));
    const texts = textsOf(scene, camera, options);
    return ["mounts", "selects", "scales", "protects", "runs as", "installs", "reads"].filter((word) => texts.some(({ text }) => text.startsWith(word)));
  };
  const scene = sceneOf(actions);
  // A workload that a Service selects, with nothing else between them.
  const [, { app, card }] = [...scene.cards].find(([, found]) => found.card.role === "workload" && found.app.lines.some(({ b, words, way }) => words === "selects" && found.app.cards[b] === found.card && way.length === 0));
  assert.ok(app.lines.length > 0);
  assert.deepEqual(said(scene, card.key), []);
  assert.ok(said(scene, card.key, { selected: card.key }).includes("selects"));
  assert.ok(said(sceneOf(actions, { key: card.key, depth: 1, up: true, down: true }), card.key).includes("selects"));
});
