// Helpers for tests of the dashboard, which open it as a user does.
import assert from "node:assert/strict";

import { snapshot } from "./scenario.mjs";
import { blank, token, url } from "./place.mjs";

/** Opens the dashboard: it asks for a token, and draws. Options: dark, token, viewport, synced (false: whatever comes). */
export async function dashboard(t, view, options = {}) {
  const page = await blank(t);
  if (options.dark) await page.emulateMedia({ colorScheme: "dark" });
  if (options.viewport) await page.setViewportSize(options.viewport);
  const violations = [];
  await page.exposeFunction("violated", (what) => violations.push(what));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => globalThis.violated(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
  });
  const answer = await page.goto(new URL(`/dashboard/#/${view}`, url).href);
  assert.match(answer.headers()["content-security-policy"], /require-trusted-types-for 'script'/);
  await page.fill("input[type=password]", options.token ?? token);
  await page.click("form button");
  if (options.synced !== false) await page.waitForFunction(() => document.querySelector("graph-view")?.controller?.synced);
  t.after(() => assert.deepEqual(violations, [], "reports of the content security policy"));
  return page;
}

/** Asks the page's engine something. */
export const ask = (page, what, args) => page.evaluate(([w, a]) => document.querySelector("graph-view").controller.link.ask(w, a), [what, args]);

/** The healths of objects that are referred to and not there. */
const absent = new Set(["missing", "optional", "outside", "unseen"]);

/** Returns the differences between the page's objects and references and those of a get. */
export async function difference(page, namespace, name, secret = token) {
  const { vertices, arcs } = await snapshot({ base: url, namespace, name, token: secret });
  const [rows, stats] = [await ask(page, "table"), await page.evaluate(() => document.querySelector("graph-view").controller.map.scene.stats)];
  const want = [...vertices.values()].map(({ vx }) => `${vx.ns} ${vx.n}`).sort().join("\n");
  const got = rows.filter(([, , , health]) => !absent.has(health)).map(([, ns, n]) => `${ns} ${n}`).sort().join("\n");
  if (want !== got) return `objects ${got}, want ${want}`;
  const { account } = stats;
  const drawn = account.inside + account.hub + account.line + account.between;
  return stats.arcs === arcs.size && drawn === arcs.size ? "" : `${stats.arcs} references, ${drawn} of them drawn, want ${arcs.size}`;
}
