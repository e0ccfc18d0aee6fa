// What the page says: why a stream is not live, why an object is not well, what was
// selected, and that all of it can be read in both themes.
import assert from "node:assert/strict";
import test from "node:test";

import { endOf } from "../../dashboard/web/view/ends.js";
import { reasonsOf } from "../../dashboard/web/view/reasons.js";
import { selectionOf } from "../../dashboard/web/view/speaker.js";
import { palettes } from "../../dashboard/web/view/style.js";

const ends = {
  "a view that is not there, when it is asked for": [{ code: 404, reason: "NotFound", message: "not found" }, "There is no such GraphView.", "Not found."],
  "a view that is not there, on a stream": [{ code: 1008, reason: "NotFound", message: "" }, "There is no such GraphView.", ""],
  "a spec that is not accepted": [{ code: 1008, reason: "Invalid", message: "spec.queries[0] is wrong" }, "The GraphView's spec is not accepted.", "Spec.queries[0] is wrong."],
  "a view that is too large": [{ code: 1013, reason: "LimitExceeded", message: "more than 200000 vertices" }, "The view exceeds a limit.", "More than 200000 vertices."],
  "a right that is missing, by its code alone": [{ code: 403, message: "no." }, "You may not watch this graph.", "No."],
  "a connection that was cut": [{ code: 1006, reason: "", message: "the connection was lost" }, "The connection was lost.", ""],
  "a server that has failed": [{ code: 1011, reason: "", message: "internal error" }, "The connection was lost.", "Internal error."],
};

for (const [name, [status, wantTitle, wantMessage]] of Object.entries(ends)) {
  test(`what is said of ${name}`, () => {
    const { title, message } = endOf(status);
    assert.deepEqual([title, message], [wantTitle, wantMessage]);
  });
}

const waiting = { name: "web", state: { waiting: { reason: "CreateContainerConfigError", message: 'configmap "web" not found' } } };
const statuses = {
  "a container that waits": [{ containerStatuses: [waiting] }, ['container web: CreateContainerConfigError: configmap "web" not found']],
  "a container that has ended, and will again": [
    { containerStatuses: [{ name: "web", state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } }] },
    ["container web: CrashLoopBackOff", "container web before: OOMKilled: exit code 137"],
  ],
  "a container that has ended well": [{ initContainerStatuses: [{ name: "init", state: { terminated: { exitCode: 0, reason: "Completed" } } }] }, []],
  "conditions, good and bad, and one said twice": [
    { conditions: [{ type: "Ready", status: "False", message: "web is not ready" }, { type: "ContainersReady", status: "False", message: "web is not ready" }, { type: "Initialized", status: "True", message: "all is well" },
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "quota" }, { type: "Stalled", status: "False", message: "it moves" }, { type: "Synced", status: "Unknown", message: "who knows" }] },
    ["Ready: web is not ready", "ReplicaFailure: FailedCreate: quota", "Synced: who knows"],
  ],
  "what no kind has": [{ conditions: { type: "Ready" }, containerStatuses: [null, 1, { name: {}, state: { waiting: { reason: {}, message: ["x"] } } }] }, []],
  "a message without end": [{ conditions: [{ type: "Ready", status: "False", message: "x".repeat(5000) }] }, [`Ready: ${"x".repeat(600)}…`]],
};

for (const [name, [status, want]] of Object.entries(statuses)) {
  test(`why it is not well: ${name}`, () => {
    assert.deepEqual(reasonsOf({ status }).map(({ about, text }) => `${about}: ${text}`), want);
  });
}

test("what was selected is said in one sentence", () => {
  const v = { kind: "Deployment", name: "cart", ns: "shop", present: true, health: "degraded", why: "CrashLoopBackOff", ready: [2, 3], uses: [1, 2, 3], usedBy: [1], box: "cart" };
  assert.equal(selectionOf(v), "Deployment cart, degraded, CrashLoopBackOff, 2 of 3 ready; uses 3, used by 1; cart in shop");
  assert.equal(selectionOf({ ...v, kind: "ConfigMap", present: false, absent: "missing", why: "", ready: undefined, uses: [], box: "" }), "ConfigMap cart, missing; uses 0, used by 1");
});

const luminance = (hex) => {
  const [r, g, b] = [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

// Of the painter, which axe does not see: what is written, and on what.
const written = {
  text: ["bg", "place", "box", "card", "surface", "bad-soft", "warn-soft", "accent-soft", "lit", "hover"], soft: ["bg", "place", "box", "card", "surface", "hover", "accent-soft"],
  bad: ["place", "box", "card", "surface", "bad-soft"], warn: ["place", "box", "card", "surface", "warn-soft"], accent: ["box", "surface"], idle: ["card", "idle-soft"],
  bg: ["bad", "warn"], // names of what is broken, from afar
  ...Object.fromEntries(["network", "policy", "workload", "other", "config", "storage", "identity"].map((role) => [role, ["card", "surface"]])),
};

for (const [theme, palette] of Object.entries(palettes)) {
  test(`what is written can be read on what is behind it, ${theme}`, () => {
    const faint = Object.entries(written).flatMap(([ink, grounds]) => grounds.map((ground) => [ink, ground, contrast(palette[ink], palette[ground])])).filter(([, , ratio]) => ratio < 4.5);
    assert.deepEqual(faint, []);
  });
}
