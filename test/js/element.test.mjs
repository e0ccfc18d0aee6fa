// <graph-view> in somebody's own page: words of its own for a refusal, a part of a view, a snapshot without a view.
import assert from "node:assert/strict";
import test from "node:test";

import { getGraph } from "../../client/js/graphview.js";
import { open, token, url } from "./place.mjs";
import { eventually } from "./scenario.mjs";

// Puts an element that a function of the page has set up into an empty page of the operator's.
async function placed(t, setUp, argument, asked) {
  const page = await open(t, "/dashboard/missing", asked);
  await page.evaluate(async () => {
    await import("/dashboard/graph-view.js");
    globalThis.element = document.createElement("graph-view");
    globalThis.element.style.setProperty("height", "600px");
  });
  await page.evaluate(setUp, argument);
  await page.evaluate(() => document.body.replaceChildren(globalThis.element));
  return page;
}

const state = (page, wanted) => page.waitForFunction((one) => document.querySelector("graph-view").controller?.status.state === one, wanted);
const counted = (page) => page.evaluate(() => document.querySelector("graph-view").controller.map.scene.stats.vertices);

test("a page says in its own words why a graph is refused, and the element asks nothing more until a person does", async (t) => {
  const asked = [];
  const page = await placed(t, () => {
    const { element } = globalThis;
    element.view = "busy/view"; // without a token
    globalThis.refusals = [];
    element.addEventListener("refused", (event) => {
      event.preventDefault();
      globalThis.refusals.push(event.detail);
    });
  }, undefined, (address) => { if (address.includes("/apis/")) asked.push(address); });
  await state(page, "ended");
  const { refusals, words } = await page.evaluate(() => ({
    refusals: globalThis.refusals, words: [".notes", ".empty", "[role=status]"].map((name) => document.querySelector("graph-view").shadowRoot.querySelector(name).innerText.trim()),
  }));
  assert.equal(refusals.length, 1);
  assert.deepEqual([refusals[0].code, typeof refusals[0].message], [401, "string"]);
  assert.deepEqual(words, ["", "", ""]);
  const before = asked.length;
  await page.evaluate(() => {
    const { link, map } = document.querySelector("graph-view").controller;
    const scene = { type: "scene", whole: false, removed: [], places: [], cards: [], marks: [], journal: [], stats: map.scene.stats, synced: true, revision: 0 };
    for (let i = 0; i < 3; i++) link.dispatchEvent(new CustomEvent("scene", { detail: scene })); // as time has it come, every 15 seconds
  });
  assert.deepEqual(asked.slice(before), []);
  await page.evaluate(() => document.querySelector("graph-view").retry());
  await page.waitForFunction(() => globalThis.refusals.length === 2);
});

test("what a page puts into the slot for refusals stands in place of the element's words", async (t) => {
  const page = await placed(t, () => {
    const { element } = globalThis;
    element.view = "busy/view";
    const own = document.createElement("p");
    own.slot = "refused";
    own.textContent = "Ask your team for access.";
    element.append(own);
  });
  await state(page, "ended");
  await page.locator("graph-view p").waitFor({ state: "visible" });
  assert.equal(await page.locator("graph-view button:has-text('Try again')").isVisible(), false);
});

test("an element shows what one object leads to, and all of the view again", async (t) => {
  const page = await placed(t, (secret) => {
    Object.assign(globalThis.element, { view: "large/view", root: "deployments.apps/large/app-07", direction: "Both", depth: 1, token: () => secret });
  }, token);
  await page.waitForFunction(() => document.querySelector("graph-view").controller?.synced);
  const part = await counted(page);
  const keys = (await page.evaluate(() => document.querySelector("graph-view").controller.link.ask("table"))).map(([kind, , name]) => `${kind} ${name}`);
  assert.ok(keys.includes("Deployment app-07") && !keys.includes("Deployment app-08"), keys.join());
  await page.evaluate(() => { document.querySelector("graph-view").root = undefined; });
  await eventually(async () => ((await counted(page)) > part ? "" : `${await counted(page)} objects`));
});

test("a snapshot is shown without a view", async (t) => {
  const { vertices, arcs } = await getGraph({ base: url, namespace: "busy", name: "view", token, content: "summary" });
  const actions = [...[...vertices.values()].map((svx) => ({ svx })), ...[...arcs.values()].map((sarc) => ({ sarc }))];
  const page = await placed(t, (graph) => { globalThis.element.snapshot = graph; }, { actions, synced: true, taken: Date.now() });
  await eventually(async () => ((await counted(page)) === vertices.size ? "" : `${await counted(page)} objects`));
});
