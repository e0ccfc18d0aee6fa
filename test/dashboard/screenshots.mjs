// Makes the pictures of docs/images: make screenshots. Graphs are those of the
// generator, and so the same each time.
import { mkdirSync } from "node:fs";
import path from "node:path";

import { launch, open, replay, root, settled } from "./chromium.mjs";

const out = process.argv[2] ?? path.join(root, "docs", "images");
mkdirSync(out, { recursive: true });

// The controller of the page, in which each picture is set up.
const act = (page, what) => page.evaluate(`(async () => { const c = document.querySelector("graph-view").controller; ${what} })()`);
const broken = `const causes = await c.link.ask("problems");
  const followers = (await Promise.all(causes.map(({ key }) => c.link.ask("details", { key })))).flatMap(({ stops }) => stops);
  const bad = [...followers, ...causes].find((v) => v.kind === "Deployment" || v.kind === "StatefulSet");`;
// The details take their room from the map.
const shown = `for (let i = 0; c.details.element.hidden || i < 10; i++) await new Promise(requestAnimationFrame);`;

const pictures = {
  "dashboard": { size: "500", viewport: { width: 1360, height: 820 }, act: `${broken} await c.select(bad.key); ${shown} const r = c.map.scene.cards.get(c.map.selected); c.map.view(c.map.camera.fitting({ x: r.place.x + r.app.x - 30, y: r.place.y + r.app.y - 80, w: r.app.w + 270, h: r.app.h + 250 }, 6, 1));` },
  "dashboard-50": { size: "50" },
  "dashboard-500": { size: "500" },
  "dashboard-5000": { size: "5000", act: `c.filter({ problems: false });` },
  "dashboard-5000-dark": { size: "5000", dark: true, act: `c.filter({ problems: false });` },
  "dashboard-500-dark": { size: "500", dark: true, act: `const p = [...c.map.scene.places.values()].find((x) => x.name === "shop"); c.map.view(c.map.camera.fitting(p, 30, 1));` },
  "dashboard-past": { size: "500", viewport: { width: 1360, height: 820 }, act: `const { entries } = c.timeline.history; c.showAt(entries.filter(({ change }) => change.type === "content").at(-12).at); for (let i = 0; !c.past || i < 30; i++) await new Promise(requestAnimationFrame);` },
  "dashboard-focus": { size: "500", act: `${broken} await c.select(bad.key); c.focus({ key: bad.key, depth: 2, up: true, down: true });` },
  "dashboard-outline": { size: "5000", act: `c.filter({ problems: false }); ${broken} c.outline.toggle(true); await c.select(bad.key, { reveal: true });` },
  "dashboard-problems": { size: "5000" },
};

const wanted = process.argv.slice(3);
const server = await replay([...new Set(Object.values(pictures).map(({ size }) => size))]);
const browser = await launch();
try {
  for (const [name, picture] of Object.entries(pictures)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const page = await open(browser, server.url, picture.size, { colorScheme: picture.dark ? "dark" : "light", ...(picture.viewport ? { viewport: picture.viewport } : {}) });
    await page.waitForFunction(() => document.querySelector("graph-view").controller.timeline?.history.on);
    await settled(page);
    if (picture.act) {
      await act(page, picture.act);
      await page.waitForTimeout(300); // what the panel asks comes from the worker
      await settled(page);
    }
    await page.screenshot({ path: path.join(out, `${name}.png`) });
    console.log(name, JSON.stringify(await page.evaluate(() => document.querySelector("graph-view").controller.map.painted)));
    await page.close();
  }
} finally {
  await browser.close();
  server.stop();
}
