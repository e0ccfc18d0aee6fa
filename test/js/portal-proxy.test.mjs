// docs/examples/portal.mjs: the page and the proxy of docs/portal.md.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

import { portal } from "../../docs/examples/portal.mjs";
import { browser, token, url } from "./place.mjs";
import { eventually } from "./scenario.mjs";

const page = `<!doctype html><script type="module" src="/graph-view.js"></script>
<graph-view base="/graphview" view="busy/view" root="deployments.apps/busy/app-01" style="height: 90vh"></graph-view>`;

test("the portal of the documentation: a page, and a proxy with the user's token, for sockets and events", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "graphview-portal-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, "index.html"), page);
  copyFileSync(path.join(import.meta.dirname, "..", "..", "bin", "graph-view.js"), path.join(folder, "graph-view.js"));
  const session = (request) => (request.headers.cookie?.includes("session=jane") ? token : undefined);
  const server = portal({ operator: url, folder, tokenOf: session });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  t.after(() => { server.closeAllConnections(); server.close(); });
  const at = `http://127.0.0.1:${server.address().port}`;
  const graph = "/graphview/apis/stream.graphview.dev/v1alpha1/namespaces/busy/graphs/view";
  assert.equal((await fetch(at + graph)).status, 401);
  assert.equal((await fetch(`${at}/graphview/metrics`, { headers: { cookie: "session=jane" } })).status, 401);
  for (const transport of ["", "events"]) {
    const context = await (await browser(t)).newContext();
    await context.addCookies([{ name: "session", value: "jane", url: at }]);
    const tab = await context.newPage();
    await tab.goto(at);
    if (transport) await tab.evaluate((name) => document.querySelector("graph-view").setAttribute("transport", name), transport);
    const objects = () => tab.evaluate(() => { const c = document.querySelector("graph-view")?.controller; return c?.synced ? c.map.scene.stats.vertices : 0; });
    await eventually(async () => (await objects()) >= 2 ? "" : "nothing is shown");
    assert.ok(await objects() < 12, "it shows more than the root leads to");
  }
});
