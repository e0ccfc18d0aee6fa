// The archive and its metadata, as Headlamp's own manager of plugins installs them.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

import { tools } from "./headlamp.mjs";
import { archive } from "./plugin.mjs";

const require = createRequire(path.join(tools, "package.json"));
const { PluginManager } = require("@headlamp-k8s/pluginctl");
const yaml = require("js-yaml");

test("Headlamp's manager of plugins accepts the metadata for Artifact Hub, the archive and its checksum", async (t) => {
  const metadata = yaml.load(readFileSync(path.join(path.dirname(archive), "headlamp", "artifacthub-pkg.yml"), "utf8"));
  assert.ok(!Number.isNaN(Date.parse(metadata.createdAt)), metadata.createdAt);
  const folder = mkdtempSync(path.join(tmpdir(), "graphview-plugins-"));
  const download = globalThis.fetch;
  t.after(() => {
    globalThis.fetch = download;
    rmSync(folder, { recursive: true });
  });
  // Artifact Hub, which publishes what the file says, and the host of the archive.
  globalThis.fetch = async (address) => {
    if (String(address).startsWith("https://artifacthub.io/api/v1/packages/headlamp/")) {
      return Response.json({ name: metadata.name, display_name: metadata.displayName, version: metadata.version, data: metadata.annotations, repository: { name: "graphview", user_alias: "graphview" } });
    }
    assert.equal(address, metadata.annotations["headlamp/plugin/archive-url"]);
    return new Response(readFileSync(archive));
  };
  await PluginManager.install("https://artifacthub.io/packages/headlamp/graphview/graphview", folder, "0.45.0");
  assert.deepEqual(PluginManager.list(folder).map(({ pluginName, pluginVersion, folderName }) => [pluginName, pluginVersion, folderName]), [["graphview", "0.0.0", "graphview"]]);
  assert.deepEqual(readdirSync(path.join(folder, "graphview")).sort(), ["main.js", "package.json"]);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(folder, "graphview", "package.json"), "utf8"));
  assert.deepEqual([dependencies, Object.keys(devDependencies)], [undefined, ["@kinvolk/headlamp-plugin"]]);
  // Headlamp has React and Material UI: they are not in the archive a second time.
  const main = readFileSync(path.join(folder, "graphview", "main.js"), "utf8");
  assert.doesNotMatch(main, /react\.element|MuiTable|createStore\.Symbol/);
  assert.ok(main.length < 300_000, `${main.length} bytes`);
});
