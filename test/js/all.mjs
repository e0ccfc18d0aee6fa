// Runs the files of tests that are its arguments one after another in one process, so that they share a browser, and
// Playwright is loaded once: node all.mjs FILE…
import { pathToFileURL } from "node:url";

for (const file of process.argv.slice(2)) await import(pathToFileURL(file));
