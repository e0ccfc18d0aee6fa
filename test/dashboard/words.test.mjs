// The texts of the page: reasons of a stream that is not live and of an unhealthy object, the
// permalink, YAML, and the contrast of all texts in both themes.
import assert from "node:assert/strict";
import test from "node:test";

import { counted, resource } from "../../dashboard/web/model/kinds.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Asking } from "../../dashboard/web/view/asking.js";
import { endOf } from "../../dashboard/web/view/ends.js";
import { Link } from "../../dashboard/web/link.js";
import { parseState, writeState } from "../../dashboard/web/view/permalink.js";
import { reasonsOf } from "../../dashboard/web/view/reasons.js";
import { selectionOf } from "../../dashboard/web/view/speaker.js";
import { palettes } from "../../dashboard/web/view/style.js";
import { toYAML } from "../../dashboard/web/view/yaml.js";

const ends = {
  "a view that is not there, when it is asked for": [{ code: 404, reason: "NotFound", message: "not found" }, "There is no such GraphView.", "Not found."],
  "a view that is not there, on a stream": [{ code: 1008, reason: "NotFound", message: "" }, "There is no such GraphView.", ""],
  "a spec that is not accepted": [{ code: 1008, reason: "Invalid", message: "spec.queries[0] is wrong" }, "The GraphView's spec is not accepted.", "Spec.queries[0] is wrong."],
  "a reader who is behind": [{ code: 1013, reason: "TooManyRequests", message: "more than 134217728 bytes wait; read faster, or end some streams" }, "Too much is open or unread.", "More than 134217728 bytes wait; read faster, or end some streams."],
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

test("kinds are known by the names of their resources", () => {
  const kinds = {
    pods: "Pod", endpoints: "Endpoints", ingresses: "Ingress", ingressclasses: "IngressClass", gateways: "Gateway", grpcroutes: "GRPCRoute", networkpolicies: "NetworkPolicy",
    limitranges: "LimitRange", storageclasses: "StorageClass", clusterissuers: "ClusterIssuer", clusterrolebindings: "ClusterRoleBinding", widgets: "Widgets",
  };
  for (const [name, kind] of Object.entries(kinds)) assert.equal(resource(name).kind, kind);
  assert.deepEqual(resource("services"), { short: "svc", role: "network", kind: "Service", rank: 0 });
  assert.deepEqual(resource("roles"), { short: "role", role: "identity", kind: "Role", rank: 6 });
  assert.deepEqual(["Pod", "Endpoints", "Ingress", "NetworkPolicy"].map((kind) => counted(2, kind)), ["2 Pods", "2 Endpoints", "2 Ingresses", "2 NetworkPolicies"]);
  assert.equal(counted(1, "Policy"), "1 Policy");
});

test("what was selected is said in one sentence", () => {
  const v = { kind: "Deployment", name: "cart", ns: "shop", present: true, health: "degraded", why: "CrashLoopBackOff", ready: [2, 3], uses: [1, 2, 3], usedBy: [1], box: "cart" };
  assert.equal(selectionOf(v), "Deployment cart, degraded, CrashLoopBackOff, 2 of 3 ready; refers to 3, referred to by 1; cart in shop");
  assert.equal(selectionOf({ ...v, kind: "ConfigMap", present: false, absent: "missing", why: "", ready: undefined, uses: [], box: "" }), "ConfigMap cart, missing; refers to 0, referred to by 1");
});

const luminance = (hex) => {
  const [r, g, b] = [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

// The painter's text colours and their backgrounds, which axe does not see.
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

const settled = () => new Promise((resolve) => { setImmediate(resolve); });
const says = (message) => ({ object: { status: { conditions: [{ type: "Ready", status: "False", message }] } } });

/** Asks an object whose answers are given one by one; its state is judged again whenever the panel would be filled. */
function asked(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const questions = [];
  const made = { questions, state: "degraded 0" };
  made.asking = new Asking(() => new Promise((resolve) => { questions.push(resolve); }), () => made.asking.judge(made.state));
  made.judge = (state) => made.asking.judge(made.state = state);
  made.answer = async (answer) => {
    questions.at(-1)(answer.object && reasonsOf(answer.object));
    await settled();
  };
  made.texts = () => made.asking.reasons.map(({ text }) => text);
  return made;
}

test("an object whose state changes on each drawing is asked one question at a time, and the next one seconds later", async (t) => {
  const { asking, judge, answer, questions, texts } = asked(t);
  for (let i = 0; i < 100; i++) judge(`degraded ${i}`);
  assert.equal(questions.length, 1, "while there is no answer");
  await answer(says("one"));
  for (let i = 100; i < 200; i++) judge(`degraded ${i}`);
  assert.deepEqual([questions.length, texts()], [1, ["one"]]);
  t.mock.timers.tick(5_000);
  assert.equal(questions.length, 2, "the last state is asked about, though nothing is drawn any more");
  await answer(says("two"));
  t.mock.timers.tick(60_000);
  assert.deepEqual([questions.length, texts()], [2, ["two"]], "and the same state only once");
  judge("");
  assert.deepEqual(texts(), []);
  judge("degraded 3");
  asking.forget();
  judge("degraded 1");
  assert.equal(questions.length, 4, "another object is asked at once");
});

test("what was not answered is asked again: when the stream is live again, or half a minute later", async (t) => {
  const { asking, judge, answer, questions, texts } = asked(t);
  judge("degraded 0");
  await answer({ error: "no network" });
  judge("degraded 0");
  assert.deepEqual([questions.length, texts()], [1, []]);
  asking.again();
  assert.equal(questions.length, 2);
  await answer({ error: "not yet" });
  t.mock.timers.tick(30_000);
  assert.equal(questions.length, 3);
  await answer(says("words"));
  asking.again();
  assert.deepEqual([questions.length, texts()], [3, ["words"]]);
});

const workers = {
  "that says something else first": (worker) => worker.onmessage({ data: JSON.stringify({ type: "hello" }) }),
  "that does not speak JSON": (worker) => worker.onmessage({ data: {} }),
  "that says nothing": (worker, t) => t.mock.timers.tick(15_000),
  "that fails": (worker) => worker.onerror(new Error("forbidden")),
};

for (const [name, happens] of Object.entries(workers)) {
  test(`in place of a worker ${name}, the engine works in the page`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const handled = [];
    const worker = { postMessage() {}, terminate() { worker.ended = true; } };
    const link = new Link({ worker: () => worker, engine: async () => ({ Engine: class { handle(message) { handled.push(message); } } }) });
    link.send({ do: "open" });
    happens(worker, t);
    await settled();
    assert.deepEqual([handled, worker.ended, link.threaded], [[{ do: "open" }], true, false]);
  });
}

test("a worker that is ready is spoken to", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sent = [];
  const worker = { postMessage: (message) => sent.push(message) };
  const link = new Link({ worker: () => worker, engine: () => assert.fail("no engine is needed") });
  link.send({ do: "open" });
  worker.onmessage({ data: JSON.stringify({ type: "ready" }) });
  await settled();
  t.mock.timers.tick(60_000);
  await settled();
  assert.deepEqual([sent, link.threaded], [[{ do: "open" }], true]);
});

test("what comes of a view before anybody listens is kept for them, unless they want another one", async () => {
  for (const [wanted, wantHeard, wantSent] of [["web", ["connecting", "live"], ["open web"]], ["other", ["live"], ["open web", "open other"]]]) {
    const sent = [];
    const worker = { postMessage: ({ options }) => sent.push(`open ${options.name}`) };
    const hear = (message) => worker.onmessage({ data: JSON.stringify(message) });
    const link = new Link({ worker: () => worker });
    link.begin({ name: "web" });
    hear({ type: "ready" });
    await settled();
    hear({ type: "status", status: "connecting" });
    const heard = [];
    link.addEventListener("status", ({ detail }) => heard.push(detail.status));
    link.open({ name: wanted, token: undefined });
    hear({ type: "status", status: "live" });
    assert.deepEqual([heard, sent], [wantHeard, wantSent]);
  }
});

test("a worker that is not ready yet when the element goes is ended, and nothing takes its place", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const worker = { postMessage() {}, terminate() { worker.ended = true; } };
  const link = new Link({ worker: () => worker, engine: () => assert.fail("no engine is needed") });
  link.stop();
  t.mock.timers.tick(60_000);
  await settled();
  assert.ok(worker.ended);
});

test("a permalink brings back what it was made of", () => {
  const filters = { ...emptyFilters(), kinds: ["Pod"], namespaces: ["a", "b"], problems: true, text: "is:degraded web" };
  const state = { ...parseState(""), selected: "apps/v1/deployments/shop/a&b=c#?", focus: { key: "x/y", depth: 3, up: true, down: false }, filters, search: "kind:secret é", toggled: new Map([["k", true], ["l", false]]), outline: true };
  const text = writeState(state, { x: 12, y: -3, k: 0.5 });
  assert.deepEqual(parseState(text), { ...state, view: { x: 12, y: -3, k: 0.5 } });
});

test("YAML that says what JSON says", () => {
  assert.equal(toYAML({ apiVersion: "v1", kind: "X", metadata: { name: "true", managedFields: [1] }, spec: { list: [{ a: 1, b: [] }, "x: y"], text: "a\nb\n", none: null } }),
    "apiVersion: v1\nkind: X\nmetadata:\n  name: \"true\"\nspec:\n  list:\n  - a: 1\n    b: []\n  - \"x: y\"\n  text: |\n    a\n    b\n  none: null");
});
