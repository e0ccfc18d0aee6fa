import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";

import * as client from "../../client/js/graphview.js";
import { require } from "./place.mjs";

test("the page and the client have no type errors", () => {
  const { status, stdout } = spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", "../../dashboard/tsconfig.json"], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, ""]);
});

test("the types are those of the client", () => {
  const { status, stdout } = spawnSync(process.execPath, [
    require.resolve("typescript/bin/tsc"), "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable",
    "usage.mts",
  ], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, ""]);
  assert.deepEqual(Object.keys(client).sort(), [
    "Graph", "GraphView", "GraphViewError", "GraphViewEvent", "arcKey", "getGraph", "getImpact", "getObject", "healthAt", "listGraphs", "problems", "vertexKey", "warningKey",
  ]);
});
