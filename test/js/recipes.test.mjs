// The recipes of docs/clients.md for pages of others: a frame in a panel of
// Grafana, with the policy that Grafana sets, and a tab of Backstage in React.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { readFileSync } from "node:fs";
import test from "node:test";

import { control, eventually, snapshot } from "./scenario.mjs";
import { browser, out, token, tools, url } from "./place.mjs";
import { gateway } from "./gateway.mjs";

const root = path.join(import.meta.dirname, "..", "..");
const patience = 180_000;

// Grafana's content_security_policy_template, as its defaults.ini has it.
const grafana = "script-src 'self' 'unsafe-eval' 'unsafe-inline' 'strict-dynamic' 'nonce-r4nd0m'; object-src 'none'; font-src 'self'; style-src 'self' 'unsafe-inline' blob:; " +
  "img-src * data:; base-uri 'self'; connect-src 'self' grafana.com ws://127.0.0.1 wss://127.0.0.1; manifest-src 'self'; media-src 'none'; form-action 'self'";

/** Opens a page, and fails the test for what goes wrong in it and for what its policy reports. */
async function visit(t, address) {
  const page = await (await browser(t)).newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(patience);
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  await page.exposeFunction("violated", (what) => wrong.push(what));
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => globalThis.violated(`${event.violatedDirective} ${event.blockedURI}`)));
  t.after(() => assert.deepEqual(wrong.filter((what) => !what.startsWith("worker-src")), []));
  await page.goto(address);
  return page;
}

/** Waits until the element in a frame has the objects that there are. */
const shows = (frame, namespace) => eventually(async () => {
  const { vertices } = await snapshot({ base: url, namespace, name: "view", token });
  const got = await frame.evaluate(() => {
    const controller = document.querySelector("graph-view")?.controller;
    return controller?.synced ? controller.map.scene.stats.vertices : -1;
  });
  return got === vertices.size ? "" : `${got} objects, want ${vertices.size}`;
});

test("Grafana: a text panel with a frame, through a proxy that says who asks and who may frame", async (t) => {
  const panel = '<!doctype html><title>Grafana</title><div class="markdown-html"><iframe src="/dashboard/#/busy/view" width="1200" height="700"></iframe></div>';
  const at = await gateway(t, url, {
    token, frames: "'self'", pages: { "/d/shop": { type: "text/html", body: panel, headers: { "content-security-policy": grafana } } },
  });
  const page = await visit(t, `${at}/d/shop`);
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  await shows(frame, "busy");
  await control(url, "kubectl", { args: ["create", "configmap", "-n", "busy", `of-a-panel-${Date.now()}`] });
  await shows(frame, "busy");
  await page.screenshot({ path: path.join(out, "grafana.png") });
  // Without the header of the proxy, no page may frame it.
  const bare = await gateway(t, url, { token, pages: { "/d/shop": { type: "text/html", body: panel } } });
  const refused = await (await browser(t)).newPage();
  await refused.goto(`${bare}/d/shop`);
  const inside = await (await refused.waitForSelector("iframe")).contentFrame();
  assert.equal(await inside.evaluate(() => document.querySelector("graph-view")), null);
});

test("Backstage: a tab in React, through its proxy", async (t) => {
  const app = path.join(out, "tab.js");
  const { status, stderr } = spawnSync("go", ["tool", "esbuild", path.join(root, "test", "js", "clients", "tab.jsx"), "--bundle", "--format=iife", "--jsx=automatic",
    '--define:process.env.NODE_ENV="production"', "--log-level=error", `--alias:graph-view=${path.join(root, "bin", "graph-view.js")}`, `--outfile=${app}`],
  { cwd: root, encoding: "utf8", env: { ...process.env, NODE_PATH: path.join(tools, "node_modules") } });
  assert.equal(status, 0, stderr);
  const at = await gateway(t, url, {
    token, prefix: "/api/proxy/graphview", pages: {
      "/catalog": { type: "text/html", body: '<!doctype html><title>Backstage</title><div id="root"></div><script src="/tab.js"></script>' },
      "/tab.js": { type: "text/javascript", body: readFileSync(app) },
    },
  });
  const page = await visit(t, `${at}/catalog`);
  await shows(page, "busy");
  await control(url, "kubectl", { args: ["create", "configmap", "-n", "busy", `of-a-tab-${Date.now()}`] });
  await shows(page, "busy");
  // Another view in the same element, what is selected, and the element's end.
  await page.click("button:has-text('large')");
  await shows(page, "large");
  await page.evaluate(() => document.querySelector("graph-view").controller.problem(1));
  await eventually(async () => (/configmaps\/large\/app-/.test(await page.textContent("#selected")) ? "" : "nothing is selected"));
  // The page adds an action to the details of an object.
  await page.click("graph-view button:has-text('Open ConfigMap')");
  assert.match(await page.title(), /^app-/);
  await page.screenshot({ path: path.join(out, "backstage.png") });
  await page.click("button:has-text('none')");
  await eventually(async () => ((await page.locator("graph-view").count()) === 0 ? "" : "it is still there"));
});
