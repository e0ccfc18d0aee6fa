// The first picture: a person's applications first, what is wrong once, and the rest in a line.
import assert from "node:assert/strict";
import test from "node:test";

import { Answers } from "../../dashboard/web/model/answers.js";
import { readyOf } from "../../dashboard/web/model/card.js";
import { Model } from "../../dashboard/web/model/model.js";
import { natural } from "../../dashboard/web/model/natural.js";
import { restKey } from "../../dashboard/web/model/rest.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { Store } from "../../dashboard/web/model/store.js";

const groups = { deployments: "apps", horizontalpodautoscalers: "autoscaling", roles: "rbac.authorization.k8s.io", rolebindings: "rbac.authorization.k8s.io" };
const key = (r, ns, n) => ({ g: groups[r] ?? "", v: "v1", r, ...(ns ? { ns } : {}), n });
const kinds = { deployments: "Deployment", services: "Service", configmaps: "ConfigMap", serviceaccounts: "ServiceAccount", roles: "Role", rolebindings: "RoleBinding", horizontalpodautoscalers: "HorizontalPodAutoscaler", nodes: "Node" };
const put = (vx, m = {}) => ({ svx: { vx, m: { k: kinds[vx.r], h: "ok", ...m } } });
const refer = (s, d, a = {}) => ({ sarc: { s, d, t: "r", a: { f: ["spec.x"], w: ["uses"], ...a } } });

function drawn(actions, filters = {}) {
  const store = new Store();
  store.apply(actions, { reset: true, at: 1 });
  const model = new Model(store, { ...emptyFilters(), ...filters });
  model.update(1);
  return { store, model, boxes: (ns) => (model.places.get(ns)?.apps ?? []).map(({ title }) => title).sort() };
}

// A namespace with two workloads that share a Secret, a role and its binding, and what nothing refers to.
function shop({ app = "shop" } = {}) {
  const actions = [put(key("configmaps", "shop", "shared"), { app }), put(key("configmaps", "shop", "alone"), { app })];
  for (const n of ["web", "worker"]) {
    actions.push(put(key("deployments", "shop", n), { app }), put(key("services", "shop", n), { app }),
      refer(key("services", "shop", n), key("deployments", "shop", n)), refer(key("deployments", "shop", n), key("configmaps", "shop", "shared")));
  }
  actions.push(put(key("roles", "shop", "viewer")), put(key("rolebindings", "shop", "viewer")), refer(key("rolebindings", "shop", "viewer"), key("roles", "shop", "viewer")));
  for (const n of ["admin", "edit"]) actions.push(put(key("roles", "kube-system", n)));
  return [...actions, put(key("nodes", "", "one"))];
}

test("each workload has a box with its name, and all else is one card at the end", () => {
  const { model, boxes } = drawn(shop());
  assert.deepEqual(boxes("shop"), ["3 other objects", "web", "worker"]);
  assert.deepEqual([boxes("kube-system"), boxes("")], [["2 objects"], ["1 object"]]);
  const rest = model.card(restKey("shop"));
  assert.equal(rest.state, "ConfigMap alone, Role viewer, RoleBinding viewer");
  const { apps } = model.places.get("shop");
  for (const app of apps) if (app !== rest.app) assert.ok(app.y < rest.app.y, `${app.title} is above the rest`);
  assert.ok(model.places.get("shop").y < Math.min(model.places.get("kube-system").y, model.places.get("").y));
});

test("a label that divides a namespace makes boxes, and one that is on everything does not", () => {
  assert.deepEqual(drawn(shop({ app: "" })).boxes("shop"), ["3 other objects", "web", "worker"]);
  const others = ["api", "db", "queue", "cron", "mail", "cache"].map((n) => put(key("deployments", "shop", n), { app: n }));
  assert.deepEqual(drawn([...shop(), ...others]).boxes("shop"), ["2 other objects", "api", "cache", "cron", "db", "mail", "queue", "shop"]);
});

test("the rest opens, and is not folded where a filter chose it or where there is nothing else", () => {
  const { model, boxes } = drawn(shop());
  model.open(restKey("shop"), true);
  model.invalidate();
  model.update(1);
  assert.deepEqual(boxes("shop"), ["no references", "viewer", "web", "worker"]);
  assert.deepEqual(drawn(shop(), { kinds: ["Role"] }).boxes("shop"), ["no references"]);
  assert.deepEqual(drawn(shop().filter(({ svx, sarc }) => (svx?.vx ?? sarc.s).r.startsWith("role"))).boxes("shop"), ["viewer"]);
});

test("a Deployment that is opened stays in one box with its Pods, also if these alone have a label", () => {
  const [pod, web] = [key("pods", "shop", "web-1"), key("deployments", "shop", "web")];
  const actions = [...shop({ app: "" }), put(pod, { k: "Pod", app: "web" }), { sarc: { s: pod, d: web, t: "or", a: { c: true } } }];
  const { model, boxes } = drawn(actions);
  const before = boxes("shop");
  model.open("apps/v1/deployments/shop/web", true);
  model.invalidate();
  model.update(1);
  assert.deepEqual(boxes("shop"), before);
  assert.equal(model.card("/v1/pods/shop/web-1").app, model.card("apps/v1/deployments/shop/web").app);
});

test("what is not well leaves the rest, and comes back to it", () => {
  const { store, model, boxes } = drawn(shop());
  for (const [h, want] of [["degraded", ["2 other objects", "no references", "web", "worker"]], ["ok", ["3 other objects", "web", "worker"]]]) {
    store.apply([put(key("configmaps", "shop", "alone"), { h, app: "shop" })], { at: 2 });
    model.update(2);
    assert.deepEqual(boxes("shop"), want);
  }
});

test("a box says its name and then the cause, and everything that follows from it is one problem", () => {
  const missing = refer(key("deployments", "shop", "worker"), key("configmaps", "shop", "flags"), { e: true });
  const { store, model } = drawn([...shop(), put(key("deployments", "shop", "worker"), { h: "degraded", w: "ProgressDeadlineExceeded", app: "shop" }),
    put(key("services", "shop", "worker"), { h: "degraded", w: "NoEndpoints", app: "shop" }), missing]);
  const app = model.places.get("shop").apps.find(({ title }) => title === "worker");
  assert.deepEqual([app.title, app.why, app.problems, model.causes.list.length], ["worker", "ConfigMap flags is missing", 1, 1]);
  const answers = new Answers(store, model);
  const names = (list) => list.map(({ kind, name }) => `${kind} ${name}`);
  assert.deepEqual(names(answers.problems()), ["ConfigMap flags"]);
  const about = (r, n) => answers.details({ key: `${groups[r] ?? ""}/v1/${r}/shop/${n}` });
  assert.deepEqual(names(about("configmaps", "flags").stops), ["Deployment worker", "Service worker"]);
  assert.deepEqual(names(about("services", "worker").causes), ["ConfigMap flags"]);
});

test("autoscalers that all lack metrics are one problem, and make no box red", () => {
  const scalers = ["web", "worker"].flatMap((n) => [put(key("horizontalpodautoscalers", "shop", n), { h: "degraded", w: "FailedGetResourceMetric" }),
    refer(key("horizontalpodautoscalers", "shop", n), key("deployments", "shop", n))]);
  const { model, boxes } = drawn([...shop(), ...scalers]);
  assert.equal(model.causes.list.length, 1);
  assert.ok(model.causes.shared);
  assert.deepEqual(model.places.get("shop").apps.map(({ problems }) => problems), model.places.get("shop").apps.map(() => 0));
  assert.ok(boxes("shop").includes("web"));
});

test("a filter for problems leaves the names of boxes", () => {
  const broken = [...shop(), put(key("deployments", "shop", "worker"), { h: "degraded", w: "CrashLoopBackOff", app: "shop" })];
  assert.deepEqual(drawn(broken, { problems: true }).boxes("shop"), ["worker"]);
});

test("names are in natural order", () => {
  const names = ["team-10", "team-2", "team-1", "a10b2", "a10b10", "a9", "", "Zoo", "shop"];
  assert.deepEqual([...names].sort(natural), ["", "Zoo", "a9", "a10b2", "a10b10", "shop", "team-1", "team-2", "team-10"]);
  for (const a of names) for (const b of names) assert.equal(Math.sign(natural(a, b)) + Math.sign(natural(b, a)), 0);
});

test("a budget says how many it needs", () => {
  assert.deepEqual([readyOf({ r: "poddisruptionbudgets", rd: [2, 1] }), readyOf({ r: "deployments", rd: [1, 2] }), readyOf({ r: "pods" })], ["2 healthy, 1 needed", "1 of 2 ready", ""]);
});
