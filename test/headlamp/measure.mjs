// Measures the source of the map beside Headlamp's own relations, on the same 10,000 objects in one namespace: time in the page's
// thread, and memory. `node test/headlamp/measure.mjs`, after make test-headlamp, which makes the archive and the pages. The objects are
// manifests, of which kubectl-graphview serves the graph.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { headlamp } from "./headlamp.mjs";

const root = path.join(import.meta.dirname, "..", "..");
const { chromium } = createRequire(path.join(root, "bin", ".js", "package.json"))("playwright-core");
const apps = Number(process.argv[2] ?? 1000);

// Ten objects for each application: a Deployment, its ReplicaSet, four Pods, a Service, two ConfigMaps and a Secret.
function application(i) {
  const name = `app-${i}`;
  const labels = { app: name };
  const uid = (kind, n = 0) => `${kind}0000000-0000-4000-8000-${String(i * 10 + n).padStart(12, "0")}`.slice(-36);
  const meta = (kind, n = 0, suffix = "", owner = undefined) => ({ name: name + suffix, namespace: "bench", uid: uid(kind, n), labels, ...(owner ? { ownerReferences: [owner] } : {}) });
  const owner = (apiVersion, kind, of, id) => ({ apiVersion, kind, name: of, uid: id, controller: true });
  const spec = {
    containers: [{ name: "main", image: "example.com/main", envFrom: [{ configMapRef: { name } }], env: [{ name: "KEY", valueFrom: { secretKeyRef: { name, key: "key" } } }] }],
    volumes: [{ name: "files", configMap: { name: `${name}-files` } }],
  };
  const selector = { matchLabels: labels };
  return [
    { apiVersion: "apps/v1", kind: "Deployment", metadata: meta("d"), spec: { replicas: 4, selector, template: { metadata: { labels }, spec } }, status: {} },
    { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: meta("e", 0, "-1", owner("apps/v1", "Deployment", name, uid("d"))), spec: { replicas: 4, selector, template: { metadata: { labels }, spec } }, status: {} },
    ...[1, 2, 3, 4].map((n) => ({ apiVersion: "v1", kind: "Pod", metadata: meta("b", n, `-1-${n}`, owner("apps/v1", "ReplicaSet", `${name}-1`, uid("e"))), spec, status: { phase: "Running", conditions: [] } })),
    { apiVersion: "v1", kind: "Service", metadata: meta("a"), spec: { selector: labels, ports: [{ port: 80 }] } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: meta("c"), data: {} },
    { apiVersion: "v1", kind: "ConfigMap", metadata: meta("c", 1, "-files"), data: {} },
    { apiVersion: "v1", kind: "Secret", metadata: meta("f"), type: "Opaque" },
  ];
}

const dir = mkdtempSync(path.join(tmpdir(), "graphview-measure-"));
const ends = [() => rmSync(dir, { recursive: true })];
const t = { after: (end) => ends.unshift(end) };
try {
  const objects = Array.from({ length: apps }, (_, i) => application(i)).flat();
  writeFileSync(path.join(dir, "objects.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const { status } = spawnSync("tar", ["-xzf", path.join(root, "bin", "graphview-headlamp-0.0.0.tar.gz"), "-C", dir]);
  if (status !== 0) throw new Error("there is no plugin: run make test-headlamp");
  const serve = spawn(path.join(root, "bin", "kubectl-graphview"), ["dashboard", "--from", path.join(dir, "objects.json"), "-A", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => serve.kill());
  const address = await new Promise((resolve) => { serve.stdout.on("data", (text) => { const [, found] = /(http:\S+)/.exec(text) ?? []; if (found) resolve(found); }); });
  const opened = await fetch(address);
  const cookie = opened.headers.get("set-cookie").split(";")[0];
  const prefix = address.replace(/\/open\/.*/, "");
  // The graphs, as the API server has them at clusters/main; of other requests there is nothing.
  const api = http.createServer((request, response) => {
    if (!request.url.includes("stream.graphview.dev")) return response.writeHead(404).end();
    const onward = http.request(prefix + request.url, { headers: { cookie, accept: request.headers.accept ?? "" } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    response.on("close", () => onward.destroy());
    onward.end();
  });
  await new Promise((resolve) => { api.listen(0, "127.0.0.1", resolve); });
  t.after(() => { api.closeAllConnections(); api.close(); });
  const at = await headlamp(t, { clusters: { main: { to: `http://127.0.0.1:${api.address().port}` } }, plugin: path.join(dir, "graphview") });
  const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((file) => { try { return readFileSync(file); } catch { return undefined; } });
  const browser = await chromium.launch({ executablePath, headless: true, args: ["--enable-precise-memory-info", "--js-flags=--expose-gc", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(600_000);
  page.on("pageerror", (error) => console.error(error.message));
  await page.goto(`${at}/c/main/token`);
  await page.waitForFunction(() => window.relations && window.pluginLib && window.store.getState().graphView.graphSources.length > 0);
  const measured = await page.evaluate(async (text) => {
    const { React, ReactRedux, ReactRouter, K8s } = window.pluginLib;
    const heap = () => { window.gc(); return performance.memory.usedJSHeapSize / 2 ** 20; };
    const idle = () => new Promise((resolve) => { setTimeout(resolve, 0); });
    const mount = (element) => {
      const box = document.body.appendChild(document.createElement("div"));
      const into = window.createRoot(box);
      into.render(React.createElement(ReactRedux.Provider, { store: window.store }, React.createElement(ReactRouter.BrowserRouter, null, element)));
      return () => into.unmount();
    };
    // The longest time for which the page did not react.
    const watch = () => {
      let longest = 0;
      let last = performance.now();
      const timer = setInterval(() => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; }, 10);
      return () => { clearInterval(timer); return longest; };
    };
    const result = {};
    // The plugin: a stream with summaries, and the lines that Headlamp does not know.
    {
      const before = heap();
      const began = performance.now();
      const stop = watch();
      const Source = () => { window.lines = window.store.getState().graphView.graphSources.find(({ id }) => id === "graphview").useData(); return null; };
      const unmount = mount(React.createElement(Source));
      while (!window.lines?.edges.length) await idle();
      result.plugin = { ms: performance.now() - began, longest: stop(), lines: window.lines.edges.length, mb: heap() - before };
      unmount();
      window.lines = undefined;
    }
    // Headlamp: its objects, and its relations over them.
    {
      const before = heap();
      const nodes = JSON.parse(text).map((json) => {
        const Class = K8s.ResourceClasses[json.kind];
        return { id: json.metadata.uid, source: Class.apiGroupName ? `${Class.apiGroupName}/${json.kind}` : json.kind, kubeObject: new Class(json, "main") };
      });
      const bySource = Map.groupBy(nodes, ({ source }) => source);
      const sources = [...bySource].map(([id, some]) => { const data = { nodes: some, edges: [] }; return { id, label: id, useData: () => data }; });
      const mb = heap() - before;
      const began = performance.now();
      const stop = watch();
      let lines = 0;
      const Reader = () => { lines = window.useSources().edges.length; return null; };
      const unmount = mount(React.createElement(window.GraphSourceManager, { sources, relations: window.relations }, React.createElement(Reader)));
      while (lines === 0) await idle();
      result.headlamp = { ms: performance.now() - began, longest: stop(), lines, mb };
      unmount();
    }
    return result;
  }, JSON.stringify(objects));
  console.log(`${objects.length} objects`, measured);
} finally {
  for (const end of ends) await end();
}
