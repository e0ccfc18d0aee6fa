// The section on the pages of objects and the page in the sidebar, in pages of Headlamp's published package.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import test from "node:test";

import { control, eventually } from "../js/scenario.mjs";
import { kubectl, out, token, url } from "../js/place.mjs";
import { part, rows, visit } from "./plugin.mjs";

const to = `${url}/kube`;
const run = (...args) => control(url, "kubectl", { args });
const apply = (manifest) => control(url, "kubectl", { args: ["apply"], manifest });

test("a Deployment's page says what it uses, what is missing and what breaks, live, with links to pages of Headlamp", async (t) => {
  const { page, at } = await visit(t, { tokens: { main: token }, clusters: { main: { to } } });
  await page.goto(`${at}/c/main/deployments/large/app-05`);
  await part(page, "Missing").waitFor();
  await part(page, "If this is deleted").waitFor();
  await page.screenshot({ path: path.join(out, "headlamp-deployment.png"), fullPage: true });
  assert.deepEqual(await rows(page, "Missing"), ["reads env of | ConfigMap/app-05 | missing"]);
  assert.match((await rows(page, "Used by")).join("\n"), /^ReplicaSet\/app-05-\w+ \| owned by this \|/m);
  assert.match((await rows(page, "If this is deleted")).join("\n"), /^deleted \| ReplicaSet\/app-05-\w+ \| owned by app-05$/m);
  assert.match((await rows(page, "If this is deleted")).join("\n"), /^(breaks now|probably breaks) \| Service\/app-05 \| selects app-05-/m);
  await run("create", "configmap", "-n", "large", "app-05");
  await eventually(async () => ((await rows(page, "Uses")).some((row) => row.startsWith("reads env of | ConfigMap/app-05 |")) ? "" : "it is still missing"));
  assert.equal(await part(page, "Missing").count(), 0);
  // Headlamp opens the page of a link in a drawer of its frame, which the tests do not have, or, as set there, in place of this page.
  const link = part(page, "Uses").getByRole("link", { name: "ConfigMap/app-05" });
  await page.goto(at + await link.getAttribute("href"));
  assert.equal(page.url(), `${at}/c/main/configmaps/large/app-05`);
  await eventually(async () => ((await rows(page, "Used by")).some((row) => row.startsWith("Deployment/app-05 | reads env of this |")) ? "" : "the section is not of the ConfigMap"));
  await run("delete", "configmap", "-n", "large", "app-05");
});

test("in the dark", async (t) => {
  const { page, at } = await visit(t, { tokens: { main: token }, clusters: { main: { to } }, theme: "dark" });
  await page.goto(`${at}/c/main/deployments/large/app-05`);
  await part(page, "If this is deleted").waitFor();
  await page.screenshot({ path: path.join(out, "headlamp-deployment-dark.png"), fullPage: true });
});

test("a user sees what this user may list, and of Secrets no content", async (t) => {
  const canary = `canary-${Date.now()}`;
  await apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "headlamp", namespace: "large" }, stringData: { password: canary } });
  await apply({
    apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "secretive", namespace: "large" },
    spec: {
      selector: { matchLabels: { app: "secretive" } },
      template: { metadata: { labels: { app: "secretive" } }, spec: { containers: [{ name: "main", image: "example.com/main", envFrom: [{ secretRef: { name: "headlamp" } }, { configMapRef: { name: "app-01" } }] }] } },
    },
  });
  await apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "few", namespace: "large" } });
  await apply({
    apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "few", namespace: "large" },
    rules: [{ apiGroups: ["apps"], resources: ["deployments", "replicasets"], verbs: ["get", "list", "watch"] }, { apiGroups: ["stream.graphview.dev"], resources: ["graphs", "graphs/object"], verbs: ["get", "list", "watch"] }],
  });
  await apply({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: { name: "few", namespace: "large" }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "few" }, subjects: [{ kind: "ServiceAccount", name: "few", namespace: "large" }] });
  const few = spawnSync(kubectl, ["-n", "large", "create", "token", "few"], { encoding: "utf8" }).stdout.trim();
  const answers = { all: "", few: "" };
  for (const [user, secret] of [["all", token], ["few", few]]) {
    const { page, at } = await visit(t, { tokens: { main: secret }, clusters: { main: { to } }, asked: (_, about, text) => { answers[user] += text; } });
    await page.goto(`${at}/c/main/deployments/large/secretive`);
    await part(page, "Uses").waitFor();
    await part(page, "If this is deleted").waitFor();
    // A controller makes the ReplicaSet, and the Secret comes by another watch.
    await eventually(async () => (/^ReplicaSet\/secretive-/m.test((await rows(page, "Used by")).join("\n")) ? "" : "there is no ReplicaSet"));
    await eventually(async () => {
      const seen = (await rows(page, "Uses")).join("\n");
      return [/Secret\/headlamp/, /ConfigMap\/app-01/].every((name) => name.test(seen) === (user === "all")) ? "" : seen;
    });
  }
  // The Deployment itself, which this user may read, has the names of both in its spec.
  assert.doesNotMatch(answers.few, /"r":"(secrets|configmaps)"[^}]*"n":"(app-01|headlamp)"/, "objects that the user may not list are in the answers");
  assert.match(answers.all, /"r":"secrets"[^}]*"n":"headlamp"/);
  for (const text of Object.values(answers)) assert.ok(!text.includes(canary) && !text.includes(Buffer.from(canary).toString("base64")), "the content of a Secret is in the answers");
});

test("without the operator there is one sentence, after one or two requests, and the other cluster's answers stay", async (t) => {
  const asked = [];
  const { page, at } = await visit(t, { tokens: { main: token, bare: token }, clusters: { main: { to }, bare: { to, absent: true } }, asked: (cluster, about, text) => { if (!text) asked.push(`${cluster} ${about.split("?")[0]}`); } });
  await page.goto(`${at}/c/bare/deployments/large/app-01`);
  await page.getByText("This cluster has no GraphView operator").waitFor();
  assert.match(await page.locator("main").innerText(), /To install it: helm upgrade --install graphview /);
  assert.deepEqual([...new Set(asked)], ["bare /apis/stream.graphview.dev/v1alpha1/graphs"]);
  assert.ok(asked.length <= 2, `${asked.length} requests`);
  await page.screenshot({ path: path.join(out, "headlamp-absent.png"), fullPage: true });
  await page.goto(`${at}/c/main+bare/deployments/large/app-01`);
  await part(page, "Uses").waitFor();
  await page.goto(`${at}/c/main+bare/graphview`);
  await page.locator("graph-view").waitFor();
});

for (const theme of ["light", "dark"]) {
  test(`the page of the sidebar has <graph-view> in Headlamp's ${theme} theme, through Headlamp's proxy`, async (t) => {
    const { page, at } = await visit(t, { tokens: { main: token }, clusters: { main: { to } }, theme, height: 900 });
    await page.goto(`${at}/c/main/graphview?view=${encodeURIComponent("main: large/view")}`);
    await page.waitForFunction(() => document.querySelector("graph-view")?.controller?.synced);
    await page.waitForTimeout(1500); // for the picture, in which cards fade in
    await page.screenshot({ path: path.join(out, `headlamp-page-${theme}.png`) });
    assert.ok(await page.evaluate(() => document.querySelector("graph-view").controller.map.scene.stats.vertices) > 200);
    await page.evaluate(() => document.querySelector("graph-view").controller.problem(1));
    await page.click("graph-view button:has-text('Open in Headlamp')");
    await page.waitForURL(/\/c\/main\/\w+\/large\//);
  });
}
