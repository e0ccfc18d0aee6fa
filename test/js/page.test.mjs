import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { control, eventually, snapshot } from "./scenario.mjs";
import { kubectl, open, out, token, url } from "./place.mjs";

// Returns the graph that the page shows, and its differences from the server's.
const shown = (page) => page.evaluate(() => ({
  rows: [...document.querySelectorAll("tbody tr")].map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent).join(" ")).sort(),
  circles: document.querySelectorAll("svg circle").length,
  lines: document.querySelectorAll("svg line").length,
  state: document.querySelector("#state").textContent,
}));
const same = (page) => eventually(async () => {
  const { vertices, arcs } = await snapshot({ base: url, namespace: "busy", name: "view", token });
  const want = [...vertices.values()].map(({ vx }) => `${vx.g ? `${vx.r}.${vx.g}` : vx.r} ${vx.ns} ${vx.n}`).sort();
  const got = await shown(page);
  if (JSON.stringify(want) !== JSON.stringify(got.rows)) return `${got.state}, rows ${JSON.stringify(got.rows)}, want ${JSON.stringify(want)}`;
  if (got.lines !== arcs.size || got.circles < vertices.size) return `${got.lines} lines, ${got.circles} circles`;
  return got.state === `${vertices.size} vertices, ${arcs.size} arcs` ? "" : got.state;
});

test("the example page shows a graph, and what becomes of it", async (t) => {
  const page = await open(t, `/page/page.html?namespace=busy&name=view#token=${token}`);
  await same(page);
  const before = await shown(page);
  await control(url, "kubectl", { args: ["create", "configmap", "-n", "busy", "of-the-page"] });
  await control(url, "change?n=20");
  await same(page);
  await control(url, "cut");
  await control(url, "change?n=5");
  await same(page);
  assert.notDeepEqual((await shown(page)).rows, before.rows);
  await page.screenshot({ path: path.join(out, "page.png"), fullPage: true });
});

// The operator allows pages from 127.0.0.1 in these tests, and none of localhost.
for (const [host, wanted] of Object.entries({ "127.0.0.1": "WebSocket", localhost: "events" })) {
  test(`the example page through kubectl proxy, from ${host}: ${wanted}`, async (t) => {
    const www = path.join(out, "www");
    mkdirSync(www, { recursive: true });
    copyFileSync("../../docs/examples/page.html", path.join(www, "page.html"));
    cpSync("../../client/js", www, { recursive: true });
    const proxy = spawn(kubectl, ["proxy", "--port=0", `--www=${www}`, "--www-prefix=/page/"]);
    t.after(() => proxy.kill());
    const port = await new Promise((resolve, reject) => {
      let said = "";
      proxy.stdout.on("data", (data) => {
        said += data;
        const match = /127\.0\.0\.1:(\d+)/.exec(said);
        if (match) resolve(match[1]);
      });
      proxy.on("exit", (code) => reject(new Error(`kubectl proxy ended with ${code}: ${said}`)));
    });
    let events = 0;
    const page = await open(t, `http://${host}:${port}/page/page.html?namespace=busy&name=view`, (at) => { if (at.includes("/watch/")) events++; });
    await same(page);
    await control(url, "change?n=5");
    await same(page);
    assert.equal(events, wanted === "events" ? 1 : 0);
  });
}
