// What axe finds in a page.
import { readFileSync } from "node:fs";

import { require } from "./place.mjs";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const rules = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];

/** The rules about colours. */
export const ofColours = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** Returns the findings of axe in a page, as texts. */
export async function findings(page, runOnly = rules) {
  if (!await page.evaluate(() => Boolean(globalThis.axe))) await page.evaluate(axe);
  // All that a page passes would be ten times as much as the page, and is not brought here.
  const violations = await page.evaluate(async (only) => (await globalThis.axe.run(document, { runOnly: only, resultTypes: ["violations"] })).violations, runOnly);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).slice(0, 3).join("; ")}`);
}
