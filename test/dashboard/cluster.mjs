// Generates graphs like those of real clusters, as the actions of a stream with
// content=summary. They have owners, selectors, hubs that many objects use, and some
// missing or degraded objects. Equal seeds give equal graphs.

const words = ("cart checkout catalog search payment order user auth invoice shipping stock price media image review rank mail hook sync " +
  "gateway audit report label token quota geo event feed batch score session profile coupon refund").split(" ");
const suffixes = ["", "", "-api", "-worker", "-db", "-cache", "-web"];

/** A generator of numbers in [0, 1): mulberry32. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const groups = {
  deployments: "apps", replicasets: "apps", statefulsets: "apps", daemonsets: "apps", ingresses: "networking.k8s.io", networkpolicies: "networking.k8s.io",
  horizontalpodautoscalers: "autoscaling", poddisruptionbudgets: "policy", endpointslices: "discovery.k8s.io", roles: "rbac.authorization.k8s.io",
  rolebindings: "rbac.authorization.k8s.io", cronjobs: "batch", jobs: "batch", kustomizations: "kustomize.toolkit.fluxcd.io", certificates: "cert-manager.io",
};

// The operator's words for references, by field.
const meanings = [["volumes[]", "mounts"], ["envFrom[]", "reads env of"], ["secretKeyRef", "reads"], ["serviceAccountName", "runs as"], ["imagePullSecrets", "pulls images with"],
  ["scaleTargetRef", "scales"], ["inventory", "installs"], ["targetRef", "leads to"], ["roleRef", "grants"], ["subjects", "binds"], ["backend", "routes to"], ["spec.tls", "serves with"],
  ["spec.secretName", "issues"], ["volumeName", "is bound to"], ["claimRef", "is bound to"], ["serviceName", "is named by"], ["env[].value", "calls"]];
const meaning = (field, s) => (field === "spec.selector" ? { poddisruptionbudgets: "protects", networkpolicies: "restricts" }[s.r] ?? "selects" : meanings.find(([part]) => field.includes(part))?.[1] ?? "uses");

/** Actions for a cluster of about so many vertices. */
export function cluster(vertices, { seed = 1, broken = 0.06 } = {}) {
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const chance = (p) => next() < p;
  const between = (a, b) => a + Math.floor(next() * (b - a + 1));
  const hash = (n) => Array.from({ length: n }, () => "bcdfghjklmnpqrstvwxz2456789"[Math.floor(next() * 27)]).join("");
  const actions = [];
  let made = 0;
  const now = 1_790_000_000;
  const put = (r, ns, n, kind, m = {}) => {
    const vx = { g: groups[r] ?? "", v: "v1", r, ...(ns ? { ns } : {}), n };
    actions.push({ svx: { vx, m: { k: kind, t: now - between(60, 900_000), u: hash(12), ...m } } });
    made++;
    return vx;
  };
  const arcs = [];
  const arc = (s, d, t, f) => arcs.push({ sarc: { s, d, t, ...(t === "or" ? { a: { c: true } } : f ? { a: { f: [f], w: [meaning(f, s)] } } : {}) } });
  const missing = (r, ns, n) => ({ g: "", v: "v1", r, ns, n });

  const deployment = (ns, app, shared, name) => {
    const bad = chance(broken);
    const ready = { h: "ok" };
    const config = { app };
    const settings = [];
    for (const kind of ["ConfigMap", "ConfigMap", "Secret"]) {
      if (!chance(0.55)) continue;
      const r = kind === "Secret" ? "secrets" : "configmaps";
      settings.push([put(r, ns, `${name}-${kind === "Secret" ? "secret" : settings.length ? "config2" : "config"}`, kind, { ...config, h: "ok" }), r]);
    }
    const lacks = bad && chance(0.5) ? missing("configmaps", ns, `${name}-settings`) : undefined;
    const count = between(1, 4) * (chance(0.15) ? 3 : 1);
    const stateful = /-db|-cache/.test(name) && chance(0.7);
    const down = bad ? between(1, count) : 0;
    const why = lacks ? "CreateContainerConfigError" : pick(["CrashLoopBackOff", "ImagePullBackOff", "OOMKilled", "CrashLoopBackOff"]);
    const slow = !bad && chance(0.03);
    const state = bad ? { h: "degraded", w: `${count - down} of ${count} ready` } : slow ? { h: "progressing", w: "rolling out" } : ready;
    const top = put(stateful ? "statefulsets" : "deployments", ns, name, stateful ? "StatefulSet" : "Deployment", { app, rd: [count - down, count], ...state });
    let owner = top;
    if (!stateful) {
      for (let old = between(0, 3); old > 0; old--) arc(put("replicasets", ns, `${name}-${hash(9)}`, "ReplicaSet", { app, rd: [0, 0], h: "ok" }), top, "or");
      owner = put("replicasets", ns, `${name}-${hash(9)}`, "ReplicaSet", { app, rd: [count - down, count], ...(bad ? { h: "progressing" } : ready) });
      arc(owner, top, "or");
    }
    const service = chance(0.8) && put("services", ns, name, "Service", { app, h: "ok" });
    const slice = service && put("endpointslices", ns, `${name}-${hash(5)}`, "EndpointSlice", { app });
    if (slice) arc(slice, service, "or");
    const account = chance(0.4) ? put("serviceaccounts", ns, name, "ServiceAccount", { app }) : shared.account;
    const guards = [];
    if (chance(0.3)) guards.push(put("poddisruptionbudgets", ns, name, "PodDisruptionBudget", { app, h: "ok" }));
    if (chance(0.2)) guards.push(put("networkpolicies", ns, name, "NetworkPolicy", { app }));
    if (chance(0.4)) arc(put("horizontalpodautoscalers", ns, name, "HorizontalPodAutoscaler", { app, h: "ok" }), top, "r", "spec.scaleTargetRef");
    for (let i = 0; i < count; i++) {
      const broke = i < down;
      const pod = put("pods", ns, stateful ? `${name}-${i}` : `${owner.n}-${hash(5)}`, "Pod", {
        app, rd: [broke ? 0 : 1, 1], ...(broke ? { h: "degraded", w: why } : slow && i === 0 ? { h: "progressing", w: "ContainerCreating" } : ready),
      });
      arc(pod, owner, "or");
      for (const [d, r] of settings) arc(pod, d, "r", r === "secrets" ? "spec.containers[].env[].valueFrom.secretKeyRef.name" : "spec.volumes[].configMap.name");
      if (lacks) arc(pod, lacks, "r", "spec.containers[].envFrom[].configMapRef.name");
      arc(pod, account, "r", "spec.serviceAccountName");
      arc(pod, shared.authorities, "r", "spec.volumes[].projected.sources[].configMap.name");
      if (chance(0.5)) arc(pod, shared.pull, "t", "spec.imagePullSecrets[].name");
      if (service) arc(service, pod, "r", "spec.selector");
      if (slice) arc(slice, pod, "r", "endpoints[].targetRef");
      for (const guard of guards) arc(guard, pod, "r", "spec.selector");
      if (stateful) {
        const claim = put("persistentvolumeclaims", ns, `data-${name}-${i}`, "PersistentVolumeClaim", { app, h: "ok" });
        const volume = put("persistentvolumes", "", `pvc-${hash(10)}`, "PersistentVolume", { h: "ok" });
        arc(pod, claim, "r", "spec.volumes[].persistentVolumeClaim.claimName");
        arc(claim, volume, "r", "spec.volumeName");
        arc(volume, claim, "r", "spec.claimRef");
      }
    }
    for (const [d] of settings) arc(top, d, "t", "spec.template.spec.volumes[].configMap.name");
    if (lacks) arc(top, lacks, "t", "spec.template.spec.containers[].envFrom[].configMapRef.name");
    if (stateful && service) arc(top, service, "r", "spec.serviceName");
    if (account !== shared.account && chance(0.6)) {
      const role = put("roles", ns, name, "Role", { app });
      const binding = put("rolebindings", ns, name, "RoleBinding", { app });
      arc(binding, role, "r", "roleRef");
      arc(binding, account, "r", "subjects[]");
    }
    if (chance(0.6)) arc(top, shared.env, "t", "spec.template.spec.containers[].envFrom[].configMapRef.name");
    arc(shared.kustomization, top, "r", "status.inventory.entries[].id");
    if (service) arc(shared.kustomization, service, "r", "status.inventory.entries[].id");
    return { top, service, name };
  };

  const namespaces = ["shop", "payments", "platform", "monitoring"];
  for (let i = 0; made < vertices; i++) {
    const ns = namespaces[i] ?? `team-${i}`;
    const shared = {
      authorities: put("configmaps", ns, "kube-root-ca.crt", "ConfigMap"), account: put("serviceaccounts", ns, "default", "ServiceAccount"),
      pull: put("secrets", ns, "registry-pull", "Secret"), env: put("configmaps", ns, "common-env", "ConfigMap"),
      kustomization: put("kustomizations", ns, ns, "Kustomization", { h: "ok" }),
    };
    const used = new Set();
    const services = [];
    const room = Math.max(1, vertices - made);
    const apps = Math.min(between(3, 17), Math.max(1, Math.round(room / 15)));
    for (let j = 0; j < apps && made < vertices; j++) {
      let name = pick(words) + pick(suffixes);
      while (used.has(name)) name = `${pick(words)}${pick(suffixes)}-${used.size}`;
      used.add(name);
      const app = chance(0.75) ? name : undefined;
      const one = deployment(ns, app, shared, name);
      if (chance(0.15)) deployment(ns, app, shared, `${name}-canary`);
      if (one.service && chance(0.35)) {
        const ingress = put("ingresses", ns, name, "Ingress", { app, h: "ok" });
        arc(ingress, one.service, "r", "spec.rules[].http.paths[].backend.service.name");
        if (chance(0.6)) {
          const tls = put("secrets", ns, `${name}-tls`, "Secret", { app });
          arc(ingress, tls, "r", "spec.tls[].secretName");
          arc(put("certificates", ns, `${name}-tls`, "Certificate", { app, h: "ok" }), tls, "r", "spec.secretName");
        }
      }
      if (services.length > 0 && chance(0.2)) arc(one.top, pick(services), "t", "spec.template.spec.containers[].env[].value");
      if (one.service) services.push(one.service);
    }
    if (chance(0.3)) {
      const cron = put("cronjobs", ns, "backup", "CronJob", { h: "ok" });
      const job = put("jobs", ns, `backup-${between(29000000, 29999999)}`, "Job", { h: "ok", rd: [1, 1] });
      arc(job, cron, "or");
      arc(put("pods", ns, `${job.n}-${hash(5)}`, "Pod", { h: "ok" }), job, "or");
    }
  }
  const there = new Set(actions.map(({ svx }) => JSON.stringify(svx.vx)));
  for (const { sarc } of arcs) {
    const { g, v, r, ns, n } = sarc.d;
    if (!there.has(JSON.stringify({ g, v, r, ...(ns ? { ns } : {}), n }))) sarc.a = { ...sarc.a, e: true };
  }
  return [...actions, ...arcs];
}
