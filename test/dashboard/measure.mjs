// Measures the dashboard, and writes the table of docs/measured/dashboard.md: make
// dashboard-bench. Each number stands beside a floor of the same run: a page that
// only fetches and parses the same graph, a canvas with 500 rectangles, and two
// libraries for the same cards and lines, and for the same graph.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";

import { Model } from "../../dashboard/web/model/model.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Store } from "../../dashboard/web/model/store.js";
import { Wire } from "../../dashboard/web/model/wire.js";
import { Scene } from "../../dashboard/web/view/scene.js";
import { launch, open, replay, root, settled } from "./chromium.mjs";
import { cluster } from "./cluster.mjs";
import { endless } from "./graphs.mjs";

const libraries = path.join(root, "bin", ".bench"); // what package.json here names
const versionOf = (name) => JSON.parse(readFileSync(path.join(libraries, "node_modules", name, "package.json"), "utf8")).version;
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

// A lower bound for the time of any layout: visit each reference, and count it by the boxes of its ends.
function walked(model) {
  const began = performance.now();
  const counts = new Map();
  for (const place of model.places.values()) {
    for (const card of place.cards) for (const v of card.members) for (const { d } of v.out) counts.set(`${v.home} ${d.home}`, (counts.get(`${v.home} ${d.home}`) ?? 0) + 1);
  }
  return performance.now() - began;
}

// Folding and layout, after runs that compile.
for (let i = 0; i < 3; i++) drawn(2000);
let laidOut; // milliseconds for 5,000 objects
for (const [size, goal] of [[5000, 60], [20_000, 250], [100_000, 1000]]) {
  const runs = Array.from({ length: size > 50_000 ? 3 : 7 }, () => drawn(size));
  laidOut ??= median(runs.map(({ took }) => took));
  say(`fold and lay out ${size.toLocaleString("en")} objects (of the processor's time)`, `${ms(median(runs.map(({ took }) => took)))} (${ms(median(runs.map(({ cpu }) => cpu)))})`,
    `${ms(median([1, 2, 3].map(() => walked(runs[0].model))))} (a walk over its references)`, `≤ ${goal} ms`);
}

// The same cards and lines of 5,000 objects by two libraries, where they are installed.
const { model } = drawn(5000);
const cards = [...model.places.values()].flatMap((place) => place.apps.flatMap((app) => app.cards));
const lines = [...model.places.values()].flatMap((place) => place.apps.flatMap((app) => app.lines));
const limit = 60_000;

// In a separate thread, so that a library that does not return can be stopped.
async function library(name, source) {
  const worker = new Worker(`const { parentPort, workerData: { cards, lines, packages } } = require("node:worker_threads");
    const tools = require("node:module").createRequire(packages);
    (async () => { ${source}; parentPort.postMessage("laid out"); })().catch((error) => parentPort.postMessage(error.code ?? error.message));`, {
    eval: true, workerData: { cards: cards.map(({ key }) => key), lines: lines.map(({ a, b }) => [a.key, b.key]), packages: path.join(libraries, "package.json") },
  });
  const began = performance.now();
  const answer = await new Promise((resolve) => {
    worker.once("message", resolve).once("error", (error) => resolve(error.message));
    setTimeout(() => resolve("not ended"), limit).unref();
  });
  const took = performance.now() - began;
  await worker.terminate();
  say(`the same ${cards.length.toLocaleString("en")} cards and ${lines.length.toLocaleString("en")} lines by ${name}`, "",
    answer === "laid out" ? `${ms(took)}, ${Math.round(took / laidOut)} ×` : answer === "not ended" ? `not within ${limit / 1000} s` : answer, name.startsWith("elkjs") ? "≥ 50 ×" : "");
}
await library(`elkjs ${versionOf("elkjs")} (layered)`, `await new (tools("elkjs/lib/elk.bundled.js"))().layout({ id: "root", layoutOptions: { "elk.algorithm": "layered" },
  children: cards.map((id) => ({ id, width: 208, height: 40 })), edges: lines.map(([a, b], i) => ({ id: "e" + i, sources: [a], targets: [b] })) })`);
await library(`dagre ${versionOf("@dagrejs/dagre")}`, `const dagre = tools("@dagrejs/dagre"); const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "LR" }).setDefaultEdgeLabel(() => ({}));
  for (const id of cards) graph.setNode(id, { width: 208, height: 40 });
  for (const [a, b] of lines) graph.setEdge(a, b);
  dagre.layout(graph)`);

// An hour at a hundred changes a second, as fast as they go: what the worker keeps, and
// what the page keeps of that. There are as many drawings as the page makes in that hour.
{
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const heap = () => {
    gc();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const bare = heap();
  const actions = cluster(5000);
  const [store, wire, scene] = [new Store(), new Wire(), new Scene()];
  store.apply(actions, { reset: true });
  const live = new Model(store, emptyFilters());
  const message = (rest) => JSON.parse(JSON.stringify({ whole: false, removed: [], cards: [], marks: [], stats: {}, ...rest }));
  live.update(0);
  scene.apply(message({ whole: true, places: wire.whole([...live.places.values()]) }), 0);
  const changes = endless(actions, { each: 16 });
  let spent = 0;
  const follow = async (count) => {
    for (let i = 0; i < count; i++) {
      await new Promise(setImmediate); // as messages come: what is garbage in one turn is kept until it ends
      const { value } = changes.next();
      const began = performance.now();
      store.apply(value, { at: 160 * i });
      const { places, removed, cards: restated } = live.update(0);
      wire.forget(removed);
      const sent = { removed, places: wire.differing(places), cards: wire.restated(restated) };
      spent += performance.now() - began;
      scene.apply(message(sent), 160 * i);
      scene.dirt(160 * i, true);
    }
  };
  const began = heap();
  await follow(1250); // what happened lately is kept, up to a bound, which is reached by now
  const before = heap();
  spent = 0;
  await follow(21_250);
  const after = heap();
  say("heap of 5,000 objects, worker's and page's, after garbage collection: at first, after 20,000 changes, after 360,000 (an hour at 100 a second)",
    `${(began - bare).toFixed(1)}, ${(before - bare).toFixed(1)}, ${(after - bare).toFixed(1)} MB`, "", `+ 5 %: ${((after / before - 1) * 100).toFixed(1)} %`);
  say("16 changes of 5,000 objects: folded, laid out and compared", ms(spent / 21_250), "", "");
}

// Pages of two libraries, with all that they need in one script each.
function bundle(dir) {
  for (const file of ["cytoscape.mjs", "xyflow.jsx"]) {
    const { status } = spawnSync("go", ["tool", "esbuild", path.join("test", "dashboard", "floor", file), "--bundle", "--minify", "--format=esm", "--jsx=automatic", '--define:process.env.NODE_ENV="production"',
      "--log-level=error", `--outfile=${path.join(dir, file.replace(/\..*/, ".js"))}`], { cwd: root, stdio: "inherit", env: { ...process.env, NODE_PATH: path.join(libraries, "node_modules") } });
    if (status !== 0) throw new Error(`${file} cannot be bundled`);
  }
}

const server = await replay(["5000", "20000", "100000", "5000-live"]);
bundle(server.dir);
const browser = await launch();

/** Pans for some frames; how long each took, and the main thread's share. */
async function frames(page, move, count = 90) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const tasks = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  const before = await tasks();
  const times = await page.evaluate(async ([source, wanted]) => {
    const step = new Function("i", source);
    const took = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < wanted; i++) {
      step(i);
      const now = await new Promise(requestAnimationFrame);
      took.push(now - last);
      last = now;
    }
    return took;
  }, [move, count]);
  return { p50: median(times), p95: quantile(times, 0.95), main: (await tasks() - before) / times.length };
}

// Notes in the page, as the floor does, when the frame after the one with all of it begins.
const noteDrawn = () => {
  const look = () => {
    const controller = document.querySelector("graph-view")?.controller;
    if (controller?.synced && controller.map.scene.places.size > 0) requestAnimationFrame(() => { globalThis.drawn = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

/** How many bytes an answer's body has, as it is sent to a browser. */
const packedSize = (url) => new Promise((resolve, reject) => {
  get(url, { headers: { "Accept-Encoding": "gzip" } }, async (response) => {
    let size = 0;
    for await (const piece of response) size += piece.length;
    resolve(size);
  }).once("error", reject);
});

const heapOf = (page) => page.evaluate(() => {
  globalThis.gc();
  return performance.memory.usedJSHeapSize / 1e6;
});

try {
  for (const size of ["5000", "20000", "100000"]) {
    const label = Number(size).toLocaleString("en");
    const [ours, floors] = [[], []];
    for (let i = 0; i < (size === "100000" ? 1 : 3); i++) {
      const page = await open(browser, server.url, size, { before: noteDrawn });
      await page.waitForFunction(() => globalThis.drawn);
      ours.push(await page.evaluate(() => globalThis.drawn));
      await page.close();
      const floor = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
      await floor.goto(`${server.url}/floor/#${size}`);
      await floor.waitForFunction(() => globalThis.done);
      floors.push(await floor.evaluate(() => globalThis.done));
      await floor.close();
    }
    say(`first complete drawing, ${label} objects`, ms(median(ours)), `${ms(median(floors))} (navigate, fetch, parse)`, `≤ ${size === "100000" ? "" : "1500 ms, "}3 × the floor: ${(median(ours) / median(floors)).toFixed(1)} ×`);
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
    await page.close();
  }
  for (const [size, goal] of [["5000", 30], ["20000", 100]]) {
    // Without a worker all of it is on one heap, which can be asked.
    const page = await open(browser, server.url, size, { before: () => { delete globalThis.Worker; } });
    await settled(page);
    say(`heap of the page and its worker after garbage collection, ${Number(size).toLocaleString("en")} objects`, `${(await heapOf(page)).toFixed(1)} MB`, "", `≤ ${goal} MB`);
    await page.close();
  }
  const floor = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await floor.goto(`${server.url}/floor/#5000`);
  await floor.waitForFunction(() => globalThis.done);
  const bare = await frames(floor, "globalThis.shift = i; draw()");
  say("a canvas with 500 rectangles: frame p50 / p95, main thread", "", `${ms(bare.p50)} / ${ms(bare.p95)}, ${ms(bare.main)}`, "");
  await floor.close();

  // All objects and references of the same graph by two libraries, on a grid.
  for (const [file, name] of [["cytoscape", `cytoscape ${versionOf("cytoscape")}`], ["xyflow", `React Flow ${versionOf("@xyflow/react")}`]]) {
    const other = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    other.setDefaultTimeout(60_000);
    other.on("pageerror", (error) => console.error(name, error));
    try {
      await other.goto(`${server.url}/floor/library.html#${file}/5000`);
      await other.waitForFunction(() => globalThis.done);
      say(`first drawing of the same 5,000 objects on a grid by ${name}`, "", ms(await other.evaluate(() => globalThis.done)), "");
      for (const level of ["all of it", "text (100 %)"]) {
        if (level !== "all of it") await other.evaluate(() => globalThis.near());
        const { p50, p95, main } = await frames(other, "move(i % 30 < 15 ? 6 : -6, i % 20 < 10 ? 3 : -3)", 20);
        say(`panning the same, ${level}, by ${name}: frame p50 / p95, main thread`, "", `${ms(p50)} / ${ms(p95)}, ${ms(main)}`, "");
      }
    } catch (error) {
      say(`first drawing of the same 5,000 objects on a grid by ${name}`, "", `not within 60 s (${error.name})`, "");
    }
    await other.close();
  }

  // All that is sent for the page, without the graph. The browser does not say how large a worker's script was, so each is asked for again.
  {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    const sent = [];
    page.on("requestfinished", (request) => { if (new URL(request.url()).pathname.startsWith("/dashboard/")) sent.push(request.url()); });
    await page.goto(`${server.url}/dashboard/#/sized/5000`);
    await page.waitForFunction(() => document.querySelector("graph-view")?.controller?.synced);
    await page.close();
    const sizes = await Promise.all([...new Set(sent)].map(packedSize));
    say("all that is sent for the page, gzip", `${(sizes.reduce((sum, size) => sum + size, 0) / 1e3).toFixed(1)} KB, ${sent.length} requests`, "", "≤ 70 KB, ≤ 25");
  }

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
  const heapBefore = await heapOf(page);
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
  await page.waitForFunction(() => globalThis.late.length > 0);
  await page.evaluate(() => { globalThis.late.length = globalThis.long.length = 0; });
  const [before, began] = [await tasks(), performance.now()];
  await page.waitForTimeout(20_000);
  const [share, cpu] = (await tasks()).map((value, i) => (value - before[i]) / ((performance.now() - began) / 1000));
  const late = await page.evaluate(() => globalThis.late);
  const long = await page.evaluate(() => globalThis.long);
  say("100 changes a second in 5,000 objects: the main thread's share, and of that the processor's time", `${(share * 100).toFixed(0)} %, ${(cpu * 100).toFixed(0)} %`, "", "≤ 15 %");
  say("from a change to its pixels: p50, p95", `${ms(median(late))}, ${ms(quantile(late, 0.95))}`, "", "p95 ≤ 250 ms");
  say("tasks over 50 ms in 20 s, longest", `${long.length}, ${ms(Math.max(0, ...long))}`, "", "none");
  say("heap of the page before and after", `${heapBefore.toFixed(1)} / ${(await heapOf(page)).toFixed(1)} MB`, "", "");
  // With the outline and the details open, so that rows come and go.
  await page.evaluate(async () => {
    const { controller } = document.querySelector("graph-view");
    controller.outline.toggle(true);
    await controller.problem(1);
  });
  const counted = async () => {
    await page.evaluate(() => globalThis.gc());
    return [await metric("Nodes"), await metric("JSEventListeners")];
  };
  await page.waitForTimeout(2000);
  const first = await counted();
  await page.waitForTimeout(10_000);
  const last = await counted();
  say("nodes and listeners with outline and details open, after 10 s of the same", `${first.join(", ")} → ${last.join(", ")}`, "", "none that stay");
  await page.close();
} finally {
  await browser.close();
  server.stop();
}

const table = ["| | here | beside it | goal |", "|---|---|---|---|", ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n");
const file = path.join(root, "docs", "measured", "dashboard.md");
const marked = /(<!-- measured:start -->\n)[^]*(<!-- measured:end -->)/;
writeFileSync(file, readFileSync(file, "utf8").replace(marked, (_, start, end) => `${start}\n${table}\n\n${end}`));
