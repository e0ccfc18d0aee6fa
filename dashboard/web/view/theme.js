// The painter's colours, read from the element's custom properties, so that a page
// can change them and forced colours are kept.
import { colours } from "./style.js";

/** Reads the theme of an element. */
export function readTheme(root) {
  const style = getComputedStyle(root);
  const theme = { forced: matchMedia("(forced-colors: active)").matches, font: style.fontFamily };
  for (const name of colours) theme[name] = style.getPropertyValue(`--${name}`).trim();
  return theme;
}

/** Calls back when the system's theme, contrast or wish for stillness changes. */
export function watchTheme(changed) {
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "(prefers-reduced-motion: reduce)"].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener("change", changed);
  return () => { for (const query of queries) query.removeEventListener("change", changed); };
}

export const wantsStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
