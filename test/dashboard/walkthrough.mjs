// The pictures of docs/walkthrough.md, as a newcomer gets them: `make run`, a click
// on the address that it prints, and clicks on what is red. Where the address does not show
// it at first sight, or a click does not lead to the cause, this fails. Its first argument is where pictures go.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";

import { launch, root, settled } from "./chromium.mjs";

const out = process.argv[2] ?? path.join(root, "docs", "images");
const patience = 300_000;

// Its own group, so that what it starts hears of the end too.
const run = spawn("go", ["run", "./hack/run"], { cwd: root, stdio: ["ignore", "pipe", "inherit"], detached: true });
const ended = new Promise((resolve) => { run.once("exit", resolve); });

/** Waits for output of `make run` that matches a pattern. */
function printed(pattern) {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(new Error(`make run does not print ${pattern}: ${text}`)), patience);
    run.stdout.on("data", (part) => {
      text += part;
      const found = pattern.exec(text);
      if (!found) return;
      clearTimeout(timer);
      resolve(found);
    });
    run.once("exit", (code) => reject(new Error(`make run ended with ${code}: ${text}`)));
  });
}

const browser = await launch();
try {
  const [address, [, kubeconfig]] = await Promise.all([printed(/http:\/\/127\.0\.0\.1:\d+\S*/), printed(/export KUBECONFIG=(\S+)/)]);
  const kubectl = (...args) => new Promise((resolve, reject) => {
    const made = spawn(path.join(root, "bin", "controlplane", "kubectl"), args, { env: { ...process.env, KUBECONFIG: kubeconfig }, stdio: ["ignore", "ignore", "inherit"] });
    made.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`kubectl ${args.join(" ")}: ${code}`))));
  });
  const page = await browser.newPage({ viewport: { width: 1400, height: 820 } });
  page.setDefaultTimeout(patience);
  await page.goto(address[0]);
  const element = page.locator("graph-view");
  const state = (what) => page.evaluate(`(() => { const c = document.querySelector("graph-view").controller; return ${what}; })()`);
  await page.waitForFunction(() => document.querySelector("graph-view")?.controller?.synced);
  await page.waitForFunction(() => [...document.querySelector("graph-view").controller.map.scene.cards.values()].some(({ card }) => card.missing && card.name === "worker"));
  await settled(page);
  await page.screenshot({ path: path.join(out, "walkthrough-map.png") });
  // A click on the card that is red and dashed says who wants it.
  const at = await state(`(() => { const r = c.map.scene.rect([...c.map.scene.cards.values()].find(({ card }) => card.missing && card.name === "worker").card.key); const b = c.map.element.getBoundingClientRect(); const [x, y] = c.map.camera.toScreen(r.x + r.w / 2, r.y + r.h / 2); return { x: b.left + x, y: b.top + y }; })()`);
  await page.mouse.click(at.x, at.y);
  const panel = element.locator("aside.panel");
  await panel.waitFor();
  await panel.locator("text=StatefulSet").first().waitFor();
  assert.match(await panel.textContent(), /ConfigMap.*worker.*missing/s);
  await settled(page);
  await page.screenshot({ path: path.join(out, "walkthrough-missing.png") });
  // And the other way round: the pod that does not start says what it lacks.
  await panel.locator("button:has-text('worker-0')").first().click();
  await panel.locator("text=which is not there").waitFor();
  await settled(page);
  await page.screenshot({ path: path.join(out, "walkthrough-pod.png") });
  // Put it back: what was red is calm.
  await kubectl("-n", "shop", "create", "configmap", "worker", "--from-literal=a=b");
  await page.waitForFunction(() => ![...document.querySelector("graph-view").controller.map.scene.cards.values()].some(({ card }) => card.missing && card.name === "worker"));
  await element.locator("aside.panel:not(:has-text('which is not there'))").waitFor();
} finally {
  await browser.close();
  if (run.exitCode === null) process.kill(-run.pid, "SIGINT");
  await ended;
}
