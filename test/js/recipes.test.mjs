// The recipe of docs/dashboard.md for pages of others: a frame in a panel of
// Grafana, with the policy that Grafana sets.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";

import { control, eventually, snapshot } from "./scenario.mjs";
import { browser, out, token, url } from "./place.mjs";
import { gateway } from "./gateway.mjs";

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
  // Without that proxy's word nobody may frame the page.
  const bare = await gateway(t, url, { token, pages: { "/d/shop": { type: "text/html", body: panel } } });
  const refused = await (await browser(t)).newPage();
  await refused.goto(`${bare}/d/shop`);
  const inside = await (await refused.waitForSelector("iframe")).contentFrame();
  assert.equal(await inside.evaluate(() => document.querySelector("graph-view")), null);
});
