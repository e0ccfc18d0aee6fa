// What a reader meets in the first minute with the page: keys that work, details beside the map,
// a focus out of a search, a telephone.
import assert from "node:assert/strict";
import test from "node:test";

import { dashboard } from "./dashboard.mjs";
import { eventually } from "./scenario.mjs";

const now = (page) => page.evaluate(() => {
  const c = document.querySelector("graph-view").controller;
  return {
    selected: c.now.selected, focused: document.activeElement?.localName, k: c.map.camera.k, lit: c.map.lit?.size, search: c.now.search, places: [...c.map.scene.places.keys()].join(),
    problems: c.now.filters.problems, panel: !c.details.element.hidden, width: c.map.camera.w,
  };
});

test("keys work after loading, after the outline has closed, and after the details have", async (t) => {
  const page = await dashboard(t, "large/view");
  await page.evaluate(() => document.activeElement?.blur());
  assert.equal((await now(page)).focused, "body");
  const { k, width } = await now(page);
  await page.keyboard.press("n");
  await eventually(async () => ((await now(page)).panel ? "" : "no details"));
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  const beside = await now(page);
  assert.ok(beside.width < width, "the details are beside the map");
  assert.ok(beside.k >= k, `the zoom is ${beside.k}, was ${k}`);
  await page.keyboard.press("t");
  await page.locator("graph-view [role=treegrid]").waitFor();
  await page.keyboard.press("t");
  await page.locator("graph-view [role=treegrid]").waitFor({ state: "hidden" });
  await page.click("graph-view button[aria-label='Close the details']");
  await page.keyboard.press("?");
  await page.locator("graph-view [role=dialog][aria-label=Help]").waitFor();
});

test("a focus ends a search and what that has dimmed", async (t) => {
  const page = await dashboard(t, "large/view");
  await page.keyboard.press("/");
  await page.keyboard.type("kind:deployment app-07");
  await page.locator("graph-view .popup .row").first().waitFor();
  await page.keyboard.press("Enter");
  await eventually(async () => ((await now(page)).panel ? "" : "no details"));
  assert.ok((await now(page)).lit > 0);
  await page.keyboard.press("f");
  await eventually(async () => ((await now(page)).places === "focus" ? "" : "no focus"));
  const { lit, search } = await now(page);
  assert.deepEqual([lit, search, await page.inputValue("graph-view [role=combobox]")], [undefined, "", ""]);
});

test("a telephone begins with the problems, below a toolbar of two rows", async (t) => {
  const page = await dashboard(t, "large/view", { viewport: { width: 390, height: 844 } });
  await eventually(async () => ((await now(page)).problems ? "" : "everything is shown"));
  const { bar, width } = await page.evaluate(() => ({
    bar: document.querySelector("graph-view").shadowRoot.querySelector(".bar").getBoundingClientRect().height, width: document.scrollingElement.scrollWidth,
  }));
  assert.ok(bar <= 90 && width === 390, `${bar} pixels high, ${width} wide`);
  // A map of that many is marks without names, so the outline names them.
  const rows = page.locator("graph-view .grid-row:not(.group)");
  await rows.first().waitFor();
  const states = await rows.evaluateAll((all) => all.map((row) => `${row.querySelector(".label").textContent}: ${row.querySelector(".st").textContent}`));
  assert.ok(states.every((text) => /^.+: .+$/.test(text)), states.join("\n"));
  const over = await rows.evaluateAll((all) => all.flatMap((row) => {
    const cells = [...row.children].map((cell) => cell.getBoundingClientRect()).filter(({ width: w }) => w > 0);
    const fit = cells.every(({ left, right, height }, i) => height <= 26 && right <= innerWidth && (i === 0 || left >= cells[i - 1].right));
    return fit ? [] : [row.textContent];
  }));
  assert.deepEqual(over, [], "cells lie over each other");
  // An address that says what is shown is followed.
  await page.click("graph-view button:has-text('Show everything')");
  await eventually(async () => ((await now(page)).problems ? "only problems" : ""));
  await eventually(() => page.evaluate(() => (/[?&]z=/.test(location.hash) && !location.hash.includes("problems") ? "" : location.hash)));
  const again = await dashboard(t, (await page.evaluate(() => location.hash)).slice(2), { viewport: { width: 390, height: 844 } });
  assert.equal((await now(again)).problems, false);
});

test("nothing says that no view is chosen while a chosen one loads", async (t) => {
  const page = await dashboard(t, "large/view");
  const texts = await page.evaluate(async () => {
    const made = document.createElement("graph-view");
    made.setAttribute("view", "large/view");
    const seen = [];
    document.querySelector("graph-view").replaceWith(made);
    const empty = made.shadowRoot.querySelector(".empty");
    const look = () => seen.push(empty.textContent);
    look();
    new MutationObserver(look).observe(empty, { childList: true });
    await new Promise((resolve) => { setTimeout(resolve); });
    return [...new Set(seen)];
  });
  assert.deepEqual(texts.filter((text) => /No view/.test(text)), []);
});
