// The file that `kubectl graphview get -o html` writes, opened without a server.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

import { findings } from "./axe.mjs";
import { ask } from "./dashboard.mjs";
import { open, out, plugin, url } from "./place.mjs";
import { eventually } from "./scenario.mjs";

test("a page of one file draws from disk, without a network", async (t) => {
  const { status, stdout, stderr } = spawnSync(plugin, ["get", "view", "-n", "large", "-o", "html"], { encoding: "utf8", maxBuffer: 1 << 26 });
  assert.equal(status, 0, stderr);
  const file = path.join(out, "snapshot.html");
  writeFileSync(file, stdout);
  const at = pathToFileURL(file).href;
  // It has no object's content, and so none of a Secret's.
  const { graph } = JSON.parse(/<script type="application\/json">(.*?)<\/script>/.exec(stdout)[1]);
  const vertices = graph.actions.flatMap(({ svx }) => svx ?? []);
  for (const vertex of vertices) assert.deepEqual(Object.keys(vertex).sort(), ["m", "vx"]);

  const [asked, violations, said] = [[], [], []];
  const page = await open(t, at, (address) => asked.push(address));
  page.on("console", (message) => said.push(message.text()));
  await page.exposeFunction("violated", (what) => violations.push(what));
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => globalThis.violated(`${event.violatedDirective} ${event.blockedURI}`)));
  await page.context().setOffline(true);
  await page.goto(at);
  await page.waitForFunction(() => document.querySelector("graph-view")?.controller?.synced);

  const stats = await page.evaluate(() => document.querySelector("graph-view").controller.map.scene.stats);
  assert.deepEqual([stats.vertices, stats.arcs], [vertices.length, graph.actions.filter(({ sarc }) => sarc).length]);
  const names = (await ask(page, "table")).filter(([, , , health]) => health !== "missing").map(([, , name]) => name).sort();
  assert.deepEqual(names, vertices.map(({ vx }) => vx.n).sort());
  const name = "<b>bold<b>";
  assert.ok(names.includes(name));

  // It says what it is, and offers nothing that takes a server.
  assert.match(await page.title(), /^large\/view, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC – GraphView$/);
  assert.match(await page.locator("graph-view .pill").textContent(), /^snapshot of \w+ \d+, \d{4}.* · \d+ objects, \d+ references$/);
  assert.equal(await page.locator("graph-view [slot=start]").textContent(), "large/view");
  assert.equal(await page.locator("graph-view .timeline").isVisible(), false);
  await page.evaluate(() => document.querySelector("graph-view").controller.map.element.focus());
  await page.keyboard.press("Space");
  assert.equal(await page.evaluate(() => document.querySelector("graph-view").controller.now.paused), false);
  await page.evaluate((n) => document.querySelector("graph-view").controller.select(`rbac.authorization.k8s.io/v1/roles/large/${n}`, { reveal: true }), name);
  await page.locator("graph-view .panel h2").waitFor();
  assert.equal(await page.locator("graph-view .panel h2").textContent(), name);
  assert.equal(await page.locator("graph-view .panel").getByText("Show the object").count(), 0);
  await page.screenshot({ path: path.join(out, "snapshot.png") });
  assert.deepEqual(await findings(page), []);
  await page.click("graph-view button:has-text('Export')");
  const items = await page.locator("graph-view [role=menuitem]").allTextContents();
  assert.ok(items.length > 2 && !items.some((text) => text.includes("server")), items.join());

  assert.deepEqual(violations, [], "reports of the content security policy");
  assert.deepEqual(said, []);
  assert.deepEqual(asked.filter((address) => address !== at && !address.startsWith("data:")), []);

  // Its policy is in force: what it does not do, it could not do.
  assert.equal(await page.evaluate((to) => fetch(to, { mode: "no-cors" }).then(() => "", (error) => error.name), url), "TypeError");
  await eventually(() => (/^connect-src http/.test(violations.join()) ? "" : "the policy has not reported it"));
});
