// Measures the dashboard, and writes the table of docs/dashboard.md: make
// dashboard-bench. Each number stands beside a floor of the same run: a page that
// only fetches and parses the same graph, a canvas with 500 rectangles, and the
// layouts of two libraries for the same cards and lines.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";

import { Model } from "../../dashboard/web/model/model.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Store } from "../../dashboard/web/model/store.js";
import { launch, open, replay, root, settled, tools } from "./chromium.mjs";
import { cluster } from "./cluster.mjs";
import { changesOf } from "./graphs.mjs";

const rows = [];
const say = (what, ours, floor, goal) => {
  rows.push([what, ours, floor, goal]);
  console.log([what, ours, floor, goal].join(" | "));
};
const ms = (n) => `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const median = (list) => quantile(list, 0.5);

function drawn(size) {
  const store = new Store();
  store.apply(cluster(size), { reset: true });
  const model = new Model(store, emptyFilters());
  const [began, used] = [performance.now(), process.cpuUsage()];
  model.update(0);
  const { user, system } = process.cpuUsage(used);
  return { took: performance.now() - began, cpu: (user + system) / 1000, model };
}

// What no layout is faster than: each reference is looked at, and counted by its ends' boxes.
function walked(model) {
  const began = performance.now();
  const counts = new Map();
  for (const place of model.places.values()) {
    for (const card of place.cards) for (const v of card.members) for (const { d } of v.out) counts.set(`${v.home} ${d.home}`, (counts.get(`${v.home} ${d.home}`) ?? 0) + 1);
  }
  return performance.now() - began;
}

// Folding and layout, after a first run that compiles.
drawn(2000);
for (const [size, goal] of [[5000, 60], [20_000, 250], [100_000, 1000]]) {
  const runs = [1, 2, 3].map(() => drawn(size));
  say(`fold and lay out ${size.toLocaleString("en")} objects (of the processor's time)`, `${ms(median(runs.map(({ took }) => took)))} (${ms(median(runs.map(({ cpu }) => cpu)))})`,
    `${ms(median([1, 2, 3].map(() => walked(runs[0].model))))} (a walk over its references)`, `≤ ${goal} ms`);
}

// The same cards and lines of 5,000 objects by two libraries, where they are installed.
const { model } = drawn(5000);
const cards = [...model.places.values()].flatMap((place) => place.apps.flatMap((app) => app.cards));
const lines = [...model.places.values()].flatMap((place) => place.apps.flatMap((app) => app.lines));
const limit = 120_000;

// In a thread of its own, so that one that does not end can be ended.
async function library(name, source) {
  const worker = new Worker(`const { parentPort, workerData: { cards, lines, packages } } = require("node:worker_threads");
    const tools = require("node:module").createRequire(packages);
    (async () => { ${source}; parentPort.postMessage("laid out"); })().catch((error) => parentPort.postMessage(error.code ?? error.message));`, {
    eval: true, workerData: { cards: cards.map(({ key }) => key), lines: lines.map(({ a, b }) => [a.key, b.key]), packages: path.join(root, "bin", ".js", "package.json") },
  });
  const began = performance.now();
  const answer = await new Promise((resolve) => {
    worker.once("message", resolve).once("error", (error) => resolve(error.message));
    setTimeout(() => resolve("not ended"), limit).unref();
  });
  const took = performance.now() - began;
  await worker.terminate();
  if (answer === "MODULE_NOT_FOUND") console.log(`${name} is not installed`);
  else say(`the same ${cards.length.toLocaleString("en")} cards and ${lines.length.toLocaleString("en")} lines by ${name}`, "", answer === "laid out" ? ms(took) : answer === "not ended" ? `not within ${limit / 1000} s` : answer, "");
}
await library("elkjs (layered)", `await new (tools("elkjs/lib/elk.bundled.js"))().layout({ id: "root", layoutOptions: { "elk.algorithm": "layered" },
  children: cards.map((id) => ({ id, width: 208, height: 40 })), edges: lines.map(([a, b], i) => ({ id: "e" + i, sources: [a], targets: [b] })) })`);
await library("dagre", `const dagre = tools("@dagrejs/dagre"); const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "LR" }).setDefaultEdgeLabel(() => ({}));
  for (const id of cards) graph.setNode(id, { width: 208, height: 40 });
  for (const [a, b] of lines) graph.setEdge(a, b);
  dagre.layout(graph)`);
await library("cytoscape (cose)", `const graph = tools("cytoscape")({ headless: true, styleEnabled: false, elements: [...cards.map((id) => ({ data: { id } })), ...lines.map(([source, target]) => ({ data: { source, target } }))] });
  const layout = graph.layout({ name: "cose", animate: false });
  await new Promise((resolve) => { layout.one("layoutstop", resolve); layout.run(); })`);

// An hour at ten changes a second, in what the worker keeps.
{
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const actions = cluster(5000);
  const store = new Store();
  store.apply(actions, { reset: true });
  const live = new Model(store, emptyFilters());
  live.update(0);
  const heap = () => {
    gc();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const lists = changesOf(actions, { lists: 7200, each: 5 });
  const follow = (some) => some.forEach((list, i) => {
    store.apply(list, { at: 1000 * i });
    live.update(0);
  });
  const began = heap();
  follow(lists.slice(0, 2400)); // what happened lately is kept, up to a bound, which is reached by now
  const before = heap();
  const at = performance.now();
  follow(lists.slice(2400));
  const took = performance.now() - at;
  say("heap of what the worker keeps: at first, after 12,000 changes, after 36,000 (an hour's)", `${began.toFixed(1)}, ${before.toFixed(1)}, ${heap().toFixed(1)} MB`, "", "+ 5 %");
  say("five changes: folded and laid out", ms(took / 4800), "", "");
}

const server = await replay(["5000", "20000", "100000", "5000-live"]);
const browser = await launch();

/** Pans for some frames; how long each took, and the main thread's share. */
async function frames(page, move) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const tasks = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  const before = await tasks();
  const times = await page.evaluate(async (source) => {
    const step = new Function("i", source);
    const took = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < 90; i++) {
      step(i);
      const now = await new Promise(requestAnimationFrame);
      took.push(now - last);
      last = now;
    }
    return took;
  }, move);
  return { p50: median(times), p95: quantile(times, 0.95), main: (await tasks() - before) / times.length };
}

try {
  for (const size of ["5000", "20000"]) {
    const label = Number(size).toLocaleString("en");
    const [ours, floors] = [[], []];
    for (let i = 0; i < 3; i++) {
      const page = await open(browser, server.url, size);
      ours.push(await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => resolve(performance.now())); })));
      await page.close();
      const floor = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
      await floor.goto(`${server.url}/floor/#${size}`);
      await floor.waitForFunction(() => globalThis.done);
      floors.push(await floor.evaluate(() => globalThis.done));
      await floor.close();
    }
    say(`first complete drawing, ${label} objects`, ms(median(ours)), `${ms(median(floors))} (navigate, fetch, parse)`, `≤ 3 × the floor: ${(median(ours) / median(floors)).toFixed(1)} ×`);
  }
  for (const size of ["5000", "20000", "100000"]) {
    const label = Number(size).toLocaleString("en");
    const page = await open(browser, server.url, size, { context: { bypassCSP: true } });
    await settled(page);
    const levels = { "all of it": 0, "apps (25 %)": 0.25, "cards (50 %)": 0.5, "text (100 %)": 1 };
    for (const [name, k] of Object.entries(levels)) {
      await page.evaluate((zoom) => {
        const { map } = document.querySelector("graph-view").controller;
        if (zoom > 0) map.view(map.camera.centered(map.scene.rect([...map.scene.cards.keys()][Math.floor(map.scene.cards.size / 2)]), zoom));
      }, k);
      const { p50, p95, main } = await frames(page, "document.querySelector('graph-view').controller.map.pan(i % 30 < 15 ? 6 : -6, i % 20 < 10 ? 3 : -3)");
      say(`panning ${label} objects, ${name}: frame p50 / p95, main thread`, `${ms(p50)} / ${ms(p95)}, ${ms(main)}`, "", "p50 ≤ 17, p95 ≤ 34, main ≤ 14 ms");
    }
    await page.evaluate(() => globalThis.gc?.());
    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
    say(`heap of the page, ${label} objects (without the worker's)`, `${heap.toFixed(1)} MB`, "", "");
    await page.close();
  }
  const floor = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await floor.goto(`${server.url}/floor/#5000`);
  await floor.waitForFunction(() => globalThis.done);
  const bare = await frames(floor, "globalThis.shift = i; draw()");
  say("a canvas with 500 rectangles: frame p50 / p95, main thread", "", `${ms(bare.p50)} / ${ms(bare.p95)}, ${ms(bare.main)}`, "");
  await floor.close();

  // A hundred changes a second, for twenty seconds.
  const page = await open(browser, server.url, "5000-live");
  await page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.long.push(entry.duration); }).observe({ entryTypes: ["longtask"] });
  });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const metric = async (wanted) => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === wanted).value;
  const tasks = async () => [await metric("TaskDuration"), await metric("ThreadTime")];
  await page.evaluate(() => globalThis.gc?.());
  const heapBefore = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
  // From when the worker was told of a change to the frame that has it.
  await page.evaluate(() => {
    globalThis.late = [];
    const { map } = document.querySelector("graph-view").controller;
    const apply = map.scene.apply.bind(map.scene);
    map.scene.apply = (message, now) => {
      apply(message, now);
      requestAnimationFrame(() => setTimeout(() => { for (const { at } of message.journal) globalThis.late.push(Date.now() - at); }));
    };
  });
  const [before, began] = [await tasks(), performance.now()];
  await page.waitForTimeout(20_000);
  const [share, cpu] = (await tasks()).map((value, i) => (value - before[i]) / ((performance.now() - began) / 1000));
  const late = await page.evaluate(() => globalThis.late);
  const long = await page.evaluate(() => globalThis.long);
  say("100 changes a second in 5,000 objects: the main thread's share, and of that the processor's time", `${(share * 100).toFixed(0)} %, ${(cpu * 100).toFixed(0)} %`, "", "≤ 15 %");
  say("from a change to its pixels: p50, p95", `${ms(median(late))}, ${ms(quantile(late, 0.95))}`, "", "p95 ≤ 250 ms");
  say("tasks over 50 ms in 20 s, longest", `${long.length}, ${ms(Math.max(0, ...long))}`, "", "none");
  await page.evaluate(() => globalThis.gc?.());
  const heapAfter = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
  say("heap before and after", `${heapBefore.toFixed(1)} / ${heapAfter.toFixed(1)} MB`, "", "");
} finally {
  await browser.close();
  server.stop();
}

const table = ["| | here | beside it | goal |", "|---|---|---|---|", ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n");
const file = path.join(root, "docs", "dashboard.md");
const marked = /(<!-- measured:start -->\n)[^]*(<!-- measured:end -->)/;
writeFileSync(file, readFileSync(file, "utf8").replace(marked, (_, start, end) => `${start}\n${table}\n\n${end}`));
