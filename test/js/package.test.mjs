import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const file = process.env.GRAPHVIEW_PACKAGE;

test("npm installs the package of a release, which works by its names", (t) => {
  assert.ok(file, "GRAPHVIEW_PACKAGE is not set: run make test-js");
  const dir = mkdtempSync(path.join(tmpdir(), "graphview-package-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const run = (program, ...args) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: dir, encoding: "utf8" });
    assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout}${stderr}`);
    return stdout;
  };
  writeFileSync(path.join(dir, "package.json"), '{"private": true, "type": "module"}');
  run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", path.join(dir, "cache"), file);
  assert.equal(JSON.parse(readFileSync(path.join(dir, "node_modules", "graphview", "package.json"), "utf8")).version, "1.2.3");
  writeFileSync(path.join(dir, "main.js"), `
    import { GraphView, Graph } from "graphview";
    import { Connection } from "graphview/connection";
    import { createStore } from "graphview/store";
    console.log(new Graph().vertices.size, [GraphView, Connection, createStore].map((x) => typeof x).join());
  `);
  assert.equal(run(process.execPath, "--experimental-websocket", "main.js"), "0 function,function,function\n");
  // The types, by the names of the package.
  const usage = readFileSync(new URL("usage.mts", import.meta.url), "utf8")
    .replaceAll(/"\.\.\/\.\.\/client\/js\/(\w+)\.js"/g, (_, name) => JSON.stringify(name === "graphview" ? name : `graphview/${name}`));
  assert.match(usage, /from "graphview\/store"/);
  writeFileSync(path.join(dir, "usage.mts"), usage);
  // The element, in JSX.
  const modules = path.join(process.env.GRAPHVIEW_TOOLS, "node_modules");
  mkdirSync(path.join(dir, "node_modules", "@types"));
  for (const name of ["react", "@types/react"]) symlinkSync(path.join(modules, name), path.join(dir, "node_modules", name));
  writeFileSync(path.join(dir, "usage.tsx"), readFileSync(new URL("usage.tsx", import.meta.url)));
  run(process.execPath, path.join(modules, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--jsx", "react-jsx",
    "--lib", "es2022,dom,dom.iterable", "--types", "react", "--skipDefaultLibCheck", "usage.mts", "usage.tsx");
  assert.match(readFileSync(path.join(dir, "node_modules", "graphview", "element.js"), "utf8"), /customElements\.define\("graph-view"/);
});

test("npm pack in client/js has every file that the package of a release has", (t) => {
  const folder = fileURLToPath(new URL("../../client/js/", import.meta.url));
  const dir = mkdtempSync(path.join(tmpdir(), "graphview-pack-"));
  t.after(() => {
    for (const made of [dir, path.join(folder, "element.js"), path.join(folder, "LICENSE")]) rmSync(made, { recursive: true, force: true });
  });
  const { status, stderr } = spawnSync("npm", ["pack", "--silent", "--pack-destination", dir], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const files = (archive) => spawnSync("tar", ["-tzf", archive], { encoding: "utf8" }).stdout.trim().split("\n").sort();
  assert.deepEqual(files(path.join(dir, "graphview-0.0.0.tgz")), files(file));
});
