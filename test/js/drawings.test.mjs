import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { vertexKey } from "../../client/js/graphview.js";
import { snapshot } from "./scenario.mjs";
import { load, open, out, require, token, url } from "./place.mjs";

async function text(format, name = "view") {
  const response = await fetch(`${url}/apis/stream.graphview.dev/v1alpha1/namespaces/large/graphs/${name}?format=${format}`,
    { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(response.status, 200);
  return response.text();
}

// Returns the expected content of a drawing: every vertex, also missing ones, and a line for
// every arc.
async function expected(name = "view", least = 300) {
  const { vertices, arcs } = await snapshot({ base: url, namespace: "large", name, token });
  const keys = new Map([...vertices].map(([key, { vx }]) => [key, vx]));
  for (const { d } of arcs.values()) keys.set(vertexKey(d), d);
  assert.ok(vertices.size >= least && keys.size > vertices.size, `${vertices.size} vertices, ${keys.size} with missing ones`);
  // Spaces are as good as one.
  const labels = [...keys.values()].map((key) => [plain(key.n), key.g ? `${key.r}.${key.g}` : key.r].join(" ")).sort();
  return { labels, missing: keys.size - vertices.size, arcs: arcs.size };
}

// Without what cannot be seen.
const plain = (text) => text.replaceAll("\u2060", "").replaceAll(/[\s\u00a0]+/g, " ").trim();

const save = (name, content) => writeFileSync(path.join(out, name), content);

// Reads the drawing that the browser shows: the text of each node, and how many
// arcs there are.
const read = (page, nodes, text, arcs) => page.evaluate(([nodes, text, arcs]) => {
  for (const line of document.querySelectorAll("br")) line.replaceWith(" ");
  return {
    labels: [...document.querySelectorAll(nodes)].map((node) => [...node.querySelectorAll(text)].map((part) => part.textContent).join(" ")),
    arcs: document.querySelectorAll(arcs).length,
  };
}, [nodes, text, arcs]);

test("Graphviz draws every vertex and arc", async (t) => {
  const want = await expected();
  const dot = await text("dot");
  save("large.dot", dot);
  const { instance } = require("@viz-js/viz");
  const { status, output, errors } = (await instance()).render(dot, { format: "svg" });
  // It has no fonts, and says so where it has to guess.
  assert.deepEqual([status, errors.filter(({ message }) => !message.startsWith("Warning: no value for width"))], ["success", []]);
  save("large.dot.svg", output);
  const page = await open(t, "/files/test/js/blank.html");
  await page.evaluate((svg) => { document.body.innerHTML = svg.slice(svg.indexOf("<svg")); }, output);
  await page.screenshot({ path: path.join(out, "large.dot.png") });
  const got = await read(page, "g.node", "text", "g.edge");
  assert.deepEqual(got.labels.map(plain).sort(), want.labels);
  assert.equal(got.arcs, want.arcs);
  t.diagnostic(`${got.labels.length} vertices, ${got.arcs} arcs`);
});

test("Mermaid draws every vertex and arc", async (t) => {
  // Of 300 vertices Mermaid takes ten seconds to find places.
  const want = await expected("part", 100);
  const mermaid = await text("mermaid", "part");
  save("large.mermaid", mermaid);
  const page = await open(t, "/files/test/js/blank.html");
  await page.addScriptTag({ url: "/tools/mermaid/dist/mermaid.min.js" });
  await page.evaluate(async (mermaid) => {
    globalThis.mermaid.initialize({ startOnLoad: false, securityLevel: "strict", maxEdges: 10_000, maxTextSize: 1_000_000 });
    const { svg } = await globalThis.mermaid.render("drawing", mermaid);
    document.body.innerHTML = svg;
  }, mermaid);
  save("large.mermaid.svg", await page.evaluate(() => document.querySelector("svg").outerHTML));
  await page.screenshot({ path: path.join(out, "large.mermaid.png") });
  const got = await read(page, "g.node", ".nodeLabel", "path.flowchart-link");
  assert.deepEqual(got.labels.map(plain).sort(), want.labels);
  assert.equal(got.arcs, want.arcs);
  assert.equal(await page.evaluate(() => document.querySelectorAll("g.node.missing").length), want.missing);
  t.diagnostic(`${got.labels.length} vertices, ${got.arcs} arcs`);
});

test("GraphML is XML with every vertex and arc", async (t) => {
  const want = await expected();
  const page = await open(t, "/files/test/js/blank.html");
  const got = await page.evaluate((text) => {
    const document = new DOMParser().parseFromString(text, "application/xml");
    const data = (node, key) => node.querySelector(`data[key=${key}]`)?.textContent ?? "";
    return {
      broken: document.querySelector("parsererror")?.textContent,
      labels: [...document.querySelectorAll("node")].map((node) =>
        `${data(node, "name")} ${data(node, "resource")}${data(node, "group") && `.${data(node, "group")}`}`),
      arcs: document.querySelectorAll("edge").length,
    };
  }, await text("graphml"));
  assert.equal(got.broken, undefined);
  assert.deepEqual(got.labels.map(plain).sort(), want.labels);
  assert.equal(got.arcs, want.arcs);
});

test("the OpenAPI document is one", async () => {
  const { Validator } = await load("@seriousme/openapi-schema-validator/index.js");
  const response = await fetch(`${url}/openapi/v3/apis/stream.graphview.dev/v1alpha1`, { headers: { Authorization: `Bearer ${token}` } });
  const { valid, errors } = await new Validator().validate(await response.json());
  assert.deepEqual([valid, errors], [true, undefined]);
});
