// The dashboard while loading, without objects, after an end, with a server that restarts, and
// after a right is revoked; and the files that it exports.
import assert from "node:assert/strict";
import test from "node:test";

import { findings } from "./axe.mjs";
import { ask, dashboard, difference } from "./dashboard.mjs";
import { gateway } from "./gateway.mjs";
import { browser, open, token, url } from "./place.mjs";
import { control, eventually } from "./scenario.mjs";

const patience = 180_000;

const kubectl = (...args) => control(url, "kubectl", { args });
const says = (page, text) => page.locator(`graph-view >> text=${text}`).first().waitFor({ timeout: patience });

test("axe finds nothing where a graph is on its way", async (t) => {
  const at = await gateway(t, url, { token, holds: () => true });
  for (const colorScheme of ["light", "dark"]) {
    const page = await (await browser(t)).newPage({ viewport: { width: 1400, height: 900 }, colorScheme });
    page.setDefaultTimeout(patience);
    await page.goto(`${at}/dashboard/#/large/view`);
    await says(page, "Loading");
    assert.deepEqual(await findings(page), [], colorScheme);
    // The code for exports is loaded with the first drawing. Before that, the server may become unreachable.
    await page.context().setOffline(true);
    await page.click("graph-view button:has-text('Export')");
    await page.locator("graph-view [role=menuitem] >> text=The server does not answer.").waitFor();
  }
});

test("a page of which a part does not load says so, and ends the stream that it has begun", async (t) => {
  const streams = [];
  let begun;
  const stream = new Promise((resolve) => { begun = resolve; });
  const at = await gateway(t, url, { token, begun: (socket) => begun(streams.push(socket)) });
  const page = await (await browser(t)).newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(patience);
  await page.route("**/graph-view.js", async (route) => {
    await stream;
    await route.abort();
  });
  await page.goto(`${at}/dashboard/#/large/view`, { waitUntil: "commit" });
  await page.locator("[role=alert] >> text=A part of this page did not load").waitFor();
  assert.deepEqual(await findings(page), []);
  await eventually(() => (streams.every(({ destroyed }) => destroyed) ? "" : "the stream goes on"));
  assert.equal(streams.length, 1);
});

test("axe finds nothing where there is no view, where it is empty, and with the system's own colours", async (t) => {
  const page = await dashboard(t, "large/none%", { synced: false }); // which is no escaped text
  await says(page, "There is no such GraphView");
  assert.deepEqual(await findings(page), [], "no such view");
  await page.evaluate(() => { location.hash = "#/large/view"; });
  await page.waitForFunction(() => document.querySelector("graph-view")?.controller?.synced);
  await page.evaluate(() => document.querySelector("graph-view").controller.filter({ text: "name:nothing-of-this-name" }));
  await says(page, "Nothing fits the filters");
  assert.deepEqual(await findings(page), [], "nothing fits");
  await page.evaluate(() => document.querySelector("graph-view").controller.filter({ text: null }));
  await page.emulateMedia({ forcedColors: "active" });
  await page.evaluate(() => document.querySelector("graph-view").controller.problem(1));
  await says(page, "missing");
  assert.deepEqual(await findings(page), [], "forced colours");
  assert.equal(await page.evaluate(() => document.querySelector("graph-view").controller.map.theme.forced), true);
  // As wide as a telephone, or as a page that is zoomed to four times its size.
  await page.emulateMedia({ forcedColors: "none" });
  await page.setViewportSize({ width: 320, height: 640 });
  assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), 320);
  const { right } = await page.evaluate(() => document.querySelector("graph-view").controller.details.element.getBoundingClientRect());
  assert.ok(right <= 320, `the details end at ${right}`);
  assert.deepEqual(await findings(page), [], "320 pixels wide");
});

test("a restart of the operator, and a connection that is cut: the graph is shown on, and then as it is", async (t) => {
  const page = await dashboard(t, "busy/view");
  await eventually(() => difference(page, "busy", "view"));
  await page.evaluate(() => {
    globalThis.states = [];
    document.querySelector("graph-view").controller.link.addEventListener("status", ({ detail }) => {
      globalThis.states.push({ state: detail.status.state, cards: document.querySelector("graph-view").controller.map.scene.cards.size });
    });
  });
  await control(url, "restart");
  await control(url, "change?n=10");
  await eventually(async () => ((await page.evaluate(() => globalThis.states.at(-1)?.state)) === "live" ? "" : "not live"));
  await eventually(() => difference(page, "busy", "view"));
  const states = await page.evaluate(() => globalThis.states);
  assert.ok(states.some(({ state }) => state === "reconnecting"), JSON.stringify(states));
  assert.ok(states.every(({ cards }) => cards > 0), `the drawing was emptied: ${JSON.stringify(states)}`);
});

test("a function gets a token for each connection, for details and for exports", async (t) => {
  const page = await dashboard(t, "busy/view");
  await page.evaluate((good) => {
    const element = document.querySelector("graph-view");
    Object.assign(globalThis, { given: good, calls: 0 });
    element.token = () => {
      globalThis.calls++;
      return globalThis.given;
    };
    element.setAttribute("view", "large/view");
  }, token);
  const state = (wanted) => page.waitForFunction((one) => {
    const { status, synced } = document.querySelector("graph-view").controller;
    return status.state === one && synced === (one === "live");
  }, wanted, { timeout: patience });
  const calls = () => page.evaluate(() => globalThis.calls);
  await state("live");
  // One for the stream, and one for the question which parts of the GraphView have no effect.
  await page.waitForFunction(() => globalThis.calls === 2);
  await page.evaluate(() => { globalThis.given = "expired"; });
  await control(url, "cut");
  await state("reconnecting");
  await page.waitForFunction(() => globalThis.calls > 3);
  await page.evaluate((good) => { globalThis.given = good; }, token);
  await state("live");
  const before = await calls();
  const saved = page.waitForEvent("download");
  await page.click("graph-view button:has-text('Export')");
  await page.click("graph-view [role=menuitem]:has-text('DOT')");
  await saved;
  assert.equal(await calls(), before + 1);
});

test("an element takes its token and its view whenever the page sets them", async (t) => {
  const page = await open(t, "/dashboard/missing");
  const element = (act, argument) => page.evaluate(act, argument);
  const state = (wanted, view) => page.waitForFunction(([one, name]) => {
    const { status, options } = document.querySelector("graph-view").controller;
    return status.state === one && options?.name === name;
  }, [wanted, view], { timeout: patience });
  await element(async () => {
    await import("/dashboard/graph-view.js");
    document.body.replaceChildren(document.createElement("graph-view"));
    document.querySelector("graph-view").view = "busy/view";
  });
  await state("ended", "view");
  assert.match(await page.locator("graph-view").locator(".note").first().textContent(), /signed out.*Sign in, then try again/);
  await element((good) => { document.querySelector("graph-view").token = () => good; }, token);
  await state("live", "view");
  // A page sets the same again each time it renders, and a function that is another one each time.
  const opened = async (act) => {
    await element(() => { globalThis.before = document.querySelector("graph-view").controller.options; });
    await element(act, token);
    return element(() => new Promise((resolve) => { setTimeout(() => resolve(document.querySelector("graph-view").controller.options !== globalThis.before)); }));
  };
  const graph = () => document.querySelector("graph-view");
  await element(`globalThis.graph = ${graph}`);
  for (const same of [
    "graph().token = () => token", "graph().view = 'busy/view'", "graph().setAttribute('view', 'busy/view')", "graph().view = 'busy/none'; graph().view = 'busy/view'",
    "graph().snapshot = undefined", "{ const was = graph().token; graph().token = 'other'; graph().token = was; }",
  ]) assert.equal(await opened(same), false, same);
  await element((good) => { globalThis.good = good; }, token);
  assert.equal(await opened("graph().token = good"), true, "a text in place of a function");
  await state("live", "view");
  assert.equal(await opened("graph().token = good"), false, "the same text");
  // An element that the page takes out and puts in again shows what it showed.
  await element(() => { document.querySelector("graph-view").controller.filter({ kinds: ["Secret"] }); });
  await element(() => {
    const moved = document.querySelector("graph-view");
    document.body.append(document.createElement("div"));
    document.querySelector("div").append(moved);
  });
  await state("live", "view");
  assert.match(await element(() => document.querySelector("graph-view").state), /kinds=Secret/);
  await element(() => { document.querySelector("graph-view").view = "busy/none"; });
  await state("ended", "none");
  assert.match(await page.locator("graph-view").locator(".note").first().textContent(), /no such GraphView/);
  // After the end, what a page sets is a reason to try again, also if it is the same.
  for (const again of ["graph().token = good", "graph().view = 'busy/none'"]) {
    assert.equal(await opened(again), true, again);
    await state("ended", "none");
  }
});

test("a right that is taken away takes what it showed, and the page says so", async (t) => {
  const name = `leaver-${Date.now()}`;
  await kubectl("create", "serviceaccount", "-n", "busy", name);
  await kubectl("create", "clusterrolebinding", name, "--clusterrole=reader", `--serviceaccount=busy:${name}`);
  t.after(() => kubectl("delete", "clusterrolebinding", name, "--ignore-not-found"));
  const own = (await kubectl("create", "token", "-n", "busy", name)).trim();
  const page = await dashboard(t, "busy/view", { token: own });
  assert.ok((await ask(page, "table")).length > 0);
  await kubectl("delete", "clusterrolebinding", name);
  await page.locator("graph-view .note >> text=/may not|left out|permission|denied/i").first().waitFor({ timeout: patience });
  await page.waitForFunction(() => {
    const { map, status } = document.querySelector("graph-view").controller;
    return status.state === "ended" || map.scene.stats.vertices === 0;
  }, undefined, { timeout: patience });
  // A user who may not list views can enter a name, again after a wrong one.
  const field = page.locator("input[aria-label='View, as NAMESPACE/NAME']");
  for (const wrong of ["busy/none", "busy/nothing"]) {
    await field.fill(wrong);
    await page.click("form button:has-text('Open')");
    await page.waitForFunction((view) => location.hash.startsWith(`#/${view}`), wrong);
  }
  await kubectl("create", "clusterrolebinding", name, "--clusterrole=reader", `--serviceaccount=busy:${name}`);
  await field.waitFor({ state: "detached" });
});

test("the object itself is shown when asked for, and a Secret's contents are not", async (t) => {
  const page = await dashboard(t, "busy/view");
  const select = (key) => page.evaluate((k) => document.querySelector("graph-view").controller.select(k, { reveal: true }), key);
  await kubectl("create", "configmap", "-n", "busy", "shown", "--from-literal=greeting=<b>hello</b>");
  t.after(() => kubectl("delete", "configmap", "-n", "busy", "shown"));
  await eventually(async () => ((await ask(page, "details", { key: "/v1/configmaps/busy/shown" })) ? "" : "not there yet"));
  await select("/v1/configmaps/busy/shown");
  await page.click("graph-view button:has-text('Show the object')");
  await eventually(async () => {
    const text = await page.evaluate(() => document.querySelector("graph-view").controller.details.element.querySelector("pre")?.textContent ?? "");
    return /kind: ConfigMap/.test(text) && text.includes("<b>hello</b>") ? "" : `shown is ${text}`;
  });
  // A change of the object does not replace unchanged parts of its details.
  await page.evaluate(() => { globalThis.read = document.querySelector("graph-view").controller.details.element.querySelector("pre"); });
  await kubectl("label", "configmap", "-n", "busy", "shown", "app.kubernetes.io/name=elsewhere");
  await says(page, "It has changed since.");
  assert.deepEqual(await page.evaluate(() => [globalThis.read.isConnected, globalThis.read.textContent.includes("elsewhere")]), [true, false]);
  const secret = (await ask(page, "table")).find(([kind, , , health]) => kind === "Secret" && health !== "missing");
  await select(`/v1/secrets/${secret[1]}/${secret[2]}`);
  await says(page, "The contents of Secrets are never sent.");
  assert.equal(await page.locator("graph-view button:has-text('Show the object')").count(), 0);
});

test("an object that is not well says why, in the words of its status", async (t) => {
  const page = await dashboard(t, "large/view");
  const [, , pod] = (await ask(page, "table")).find(([kind, , , health]) => kind === "Pod" && health === "progressing");
  await page.evaluate((key) => document.querySelector("graph-view").controller.select(key, { reveal: true }), `/v1/pods/large/${pod}`);
  const message = "0/3 nodes are available: <b>3 Insufficient memory</b>.";
  await kubectl("patch", "pod", "-n", "large", pod, "--subresource=status", "-p", JSON.stringify({ status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] } }));
  await says(page, `Unschedulable: ${message}`);
});

test("the impact of a deletion says when it is of a graph that is not complete, and when the graph has changed since", async (t) => {
  const page = await dashboard(t, "large/view");
  const name = `impact-${Date.now()}`;
  t.after(() => kubectl("delete", "configmap", "-n", "large", name, "--ignore-not-found"));
  const impact = page.locator("graph-view").locator(".panel");
  const [, , pod] = (await ask(page, "table")).findLast(([kind, , , health]) => kind === "Pod" && health === "progressing");
  const key = `/v1/pods/large/${pod}`;
  await page.evaluate((k) => document.querySelector("graph-view").controller.select(k, { reveal: true }), key);
  // The server's answer if a list fails and the user may not see Secrets.
  await page.route("**/graphs/view?impact=*", async (route) => {
    const response = await route.fetch();
    const leftOut = ["large/view is not complete yet: there may be more.", "Left out, because you may not list and watch it:", "  secrets in large"];
    await route.fulfill({ response, json: { ...await response.json(), synced: false, leftOut } });
  }, { times: 1 });
  await page.click("graph-view button:has-text('Impact')");
  for (const text of ["large/view is not complete yet: there may be more.", "secrets in large", "unaffected in this view"]) await impact.locator(`text=${text}`).waitFor();
  assert.equal(await impact.locator("text=The graph has changed since.").count(), 0);
  await kubectl("create", "configmap", "-n", "large", name);
  await impact.locator("text=The graph has changed since.").waitFor();
  await page.click("graph-view button:has-text('Ask again')");
  await impact.locator("text=The graph has changed since.").waitFor({ state: "detached" });
  assert.equal(await impact.locator("text=is not complete yet").count(), 0);
  // How an object is says nothing of what its deletion does.
  await kubectl("patch", "pod", "-n", "large", pod, "--subresource=status", "-p", JSON.stringify({ status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no room" }] } }));
  await says(page, "Unschedulable: no room");
  assert.equal(await impact.locator("text=The graph has changed since.").count(), 0);
});

test("exports: pictures, a table, and the server's formats", async (t) => {
  const page = await dashboard(t, "large/view");
  const take = async (label) => {
    await page.click("graph-view button:has-text('Export')");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`graph-view [role=menuitem]:has-text('${label}')`)]);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
  };
  // Once it was drawn, a server that is away is not needed for what the page has.
  await eventually(() => page.evaluate(() => (performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/export.js")) ? "" : "not loaded yet")));
  await page.context().setOffline(true);
  for (const label of ["Picture of what is seen", "Picture of everything"]) {
    const { name, bytes } = await take(label);
    assert.equal(name, "large-view.png");
    assert.equal(bytes.subarray(1, 4).toString(), "PNG");
    assert.ok(bytes.readUInt32BE(16) > 400 && bytes.readUInt32BE(20) > 300, "it has a size");
  }
  const svg = (await take("Drawing of everything")).bytes.toString();
  const rows = await ask(page, "table");
  const reader = await (await browser(t)).newPage(); // without the page's policy, which lets nobody parse markup
  const drawing = await reader.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    return { error: parsed.querySelector("parsererror")?.textContent, texts: [...parsed.querySelectorAll("text")].map((e) => e.textContent), elements: [...new Set([...parsed.querySelectorAll("*")].map((e) => e.localName))].sort(),
      smallest: Math.min(...[...parsed.querySelectorAll("text")].map((e) => Number(e.getAttribute("font-size")))) };
  }, svg);
  assert.equal(drawing.error, undefined);
  assert.deepEqual(drawing.elements, ["path", "svg", "text"], "a hostile name makes no element");
  assert.ok(drawing.smallest >= 9, `text of ${drawing.smallest} pixels`);
  assert.ok(drawing.texts.some((text) => text.includes("app-07")));
  const csv = (await take("Table of objects")).bytes.toString();
  assert.ok(csv.startsWith("kind,namespace,name,"));
  assert.ok(csv.trimEnd().split("\r\n").length >= rows.length + 1);
  await page.context().setOffline(false);
  for (const [label, format, beginning] of [["DOT", "dot", "digraph"], ["Mermaid", "mermaid", "flowchart"], ["GraphML", "graphml", "<?xml"]]) {
    const got = (await take(label)).bytes.toString();
    const want = await (await fetch(`${url}/apis/stream.graphview.dev/v1alpha1/namespaces/large/graphs/view?format=${format}`, { headers: { Authorization: `Bearer ${token}` } })).text();
    assert.ok(got.includes(beginning), `${label}: ${got.slice(0, 80)}`);
    assert.equal(got, want);
  }
});
