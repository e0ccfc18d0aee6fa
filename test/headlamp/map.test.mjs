// The source of the map, in Headlamp's own map.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";

import { out, token, url } from "../js/place.mjs";
import { snapshot } from "../js/scenario.mjs";
import { visit } from "./plugin.mjs";

const to = `${url}/kube`;

test("Headlamp's map shows what its relations do not know, and what is missing; no line twice", async (t) => {
  const { page, at } = await visit(t, { tokens: { main: token }, clusters: { main: { to } }, height: 900 });
  await page.goto(`${at}/c/main/map?namespace=large`);
  await page.waitForFunction(() => window.pluginLib && document.querySelector(".react-flow__node"));
  const source = () => page.evaluate(() => {
    const { graphSources } = window.store.getState().graphView;
    return graphSources.some(({ id }) => id === "graphview");
  });
  assert.ok(await source());
  await page.waitForFunction(() => window.lines?.edges.length > 0);
  const { edges, nodes } = await page.evaluate(() => window.lines);
  // For the picture, into the namespace and into the group of app-05. Headlamp lays out again once a second.
  for (const text of ["large", "app-05"]) {
    await page.waitForTimeout(2500);
    await page.locator(".react-flow__node").filter({ hasText: text }).first().click();
  }
  await page.locator(".react-flow__node").filter({ hasText: "ConfigMap, missing" }).first().waitFor();
  await page.waitForTimeout(2500);
  await page.screenshot({ path: path.join(out, "headlamp-map.png") });
  // app-00, app-05 and so on lack their ConfigMap.
  assert.equal(nodes.filter(({ subtitle }) => subtitle === "ConfigMap, missing").length, 10);
  // All pods lack the Secret to pull images with: each workload has a node of its own, so that they stay groups of their own.
  assert.equal(nodes.filter(({ subtitle }) => subtitle === "Secret, missing").length, 50);
  const graph = await snapshot({ base: url, token, namespace: "large", name: "view" });
  const uids = new Map([...graph.vertices.values()].filter(({ o }) => o).map(({ vx, o }) => [o.metadata.uid, vx]));
  for (const { source: from } of edges) assert.ok(uids.has(from), `${from} is no object`);
  // The same objects, as Headlamp's relations see them: they draw no line between two objects that the source draws one between.
  const objects = [...graph.vertices.values()].filter(({ o }) => o).map(({ o }) => o);
  const own = await page.evaluate((all) => {
    const { K8s } = window.pluginLib;
    const nodes = all.map((json) => {
      const Class = Object.values(K8s.ResourceClasses).find(({ kind, apiGroupName }) => kind === json.kind && (apiGroupName ?? "") === (json.apiVersion.includes("/") ? json.apiVersion.split("/")[0] : ""));
      return { id: json.metadata.uid, kind: json.kind, group: Class.apiGroupName, kubeObject: new Class(json, "main") };
    });
    const named = ({ kind, group }) => (group ? `${group}/${kind}` : kind);
    const pairs = [];
    for (const { fromSource, toSource, predicate } of window.relations) {
      for (const from of nodes.filter((node) => named(node) === fromSource)) {
        for (const to of nodes.filter((node) => !toSource || named(node) === toSource)) if (predicate(from, to)) pairs.push([from.id, to.id].sort().join(" "));
      }
    }
    return pairs;
  }, objects);
  assert.ok(own.length > 50, `Headlamp has ${own.length} lines`);
  const twice = edges.filter(({ source: a, target: b }) => own.includes([a, b].sort().join(" ")));
  assert.deepEqual(twice, []);
});

test("without the operator the map has Headlamp's own objects", async (t) => {
  const { page, at } = await visit(t, { tokens: { bare: token }, clusters: { bare: { to, absent: true } }, height: 900 });
  await page.goto(`${at}/c/bare/map?namespace=large`);
  await page.waitForFunction(() => document.querySelector(".react-flow__node") && window.lines?.edges.length === 0);
});
