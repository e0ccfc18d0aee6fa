// The plugin for Backstage: types against its published packages, and the tab in jsdom with its test utilities.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

const root = path.join(import.meta.dirname, "..", "..");
const tools = path.join(root, "bin", ".backstage");
const require = createRequire(path.join(tools, "package.json"));
const { JSDOM, VirtualConsole } = require("jsdom");

test("the plugin has no type errors", () => {
  const { status, stdout } = spawnSync(process.execPath, [path.join(tools, "node_modules", "typescript", "bin", "tsc"), "-p", path.join(root, "client", "backstage")], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, ""]);
});

// Bundles the tab and what renders it, for a page.
function bundle() {
  const { status, stdout, stderr } = spawnSync("go", ["tool", "esbuild", path.join(import.meta.dirname, "tab.tsx"), "--bundle", "--format=iife", "--jsx=automatic", "--target=es2022",
    '--define:process.env.NODE_ENV="test"', "--define:process.env={}", "--define:global=globalThis", "--loader:.css=empty", ...["png", "svg", "woff", "woff2"].map((type) => `--loader:.${type}=empty`),
    "--log-level=error"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 27, env: { ...process.env, NODE_PATH: path.join(tools, "node_modules") } });
  assert.equal(status, 0, stderr);
  return stdout;
}

test("an entity's annotations say the view and the root; the element gets the proxy's address and the user's token", async (t) => {
  const page = new JSDOM('<!doctype html><div id="root"></div>', { url: "http://localhost/catalog", runScripts: "outside-only", pretendToBeVisual: true, virtualConsole: new VirtualConsole() });
  t.after(() => page.window.close());
  page.window.matchMedia = () => ({ matches: false, addListener() {}, removeListener() {}, addEventListener() {}, removeEventListener() {} });
  page.window.eval(bundle());
  const settled = async (check) => {
    for (let tries = 0; tries < 2400; tries++) {
      const found = check();
      if (found) return found;
      await new Promise((resolve) => { setTimeout(resolve, 25); });
    }
    throw new Error(page.window.document.body.innerHTML.slice(0, 2000));
  };
  const { document, show } = page.window;
  show({ "backstage.io/kubernetes-id": "web", "backstage.io/kubernetes-namespace": "shop" });
  const element = await settled(() => document.querySelector("graph-view"));
  await settled(() => element.view);
  assert.deepEqual([element.view, element.root, element.base, element.transport], ["shop/everything", "deployments.apps/shop/web", "http://localhost:7007/api/proxy/graphview", "events"]);
  assert.equal(await element.token(), "token-of-jane");
  assert.deepEqual([...element.actions({ kind: "Pod" })].map(({ label }) => label), ["Logs"]);
  element.dispatchEvent(new page.window.CustomEvent("select", { detail: { key: "/v1/pods/shop/web-1" } }));
  assert.equal(page.window.selected, "/v1/pods/shop/web-1");

  show({ "graphview.dev/root": "statefulsets.apps/data/db", "graphview.dev/view": "ops/databases" });
  await settled(() => document.querySelector("graph-view")?.view === "ops/databases");
  assert.equal(document.querySelector("graph-view").root, "statefulsets.apps/data/db");
  show({ "graphview.dev/root": "nodes/one", "backstage.io/kubernetes-namespace": "shop" });
  await settled(() => document.querySelector("graph-view")?.view === "shop/everything");
  show({});
  await settled(() => document.body.textContent.includes("backstage.io/kubernetes-id"));
  assert.equal(document.querySelector("graph-view"), null);
  assert.deepEqual([page.window.available({ "backstage.io/kubernetes-id": "web" }), page.window.available({})], [true, false]);
});
