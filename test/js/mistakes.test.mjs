// The page's messages about typing mistakes in a GraphView. The mistakes are those of
// test/plugin, which has what the commands say.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";

import { dashboard } from "./dashboard.mjs";
import { control } from "./scenario.mjs";
import { url } from "./place.mjs";

const data = path.join(import.meta.dirname, "..", "plugin", "testdata");
const mistakes = JSON.parse(readFileSync(path.join(data, "mistakes.json"), "utf8"));
const apply = (file) => control(url, "kubectl", { args: ["apply", "-f", file] });

const manifest = (name, spec) => `apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: ${name}, namespace: mistakes}
${spec ? `spec:\n  ${spec.replaceAll("\n", "\n  ")}` : ""}
`;

test("the page calls no GraphView well whose author has mistyped something", async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), "mistakes-"));
  t.after(() => rmSync(dir, { recursive: true }));
  await apply(path.join(data, "mistakes.yaml"));
  t.after(() => control(url, "kubectl", { args: ["delete", "--wait=false", "-f", path.join(data, "mistakes.yaml")] }));
  const page = await dashboard(t, "mistakes/none", { synced: false });
  for (const [i, { what, spec, refused, unaccepted, effect, silent }] of mistakes.entries()) {
    await t.test(what, async () => {
      const name = `mistake-${i}`;
      const file = path.join(dir, `${name}.yaml`);
      writeFileSync(file, manifest(name, spec));
      if (refused) await assert.rejects(apply(file));
      else await apply(file);
      // The page asks again while it does not know; a condition that is there needs no second question.
      if (effect && !silent) await control(url, "kubectl", { args: ["wait", "--for=condition=Effective=false", "-n", "mistakes", `graphview/${name}`, "--timeout=180s"] });
      await page.evaluate((hash) => { location.hash = hash; }, `#/mistakes/${name}`);
      const says = (text) => page.locator("graph-view").locator(refused || unaccepted ? ".note" : ".empty").filter({ hasText: text }).first().waitFor();
      if (refused) await says("There is no such GraphView.");
      else if (unaccepted) await says(unaccepted);
      else await says(silent ? "Nothing that the view selects is there, or you may not see it." : effect);
      const pill = page.locator("graph-view").locator(".pill");
      assert.match(await pill.getAttribute("class"), unaccepted || refused ? /ended/ : /nothing/);
      assert.equal(await page.locator("graph-view").locator("text=No problems").count(), 0);
    });
  }
  // The list of views marks views that are not served, except the open one.
  await page.evaluate(() => { location.hash = "#/mistakes/none"; });
  const options = page.locator("select[aria-label=View] option");
  for (const [i, { what, unaccepted }] of mistakes.entries()) {
    if (unaccepted) await options.filter({ hasText: `mistakes/mistake-${i} – not served` }).waitFor({ state: "attached" }).catch((error) => { throw new Error(what, { cause: error }); });
  }
});

test("the page names a part of a spec that has no effect also where the others have objects", async (t) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "mistakes-")), "partly.yaml");
  t.after(() => rmSync(path.dirname(file), { recursive: true }));
  t.after(() => control(url, "kubectl", { args: ["delete", "graphview", "-n", "large", "partly", "--ignore-not-found"] }));
  writeFileSync(file, manifest("partly", `queries: [{include: {resourceSelectorExpression: "resource == 'pods'"}}, {include: {resourceSelectorExpression: "resource == 'configmap'"}}]\nnamespaces: {names: [large]}`).replace("namespace: mistakes", "namespace: large"));
  await apply(file);
  const page = await dashboard(t, "large/partly");
  await page.locator("graph-view").locator(".note").filter({ hasText: "did you mean 'configmaps'?" }).waitFor();
});
