import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";

import { findings, ofColours, rules } from "./axe.mjs";
import { ask, dashboard, difference } from "./dashboard.mjs";
import { control, eventually } from "./scenario.mjs";
import { blank, open, out, token, url } from "./place.mjs";

test("the dashboard shows the graph that there is, and what becomes of it", async (t) => {
  const page = await dashboard(t, "busy/view");
  assert.equal(await page.evaluate(() => document.querySelector("graph-view").controller.link.threaded), true);
  const current = () => eventually(() => difference(page, "busy", "view"));
  await current();
  await control(url, "change?n=60");
  await current();
  await control(url, "cut");
  await control(url, "change?n=10");
  await current();
  // Painting in parts gives the same pixels as painting at once, except at the edges of parts; also after the map has moved.
  const same = (moved) => eventually(() => page.evaluate(async (by) => {
    const { map } = document.querySelector("graph-view").controller;
    if (map.scene.marks.size + map.scene.ghosts.length > 0) return "something still fades";
    const { width, height } = map.element;
    const pixels = () => map.element.getContext("2d").getImageData(0, 0, width, height).data;
    const painted = async (act) => {
      const before = map.frames;
      act();
      while (map.frames === before) await new Promise(requestAnimationFrame);
      return map.frames - before;
    };
    if (by) for (const [dx, dy] of by) await painted(() => map.pan(dx, dy));
    const parts = pixels();
    if (await painted(() => map.draw()) > 1) return "something has changed";
    const whole = pixels();
    const differ = parts.reduce((n, value, i) => n + (Math.abs(value - whole[i]) > 100 ? 1 : 0), 0);
    return differ > 0 ? `${differ} colours of pixels differ` : "";
  }, moved));
  await same();
  await same([[-37, 21], [6, -3], [90, 0], [0, -140]]);
  await page.evaluate(() => document.querySelector("graph-view").controller.map.zoom(1.9));
  await same([[-120, -35], [260, 20], [-3, 6]]);
  // The outline has a row for every object, whatever is folded on the map.
  await page.keyboard.press("t");
  await ask(page, "expand", { all: true, open: true });
  const { rows } = await ask(page, "outline", { from: 0, to: 10_000 });
  const objects = rows.filter((row) => !row.group).map((row) => row.key);
  assert.equal(new Set(objects).size, objects.length, "each object has one row");
  assert.equal(objects.length, (await ask(page, "table")).length);
  await page.screenshot({ path: path.join(out, "dashboard.png") });
});

test("the dashboard by keys alone: a broken object is found, focused, and left again", async (t) => {
  const page = await dashboard(t, "large/view");
  const now = () => page.evaluate(() => {
    const c = document.querySelector("graph-view").controller;
    return { selected: c.now.selected, focus: c.now.focus?.key, places: [...c.map.scene.places.keys()], panel: c.details.element.hidden ? "" : c.details.element.textContent, hash: location.hash };
  });
  await page.evaluate(() => document.querySelector("graph-view").controller.map.element.focus());
  await page.keyboard.press("n");
  await eventually(async () => ((await now()).panel ? "" : "no panel"));
  const { selected, panel } = await now();
  assert.match(selected, /configmaps\/large\/app-/);
  assert.match(panel, /not in the graph/);
  await page.keyboard.press("f");
  await eventually(async () => ((await now()).places.join() === "focus" ? "" : "no focus"));
  await eventually(async () => ((await now()).hash.includes("focus=") ? "" : "the address does not say so"));
  await page.keyboard.press("Escape");
  await eventually(async () => ((await now()).places.join() === "large" ? "" : "still a focus"));
  // The browser's way back leaves a focus as well.
  await eventually(async () => ((await now()).hash.includes("focus=") ? "the address still says so" : ""));
  await page.keyboard.press("f");
  await eventually(async () => ((await now()).hash.includes("focus=") ? "" : "the address does not say so"));
  await page.evaluate(() => history.back());
  await eventually(async () => ((await now()).places.join() === "large" ? "" : "still a focus"));
  // Search: what is found is flown to.
  await page.keyboard.press("/");
  await page.keyboard.type("kind:deployment app-07");
  await eventually(async () => ((await page.locator("graph-view .popup .row").count()) > 0 ? "" : "nothing found"));
  await page.keyboard.press("Enter");
  const chosen = "apps/v1/deployments/large/app-07";
  await eventually(async () => ((await now()).selected === chosen ? "" : (await now()).selected));
  const spoken = () => page.locator("graph-view [role=status]").textContent();
  await eventually(async () => (/^Deployment app-07, .*refers to \d+, referred to by \d+/.test(await spoken()) ? "" : await spoken()));
  // Everything in its box is opened, and folded.
  const cards = () => page.evaluate(() => document.querySelector("graph-view").controller.map.scene.cards.size);
  const folded = await cards();
  await page.keyboard.press("Shift+E");
  await eventually(async () => ((await cards()) > folded ? "" : "nothing is open"));
  await eventually(async () => ((await now()).hash.includes("open=") ? "" : "the address does not say what is open"));
  await page.keyboard.press("Shift+E");
  await eventually(async () => ((await cards()) === folded ? "" : `${await cards()} cards, ${folded} before`));
  // The address has all of it.
  await eventually(async () => (/[?&]sel=apps%2Fv1%2Fdeployments%2Flarge%2Fapp-07/.test((await now()).hash) ? "" : (await now()).hash));
  await page.reload();
  await page.fill("input[type=password]", token);
  await page.click("form button");
  await eventually(async () => ((await now()).selected === chosen && /app-07/.test((await now()).panel) ? "" : JSON.stringify(await now())));
  assert.doesNotMatch((await now()).panel, /not in the graph/, "nothing is said of it until all is there");
  // It is followed also when the stream has ended, and nothing is drawn any more.
  await page.waitForFunction(() => document.querySelector("graph-view").controller.synced);
  await page.evaluate(() => {
    const { link } = document.querySelector("graph-view").controller;
    link.close();
    link.dispatchEvent(new CustomEvent("status", { detail: { status: { state: "ended", at: Date.now() } } }));
    location.hash = location.hash.replaceAll("app-07", "app-08");
  });
  await eventually(async () => (/app-08/.test((await now()).panel) ? "" : JSON.stringify(await now())));
  // Of another view, nothing of it is left.
  await page.evaluate(() => { location.hash = "#/large/none"; });
  await eventually(async () => ((await now()).places.length === 0 && !(await now()).panel ? "" : JSON.stringify(await now())));
});

test("changes are gone through by keys, and the graph of then is shown, by an address, too", async (t) => {
  const page = await dashboard(t, "busy/view");
  const kubectl = (...args) => control(url, "kubectl", { args });
  await kubectl("create", "configmap", "-n", "busy", "came-first");
  await kubectl("create", "configmap", "-n", "busy", "came-last");
  t.after(() => kubectl("delete", "configmap", "-n", "busy", "came-first", "came-last", "--ignore-not-found"));
  const strip = page.locator("graph-view [role=slider]");
  const text = () => strip.getAttribute("aria-valuetext");
  await strip.waitFor();
  await eventually(async () => (/ ConfigMap came-last: added\. Recorded since/.test(await text()) ? "" : await text()));
  await strip.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await eventually(async () => (/ ConfigMap came-first: added\./.test(await text()) ? "" : await text()));
  await eventually(() => page.evaluate(() => (document.querySelector("graph-view").controller.map.lit ? "" : "nothing is lit")));
  await page.keyboard.press("Enter");
  const shown = () => page.evaluate(async () => {
    const c = document.querySelector("graph-view").controller;
    const of = async (name) => (await c.link.ask("details", { key: `/v1/configmaps/busy/${name}` }))?.then;
    return { at: c.past?.at, first: await of("came-first"), last: await of("came-last"), note: c.notes.element.textContent, hash: location.hash };
  });
  const isShown = async () => {
    const now = await shown();
    return now.at && now.first === "" && now.last === "came since" && /As it was at .*came since.*ConfigMap came-first added/.test(now.note) && now.hash.includes("at=") ? "" : JSON.stringify(now);
  };
  await eventually(isShown);
  await page.screenshot({ path: path.join(out, "dashboard-past.png") });
  await page.reload();
  await page.fill("input[type=password]", token);
  await page.click("form button");
  await eventually(isShown);
  // The map goes on with the change after, and Escape goes back.
  await page.evaluate(() => document.querySelector("graph-view").controller.map.element.focus());
  await page.keyboard.press(".");
  await eventually(async () => (/ConfigMap came-last added/.test((await shown()).note) ? "" : JSON.stringify(await shown())));
  await page.keyboard.press("Escape");
  await eventually(async () => { const { at, hash } = await shown(); return !at && !hash.includes("at=") ? "" : hash; });
  // What is not recorded is said.
  await page.evaluate(() => document.querySelector("graph-view").controller.showAt("2001-01-01T00:00:00Z"));
  await eventually(async () => (/This moment cannot be shown/.test((await shown()).note) ? "" : JSON.stringify(await shown())));
});

test("the details of what is missing say what changed before, and a finger shows that moment", async (t) => {
  const page = await dashboard(t, "large/view", { viewport: { width: 390, height: 844 } });
  const kubectl = (...args) => control(url, "kubectl", { args });
  t.after(() => kubectl("create", "configmap", "-n", "large", "app-31"));
  await kubectl("delete", "configmap", "-n", "large", "app-31");
  const select = (name) => page.evaluate((key) => document.querySelector("graph-view").controller.select(key), name);
  const panel = page.locator("graph-view aside.panel");
  await eventually(async () => {
    await select("apps/v1/deployments/large/app-31");
    const said = await panel.textContent();
    return /what changed before this.*removedConfigMap app-31 · Deployment app-31 reads env of it/.test(said) ? "" : said;
  });
  // The moment is shown in place of the details, which have the whole page.
  const isPast = (wanted) => eventually(() => page.evaluate((past) => (Boolean(document.querySelector("graph-view").controller.past) === past ? "" : `${past ? "no" : "still a"} moment`), wanted));
  await panel.locator("li.change button.link").first().click();
  await isPast(true);
  assert.equal(await panel.isVisible(), false);
  await page.click("graph-view .note.past button:has-text('Back to now')");
  await isPast(false);
  await select("apps/v1/deployments/large/app-31");
  await panel.locator("button:has-text('ConfigMap app-31')").first().click();
  await eventually(async () => (/configmaps\/large\/app-31/.test(await page.evaluate(() => document.querySelector("graph-view").controller.now.selected)) ? "" : await panel.textContent()));
  await page.evaluate(() => {
    const c = document.querySelector("graph-view").controller;
    c.outline.toggle(false); // which has the page to itself, as many problems as there are
    return c.select(undefined);
  });
  const box = await page.locator("graph-view [role=slider]").boundingBox();
  assert.ok(box.width > 300, "the strip has the width of the page");
  const x = await page.evaluate(() => {
    const { timeline } = document.querySelector("graph-view").controller;
    return timeline.placeOf(timeline.history.entries.findLast(({ change }) => change.type === "removed" && change.vx.n === "app-31"));
  });
  await page.mouse.click(box.x + x, box.y + 20);
  await isPast(true);
  await page.click("graph-view .note.past button:has-text('Back to now')");
  await isPast(false);
});

test("a server without a history has no strip, and no error", async (t) => {
  const page = await blank(t);
  await page.route("**/graphs/view?changes=*", (route) => route.fulfill({ status: 404, json: { kind: "Status", code: 404, reason: "NotFound", message: "the history is off" } }));
  await page.goto(new URL("/dashboard/#/large/view", url).href);
  await page.fill("input[type=password]", token);
  const asked = page.waitForResponse(/changes=/);
  await page.click("form button");
  await asked;
  await page.waitForFunction(() => document.querySelector("graph-view").controller.synced); // before that there are no problems
  await page.evaluate(() => document.querySelector("graph-view").controller.problem(1));
  await eventually(async () => (/not in the graph/.test(await page.locator("graph-view aside.panel").textContent()) ? "" : "no panel"));
  assert.equal(await page.locator("graph-view .timeline").isVisible(), false);
  assert.equal(await page.locator("graph-view .note.bad").count(), 0);
});

test("the hit of a search that is deleted is not replaced by another one", async (t) => {
  const page = await dashboard(t, "busy/view");
  const kubectl = (...args) => control(url, "kubectl", { args });
  await kubectl("create", "configmap", "-n", "busy", "came-first");
  await kubectl("create", "configmap", "-n", "busy", "came-last");
  t.after(() => kubectl("delete", "configmap", "-n", "busy", "came-first", "came-last", "--ignore-not-found"));
  // The selected hit of a search is deleted: no hit is announced, and Enter does not move to another one at once.
  const selected = () => page.evaluate(() => document.querySelector("graph-view").controller.now.selected);
  const before = await selected();
  const search = page.locator("graph-view [role=combobox]");
  const hits = page.locator("graph-view #hits .row");
  await search.fill("came-");
  await eventually(async () => ((await hits.count()) === 2 ? "" : `${await hits.count()} hits`));
  assert.equal(await search.getAttribute("aria-activedescendant"), null);
  const at = (await hits.allTextContents()).findIndex((text) => text.startsWith("came-last"));
  for (let i = 0; i <= at; i++) await page.keyboard.press("ArrowDown");
  assert.equal(await search.getAttribute("aria-activedescendant"), `hit-${at}`);
  await kubectl("delete", "configmap", "-n", "busy", "came-last");
  await eventually(async () => ((await hits.count()) === 1 ? "" : `${await hits.count()} hits`));
  assert.equal(await search.getAttribute("aria-activedescendant"), null);
  await page.keyboard.press("Enter");
  await ask(page, "search", { text: "came-" }); // whatever Enter asks for is answered before this
  assert.equal(await selected(), before);
  await page.keyboard.press("Enter");
  await eventually(async () => ((await selected()) === "/v1/configmaps/busy/came-first" ? "" : await selected()));
});

test("a map that was moved is painted again when its size changes", async (t) => {
  const page = await dashboard(t, "large/view");
  await page.evaluate(() => document.querySelector("graph-view").controller.map.pan(3, 3));
  // One frame after its canvas has another size, nothing of it is empty.
  const corner = await page.evaluate(async () => {
    const { map, outline } = document.querySelector("graph-view").controller;
    const frame = () => new Promise(requestAnimationFrame);
    for (let i = 0; i < 5; i++) await frame();
    const { width } = map.element;
    outline.toggle(true);
    while (map.element.width === width) await frame();
    return [...map.element.getContext("2d").getImageData(2, 2, 1, 1).data];
  });
  assert.notDeepEqual(corner, [0, 0, 0, 255]);
});

test("the outline keeps the focus while rows come and go under it", async (t) => {
  const page = await dashboard(t, "busy/view");
  await page.evaluate(() => document.querySelector("graph-view").controller.map.element.focus());
  await page.keyboard.press("t");
  await ask(page, "expand", { all: true, open: true });
  const changes = control(url, "change?n=60");
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("ArrowDown");
    const role = await page.evaluate(() => document.querySelector("graph-view").shadowRoot.activeElement?.getAttribute("role"));
    assert.equal(role, "treegrid", `after ${i + 1} steps`);
  }
  await changes;
});

test("names that mean something elsewhere are names", async (t) => {
  const page = await dashboard(t, "large/view");
  for (const name of ["<b>bold<b>", "&lt;b&gt;", 'quo"te', "back\\slash", "日本語"]) {
    await page.evaluate((n) => {
      const c = document.querySelector("graph-view").controller;
      return c.select(`rbac.authorization.k8s.io/v1/roles/large/${n}`, { reveal: true });
    }, name);
    const [title, elements] = await page.evaluate(() => {
      const { element } = document.querySelector("graph-view").controller.details;
      return [element.querySelector("h2").textContent, element.querySelectorAll("b").length];
    });
    assert.deepEqual([title, elements], [name, 0]);
  }
});

// In the dark, nothing differs but colours.
for (const dark of [false, true]) {
  test(`axe finds nothing, ${dark ? "dark" : "light"}`, async (t) => {
    const page = await dashboard(t, "large/view", { dark });
    const check = async (state) => assert.deepEqual((await findings(page, dark ? ofColours : rules)).map((each) => `${state}: ${each}`), []);
    await check("map");
    await page.evaluate(() => document.querySelector("graph-view").controller.problem(1));
    await check("panel");
    await page.evaluate(() => document.querySelector("graph-view").controller.outline.toggle(true));
    await eventually(async () => ((await page.locator("graph-view [role=row]").count()) > 3 ? "" : "no rows"));
    await check("outline");
    await page.evaluate(() => document.querySelector("graph-view").controller.filter({ problems: true }));
    await check("filter");
    await page.click("graph-view button:has-text('Filter')");
    await eventually(async () => ((await page.locator("graph-view .facets input").count()) > 3 ? "" : "no filters"));
    await check("filters");
    await page.click("graph-view button[aria-label^=Help]");
    await check("help");
    await page.keyboard.press("Escape");
    await page.locator("graph-view [role=slider]").waitFor();
    await page.evaluate(() => document.querySelector("graph-view").controller.timeline.step(-1));
    await page.locator("graph-view .note.past button:has-text('Earlier')").waitFor();
    await check("past");
  });
}

test("<graph-view> in a page with rules and a policy of its own, twice, from one file", async (t) => {
  const page = await open(t, "/page/page.html?namespace=busy&name=view");
  const violations = [];
  await page.exposeFunction("violated", (what) => violations.push(what));
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => globalThis.violated(`${event.violatedDirective} ${event.blockedURI}`)));
  await page.goto(new URL(`/page/embed.html#token=${token}`, url).href);
  await page.waitForFunction(() => [...document.querySelectorAll("graph-view")].every((element) => element.controller?.synced));
  const shown = await page.evaluate(async () => {
    const [first, second] = document.querySelectorAll("graph-view");
    await second.controller.problem(1); // the first may have none
    return {
      sizes: [first, second].map((element) => { const box = element.controller.map.element.getBoundingClientRect(); return box.width > 400 && box.height > 200; }),
      vertices: [first, second].map((element) => element.controller.map.scene.stats.vertices > 0), title: document.title,
      accent: first.controller.map.theme.accent,
    };
  });
  assert.deepEqual(shown.sizes, [true, true]);
  assert.deepEqual(shown.vertices, [true, true]);
  assert.match(shown.title, /^\//);
  assert.equal(shown.accent, "rebeccapurple");
  assert.deepEqual(violations.filter((what) => !what.startsWith("worker-src")), []);
  await page.screenshot({ path: path.join(out, "embed.png") });
});
