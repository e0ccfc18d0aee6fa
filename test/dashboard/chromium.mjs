// The browser and the replay that pictures and measurements are made with.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { cluster } from "./cluster.mjs";
import { changesOf, historyOf } from "./graphs.mjs";

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
export const tools = createRequire(path.join(root, "bin", ".js", "package.json"));

const executablePath = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim()).find(Boolean);

export const launch = () => tools("playwright-core").chromium.launch({
  executablePath, headless: true, timeout: 180_000, chromiumSandbox: process.getuid() !== 0,
  args: ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-precise-memory-info", "--js-flags=--expose-gc"],
});

/** Serves graphs of these sizes ("5000", with a history of 2,000 changes, or "5000-live" with changes); it returns where, and how to end it. */
export async function replay(sizes) {
  const dir = mkdtempSync(path.join(os.tmpdir(), "graphs-"));
  for (const size of sizes) {
    const actions = cluster(Number.parseInt(size, 10));
    writeFileSync(path.join(dir, `${size}.json`), JSON.stringify(actions));
    if (!size.endsWith("-live")) {
      const { history, past } = historyOf(actions);
      writeFileSync(path.join(dir, `${size}.history.json`), JSON.stringify(history));
      writeFileSync(path.join(dir, `${size}.past.json`), JSON.stringify(past));
    }
    if (size.endsWith("-live")) writeFileSync(path.join(dir, `${size}.changes.json`), JSON.stringify(changesOf(actions, { lists: 800 })));
  }
  const built = spawnSync("go", ["build", "-o", path.join(dir, "replay"), "./test/dashboard/replay"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error("replay does not compile");
  const server = spawn(path.join(dir, "replay"), ["-graphs", dir], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(String(text).trim()));
    server.once("exit", (code) => reject(new Error(`replay ended with ${code}`)));
  });
  return { url, dir, stop() {
    server.kill("SIGINT");
    rmSync(dir, { recursive: true, force: true });
  } };
}

/** Opens a graph in a page and waits until it is complete and drawn. Before is run in the page ahead of its scripts. */
export async function open(browser, url, size, { query = "", before, ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
  if (before) await page.addInitScript(before);
  page.setDefaultTimeout(180_000);
  page.on("pageerror", (error) => { throw error; });
  await page.goto(`${url}/dashboard/#/sized/${size}${query}`);
  await page.waitForFunction(() => document.querySelector("graph-view")?.controller?.synced);
  return page;
}

/** Waits until nothing moves: as many frames as one asks for are all the same. */
export const settled = (page) => page.waitForFunction(() => {
  const { map } = document.querySelector("graph-view").controller;
  const state = JSON.stringify([map.camera, map.frames]);
  const same = globalThis.lastState === state ? (globalThis.sameFor ?? 0) + 1 : 0;
  globalThis.lastState = state;
  globalThis.sameFor = same;
  return same > 20;
}, undefined, { polling: "raf" });
