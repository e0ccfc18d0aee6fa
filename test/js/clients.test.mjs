// Three clients that were written from the documentation: a page, one of React, and
// one in Python, each in less than 60 lines.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import test from "node:test";

import { control, eventually, snapshot } from "./scenario.mjs";
import { open, out, token, tools, url } from "./place.mjs";

const root = path.join(import.meta.dirname, "..", "..");
const query = `namespace=busy&name=view#token=${token}`;
const wanted = () => snapshot({ base: url, namespace: "busy", name: "view", token });

/** Changes the graph, cuts all connections, and expects the client to have what there is each time. */
async function follows(said) {
  const same = () => eventually(async () => {
    const { vertices, arcs } = await wanted();
    const [got, want] = [await said(), [vertices.size, arcs.size]];
    return JSON.stringify(got) === JSON.stringify(want) ? "" : `${got}, want ${want}`;
  });
  await same();
  const name = `of-a-client-${Math.random().toString(36).slice(2)}`;
  await control(url, "kubectl", { args: ["create", "configmap", "-n", "busy", name] });
  await same();
  await control(url, "cut");
  await control(url, "change?n=5");
  await same();
}

const numbers = (text, pattern) => pattern.exec(text)?.slice(1).map(Number);

for (const file of ["test/js/clients/page.html", "test/js/clients/app.jsx", "docs/examples/follow.py"]) {
  test(`${file} has less than 60 lines`, () => {
    assert.ok(readFileSync(path.join(root, file), "utf8").split("\n").length <= 60);
  });
}

test("a page that was written from the documentation", async (t) => {
  const page = await open(t, `/files/test/js/clients/page.html?${query}`);
  await follows(async () => numbers(await page.textContent("#state"), /^(\d+) objects, (\d+) references/));
  await eventually(async () => { // controllers may still make objects
    const [items, { vertices }] = [await page.locator("#objects li").count(), await wanted()];
    return items === vertices.size ? "" : `${items} items, want ${vertices.size}`;
  });
});

test("a client in React that was written from the documentation", async (t) => {
  const bundle = path.join(out, "app.js");
  const client = path.join(root, "client", "js");
  const { status, stderr } = spawnSync("go", ["tool", "esbuild", path.join(root, "test", "js", "clients", "app.jsx"), "--bundle", "--format=iife", "--jsx=automatic",
    '--define:process.env.NODE_ENV="production"', "--log-level=warning", `--alias:graphview=${client}/graphview.js`,
    `--alias:graphview/store=${client}/store.js`, `--outfile=${bundle}`], { cwd: root, encoding: "utf8", env: { ...process.env, NODE_PATH: path.join(tools, "node_modules") } });
  assert.equal(status, 0, stderr);
  const page = await open(t, `/files/test/js/blank.html?${query}`);
  await page.evaluate(() => document.body.append(Object.assign(document.createElement("div"), { id: "root" })));
  await page.addScriptTag({ path: bundle });
  await page.waitForSelector("h1");
  await follows(async () => numbers(await page.textContent("h1"), /^(\d+) objects, (\d+) references/));
  assert.match(await page.textContent("ul"), /Deployment: \d+/);
});

test("a client in Python that was written from the documentation", async (t) => {
  const start = (...args) => {
    const said = { out: "", err: "" };
    const child = spawn("python3", [path.join(root, "docs", "examples", "follow.py"), ...args], { env: { ...process.env, TOKEN: token } });
    child.stdout.on("data", (data) => { said.out += data; });
    child.stderr.on("data", (data) => { said.err += data; });
    t.after(() => child.kill("SIGKILL"));
    return { said, ended: new Promise((resolve) => child.on("close", resolve)) };
  };
  const { said } = start(url, "busy", "view");
  await follows(async () => numbers(said.out.trimEnd().split("\n").at(-1), /^(\d+) vertices, (\d+) arcs/)).catch((error) => {
    throw new Error(`${error.message}\n${said.out}${said.err}`);
  });
  const unknown = start(url, "busy", "unknown");
  assert.equal(await unknown.ended, 1);
  assert.match(unknown.said.err, /404: .*not found/);
});

test("a client in Python continues by contents where its revision is unknown, as at another replica", async (t) => {
  let connections = 0;
  let leave;
  const front = createServer(async (request, response) => {
    const target = new URL(request.url, url);
    const first = ++connections === 1;
    if (!first) target.searchParams.set("since", "-");
    const abort = new AbortController();
    response.on("close", () => abort.abort());
    try {
      const { status, body } = await fetch(target, { headers: { Authorization: request.headers.authorization, Accept: "application/json" }, signal: abort.signal });
      response.writeHead(status);
      if (first) leave = () => response.destroy();
      for await (const part of body) response.write(part);
    } catch { /* the client left */ }
    response.end();
  });
  await new Promise((resolve) => front.listen(0, "127.0.0.1", resolve));
  t.after(() => { front.close(); front.closeAllConnections(); });
  const said = { out: "", err: "" };
  const child = spawn("python3", [path.join(root, "docs", "examples", "resume.py"), `http://127.0.0.1:${front.address().port}`, "busy", "view"], { env: { ...process.env, TOKEN: token } });
  child.stdout.on("data", (data) => {
    said.out += data;
    if (connections === 1 && /\d+ vertices, \d+ arcs/.test(said.out)) leave(); // the client has the graph
  });
  child.stderr.on("data", (data) => { said.err += data; });
  t.after(() => child.kill("SIGKILL"));
  await follows(async () => {
    if (!/reset: [1-9]\d* vertices are kept/.test(said.out)) return undefined;
    return numbers(said.out.trimEnd().split("\n").at(-1), /^(\d+) vertices, (\d+) arcs/);
  }).catch((error) => {
    throw new Error(`${error.message}\n${said.out}${said.err}`);
  });
});
