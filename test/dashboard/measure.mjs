// Measures the dashboard, and writes the table of docs/dashboard.md: make
// dashboard-bench. Each number stands beside a floor of the same run: a page that
// only fetches and parses the same graph, a canvas with 500 rectangles, and the
// layouts of two libraries for the same cards and lines.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";

import { Model } from "../../dashboard/web/model/model.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Store } from "../../dashboard/web/model/store.js";
import { launch, open, replay, root, settled, tools } from "./chromium.mjs";
import { cluster } from "./cluster.mjs";

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
  const began = performance.now();
  model.update(0);
  return { took: performance.now() - began, model };
}

// Folding and layout, after a first run that compiles.
drawn(2000);
for (const [size, goal] of [[5000, 60], [20_000, 250], [100_000, 1000]]) {
  say(`fold and lay out ${size.toLocaleString("en")} objects`, ms(median([1, 2, 3].map(() => drawn(size).took))), "", `≤ ${goal} ms`);
}

// The same cards and lines of 5,000 objects by two libraries, where they are installed.
const { model } = drawn(5000);
const cards = [...model.places.values()].flatMap((place) => place.apps.flatMap((app) => app.cards));
const lines = [...model.places.values()].flatMap((place) => place.apps.flatMap((app) => app.lines));
async function library(name, run) {
  try {
    const began = performance.now();
    await run();
    say(`the same ${cards.length.toLocaleString("en")} cards and ${lines.length.toLocaleString("en")} lines by ${name}`, "", ms(performance.now() - began), "");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.log(`${name} is not installed`);
  }
}
await library("elkjs (0.12.1, layered)", () => {
  const ELK = tools("elkjs/lib/elk.bundled.js");
  return new ELK().layout({ id: "root", layoutOptions: { "elk.algorithm": "layered" }, children: cards.map((card) => ({ id: card.key, width: 208, height: 40 })),
    edges: lines.map(({ a, b }, i) => ({ id: `e${i}`, sources: [a.key], targets: [b.key] })) });
});
await library("dagre (@dagrejs/dagre)", () => {
  const dagre = tools("@dagrejs/dagre");
  const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "LR" }).setDefaultEdgeLabel(() => ({}));
  for (const card of cards) graph.setNode(card.key, { width: 208, height: 40 });
  for (const { a, b } of lines) graph.setEdge(a.key, b.key);
  dagre.layout(graph);
});

const server = await replay(["5000", "20000", "5000-live"]);
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
  for (const size of ["5000", "20000"]) {
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
  const tasks = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  await page.evaluate(() => globalThis.gc?.());
  const heapBefore = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
  const [before, began] = [await tasks(), performance.now()];
  await page.waitForTimeout(20_000);
  const share = (await tasks() - before) / ((performance.now() - began) / 1000);
  const long = await page.evaluate(() => globalThis.long);
  say("100 changes a second in 5,000 objects: the main thread's share", `${(share * 100).toFixed(0)} %`, "", "≤ 15 %");
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
