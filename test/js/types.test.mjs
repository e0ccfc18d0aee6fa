import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import * as client from "../../client/js/graphview.js";
import { require, tools } from "./place.mjs";

test("the page and the client have no type errors", () => {
  const { status, stdout } = spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", "../../dashboard/tsconfig.json"], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, ""]);
});

test("the client exports what its types say", () => {
  assert.deepEqual(Object.keys(client).sort(), [
    "Graph", "GraphView", "GraphViewError", "GraphViewEvent", "arcKey", "getChanges", "getGraph", "getImpact", "getObject", "healthAt", "listGraphs", "problems", "vertexKey", "warningKey",
  ]);
});

// What the tab of docs/clients.md takes from Backstage.
const backstage = `
declare module "@backstage/core-plugin-api" {
  export interface ApiRef<T> { T: T }
  export const discoveryApiRef: ApiRef<{ getBaseUrl(plugin: string): Promise<string> }>;
  export function useApi<T>(ref: ApiRef<T>): T;
}
declare module "@backstage/plugin-catalog-react" {
  export function MissingAnnotationEmptyState(props: { annotation: string }): import("react").JSX.Element;
  export function useEntity(): { entity: { metadata: { annotations?: Record<string, string> } } };
}
`;
const login = `import type { ApiRef } from "@backstage/core-plugin-api";
export declare const loginApiRef: ApiRef<{ getIdToken(): Promise<string> }>;
`;

test("the snippets of the README and of the portal, the tab of Backstage, and the element in JSX, compile under strict", (t) => {
  const folder = fileURLToPath(new URL("../../client/js/", import.meta.url));
  const dir = mkdtempSync(path.join(tmpdir(), "graphview-readme-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const readme = readFileSync(path.join(folder, "README.md"), "utf8");
  const snippets = [...readme.matchAll(/^```(?:js|ts|tsx)\n(.*?)^```/gms)].map(([, text]) => text);
  const portal = readFileSync(path.join(folder, "..", "..", "docs", "portal.md"), "utf8");
  snippets.push(...[...portal.matchAll(/^```tsx\n(.*?)^```/gms)].map(([, text]) => text));
  assert.ok(snippets.length >= 5, `${snippets.length} snippets`);
  const named = "declare const session: { token(): Promise<string> };\n"; // what a reader has
  snippets.forEach((text, i) => writeFileSync(path.join(dir, `snippet${i}.tsx`), `${named}${text}\nexport {};\n`));
  const [[, tab]] = [...readFileSync(path.join(folder, "..", "..", "docs", "clients.md"), "utf8").matchAll(/^```tsx\n(.*?)^```/gms)];
  writeFileSync(path.join(dir, "tab.tsx"), tab.replace("./login", "./login.js")); // as nodenext has it
  writeFileSync(path.join(dir, "login.ts"), login);
  writeFileSync(path.join(dir, "backstage.d.ts"), backstage);
  writeFileSync(path.join(dir, "usage.tsx"), readFileSync(new URL("usage.tsx", import.meta.url)));
  // As npm lays it out.
  mkdirSync(path.join(dir, "node_modules", "@types"), { recursive: true });
  cpSync(folder, path.join(dir, "node_modules", "graphview"), { recursive: true });
  for (const name of ["react", "@types/react"]) symlinkSync(path.join(tools, "node_modules", name), path.join(dir, "node_modules", name));
  const compilerOptions = { strict: true, noEmit: true, skipDefaultLibCheck: true, target: "es2022", module: "nodenext", jsx: "react-jsx", lib: ["es2022", "dom", "dom.iterable"], types: ["react"] };
  writeFileSync(path.join(dir, "package.json"), '{"private": true, "type": "module"}');
  writeFileSync(path.join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts", "*.tsx"] }));
  const { status, stdout } = spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", dir], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, ""]);
});
