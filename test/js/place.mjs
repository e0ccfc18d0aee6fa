// Where the tests run: what test/js started, and what hack/js-tools.sh installed.
import { createRequire } from "node:module";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { after } from "node:test";
import { pathToFileURL } from "node:url";

const need = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run make test-js`);
  return value;
};

export const url = need("GRAPHVIEW_URL");
export const token = need("GRAPHVIEW_TOKEN");
export const tools = need("GRAPHVIEW_TOOLS");

export const kubectl = need("GRAPHVIEW_KUBECTL");

/** The kubectl plugin. */
export const plugin = need("GRAPHVIEW_PLUGIN");

/** Where screenshots and drawings go, for people to look at. */
export const out = need("GRAPHVIEW_OUT");
mkdirSync(out, { recursive: true });

/** Packages that are CommonJS, or both. */
export const require = createRequire(path.join(tools, "package.json"));

/** Packages that are modules alone. */
export const load = (file) => import(pathToFileURL(path.join(tools, "node_modules", file)));

const { chromium } = require("playwright-core");

const executablePath = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim()).find(Boolean);

const patience = 180_000; // bounds what the browser may take on a busy machine

// The last --disable-features counts, so these are Playwright's, which keep Chromium from asking Google, and the two
// popups below the address: each window draws them in advance, which takes twice as long as our page.
const unwanted = [
  "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter",
  "PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch",
  "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",
];

// The browser of all tests: to start one takes as long as half of the tests do.
let started;
after(async () => (await started)?.close());

/**
 * The browser, whose contexts and pages end with the test. A context, and so a page that is not made in
 * one, has nothing remembered.
 */
export async function browser(t) {
  const args = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    `--disable-features=${unwanted}`];
  const running = await (started ??= chromium.launch({
    executablePath, headless: true, args, timeout: patience, chromiumSandbox: process.getuid() !== 0,
  }));
  const newContext = async (options) => {
    const context = await running.newContext(options);
    t.after(() => context.close());
    return context;
  };
  return { newContext, newPage: async (options) => (await newContext(options)).newPage() };
}

/**
 * Returns an empty page, and fails the test for what goes wrong in it. Asked is called with what it asks
 * for, other than by WebSocket.
 */
export async function blank(t, asked = () => {}) {
  const page = await (await browser(t)).newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(patience);
  page.on("request", (request) => asked(request.url()));
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error));
  t.after(() => { if (wrong.length > 0) throw wrong[0]; });
  return page;
}

/** Opens a page, by default of the front, as blank does. */
export async function open(t, at, asked) {
  const page = await blank(t, asked);
  await page.goto(new URL(at, url).href);
  return page;
}
