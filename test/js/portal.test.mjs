// A portal whose users have tokens of a short life: <graph-view> asks for a token whenever one is
// needed, and goes on where it was. `make portal` runs it for an hour with tokens of a minute.
import assert from "node:assert/strict";
import { randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { difference } from "./dashboard.mjs";
import { open, token, url } from "./place.mjs";
import { control, eventually } from "./scenario.mjs";

const life = Number(process.env.GRAPHVIEW_PORTAL_TOKEN || 5) * 1000; // milliseconds of a token
const most = Number(process.env.GRAPHVIEW_PORTAL_MINUTES || 0) * 60_000; // milliseconds that it runs at least
const least = 2; // ends of streams that it sees at least

// The API server issues no token of less than ten minutes, so these are signed with its key. It takes
// a token for one minute after its end.
const leeway = 60_000;
const key = readFileSync(path.join(path.dirname(process.env.KUBECONFIG), "pki", "tokens.key"));
const [head, claims] = token.split(".").slice(0, 2).map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));

function issue(milliseconds) {
  const at = (time) => Math.ceil(time / 1000); // no earlier than the session believes
  const [from, exp] = [at(Date.now() - 2 * leeway), at(Date.now() + milliseconds - leeway)];
  const body = [head, { ...claims, iat: from, nbf: from, exp, jti: randomUUID() }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${body}.${sign("sha256", Buffer.from(body), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

/** A session of the portal's user: it has a token, and gets another one shortly before that expires, as OIDC libraries do. */
function session() {
  const told = { tokens: 0, questions: 0 };
  let current;
  let until = 0;
  return { told, token: () => {
    told.questions++;
    if (Date.now() > until - life / 10) {
      told.tokens++;
      [current, until] = [issue(life), Date.now() + life];
    }
    return current;
  } };
}

test("a portal whose tokens expire shows the graph on, and asks for a token when it needs one", async (t) => {
  const page = await open(t, "/dashboard/missing");
  const user = session();
  const counts = { connections: 0, requests: 0 };
  page.on("websocket", () => { counts.connections++; });
  await page.exposeFunction("session", user.token);
  await page.evaluate(async () => {
    await import("/dashboard/graph-view.js");
    const element = document.createElement("graph-view");
    element.token = () => globalThis.session();
    element.view = "busy/view";
    document.body.replaceChildren(element);
    globalThis.states = [];
    element.controller.link.addEventListener("status", ({ detail: { status } }) => {
      globalThis.states.push({ state: status.state, reason: status.reason, at: performance.now(), cards: element.controller.map.scene.cards.size });
    });
  });
  await page.waitForFunction(() => document.querySelector("graph-view").controller?.synced);
  const began = Date.now();
  let states;
  let lost;
  do {
    await control(url, "change?n=3");
    await eventually(() => difference(page, "busy", "view", issue(600_000)));
    // The details of an object, which the session may have a new token for. A token can end while it is on its way.
    await eventually(async () => {
      counts.requests++;
      const status = await page.evaluate(async () => (await document.querySelector("graph-view").controller.request("/object?version=v1&resource=configmaps&namespace=busy&name=app-01")).status);
      return status === 200 ? "" : `the details are answered with ${status}`;
    });
    states = await page.evaluate(() => globalThis.states);
    lost = states.filter(({ state }) => state === "reconnecting").length;
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
  } while (lost < least || Date.now() - began < most);
  assert.deepEqual(states.filter(({ state }) => state === "ended"), [], "the element gave up");
  const drawn = states.slice(states.findIndex(({ state }) => state === "live") + 1); // the first is told before it is drawn
  assert.deepEqual(drawn.filter(({ cards }) => cards === 0), [], "the drawing was emptied");
  assert.deepEqual([...new Set(drawn.filter(({ state }) => state === "reconnecting").map(({ reason }) => reason))], ["Unauthorized"]);
  const gaps = drawn.flatMap(({ state, at }, i) => (state === "reconnecting" && drawn[i + 1]?.state === "live" ? [drawn[i + 1].at - at] : [])).sort((a, b) => a - b);
  console.log(`portal: tokens of ${life / 1000} s for ${((Date.now() - began) / 60_000).toFixed(1)} min: ${user.told.tokens} tokens, ${user.told.questions} questions for a token, ` +
    `${counts.connections} connections, ${counts.requests} requests for details, ${lost} interruptions of ${gaps[gaps.length >> 1]?.toFixed(0)} ms (median), ${gaps.at(-1)?.toFixed(0)} ms (longest)`);
});
