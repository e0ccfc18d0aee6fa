// docs/examples/portal.mjs: the page and the proxy of docs/portal.md.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

import { GraphView } from "../../client/js/graphview.js";
import { portal } from "../../docs/examples/portal.mjs";
import { gateway } from "./gateway.mjs";
import { browser, require, token, url } from "./place.mjs";
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

test("a proxy that drops a stream drops it at the operator, also before the operator has begun it", async (t) => {
  const dropped = [];
  const upstream = [];
  const inner = await gateway(t, url, { token, begun: (socket) => {
    upstream.push(socket);
    if (upstream.length === 2) dropped[1].destroy();
  } });
  const outer = await gateway(t, inner, { begun: (socket) => dropped.push(socket) });
  const view = new GraphView({ base: outer, namespace: "busy", name: "view", transport: "websocket", WebSocket: require("ws") });
  t.after(() => view.stop());
  const synced = (streams) => eventually(() => (view.graph.synced && upstream.length >= streams ? "" : `${upstream.length} streams`));
  await synced(1);
  dropped[0].destroy();
  await synced(3);
  await eventually(() => (upstream.slice(0, 2).every(({ destroyed }) => destroyed) ? "" : "the operator keeps a stream without a client"));
  assert.deepEqual(dropped.slice(2).map(({ destroyed }) => destroyed), [false]);
});
