// The plugin as its archive has it, and pages of Headlamp that have loaded it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { browser } from "../js/place.mjs";
import { headlamp, login, tools } from "./headlamp.mjs";

const root = path.join(import.meta.dirname, "..", "..");

/** The archive that hack/headlamp.sh makes for the version 0.0.0. */
export const archive = path.join(root, "bin", "graphview-headlamp-0.0.0.tar.gz");

function unpack(t) {
  const dir = mkdtempSync(path.join(tmpdir(), "graphview-headlamp-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const { status, stderr } = spawnSync("tar", ["-xzf", archive, "-C", dir], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return path.join(dir, "graphview");
}

// What the modules of Headlamp import in Vite's way: images as components, and the address of the worker of the map's layout.
const vite = {
  name: "vite",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.svg\?react$/ }, ({ path: file, resolveDir }) => ({ path: path.join(resolveDir, file.replace(/\?.*/, "")), namespace: "image" }));
    onLoad({ filter: /./, namespace: "image" }, ({ path: file }) => ({
      contents: `import { createElement } from "react"; export default (props) => createElement("img", { ...props, src: ${JSON.stringify(`data:image/svg+xml,${encodeURIComponent(readFileSync(file, "utf8"))}`)} });`,
      resolveDir: path.dirname(file),
    }));
    onResolve({ filter: /elk-worker\.min\.js\?url$/ }, () => ({ path: "elk", namespace: "address" }));
    onLoad({ filter: /./, namespace: "address" }, () => ({ contents: 'export default "/app/elk-worker.min.js";' })); // where headlamp.mjs serves it
  },
};

// Bundles app.jsx with the modules of Headlamp's published package, once for each file of tests.
const bundle = () => createRequire(path.join(tools, "package.json"))("esbuild").build({
  entryPoints: [path.join(import.meta.dirname, "app.jsx")], bundle: true, format: "esm", jsx: "automatic", target: "es2022", outdir: path.join(tools, "app"),
  loader: Object.fromEntries([".svg", ".png", ".woff", ".woff2", ".ttf"].map((type) => [type, "dataurl"])), alias: { path: "path-browserify" },
  define: { "import.meta.env": '{"DEV":false}', "process.env.NODE_ENV": '"production"', global: "globalThis" },
  logLevel: "error", nodePaths: [path.join(tools, "node_modules")], plugins: [vite],
});

let bundled;

/** Opens Headlamp for a user with a token for each cluster. Not even an error of the plugin ends a page of Headlamp, so errors that name it fail the test. */
export async function visit(t, { tokens, clusters, theme, asked, height = 1500 }) {
  await (bundled ??= bundle());
  assert.ok(existsSync(archive), `there is no ${archive}: run make test-headlamp`);
  const at = await headlamp(t, { clusters, plugin: unpack(t), theme, asked });
  const context = await (await browser(t)).newContext({ viewport: { width: 1300, height } });
  await login(context, at, tokens);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const wrong = [];
  page.on("pageerror", ({ stack }) => { if (stack.includes("plugins/graphview")) wrong.push(stack); });
  page.on("console", (message) => { if (message.type() === "error" && message.text().includes("plugins/graphview")) wrong.push(message.text()); });
  t.after(() => assert.deepEqual(wrong, []));
  return { page, at };
}

/** A table of the section, by its title. */
export const part = (page, title) => page.locator(`section[aria-label="${title}"]`);

/** The rows of such a table, with | between the cells. */
export const rows = (page, title) => part(page, title).locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.trim()).join(" | ")));
