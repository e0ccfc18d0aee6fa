// Short names and roles of kinds. An unlisted kind is drawn with its first two letters and a
// neutral colour.

// By role: the short name of each kind, and the kind.
const kinds = {
  network: "ing Ingress ingc IngressClass gw Gateway gwc GatewayClass route HTTPRoute route GRPCRoute route Route vs VirtualService svc Service ep Endpoints eps EndpointSlice",
  policy: "netpol NetworkPolicy pdb PodDisruptionBudget hpa HorizontalPodAutoscaler vpa VerticalPodAutoscaler quota ResourceQuota limits LimitRange pc PriorityClass",
  workload: "deploy Deployment sts StatefulSet ds DaemonSet rs ReplicaSet rc ReplicationController rev ControllerRevision cron CronJob job Job pod Pod ro Rollout",
  other: "node Node ns Namespace app Application ks Kustomization hr HelmRelease",
  config: "cm ConfigMap sec Secret cert Certificate issuer Issuer issuer ClusterIssuer es ExternalSecret",
  storage: "pvc PersistentVolumeClaim pv PersistentVolume sc StorageClass snap VolumeSnapshot va VolumeAttachment",
  identity: "sa ServiceAccount role Role rb RoleBinding cr ClusterRole crb ClusterRoleBinding",
};

/** Roles decide the hue of a card and the order within a column, left to right. */
export const roles = /* @__PURE__ */ Object.keys(kinds);

// A bundle that asks for no resource leaves the table out.
const known = /* @__PURE__ */ table();
const unknown = new Map();

function table() {
  const found = new Map();
  roles.forEach((role, rank) => {
    for (const pair of kinds[role].match(/\S+ \S+/g)) {
      const [short, kind] = pair.split(" ");
      found.set(plural(kind).toLowerCase(), { short, role, kind, rank });
    }
  });
  return found;
}

/** Returns the short name, role, kind and rank of the role of a resource. */
export function resource(name) {
  const found = known.get(name) ?? unknown.get(name);
  if (found) return found;
  const kind = name ? name[0].toUpperCase() + name.slice(1) : "?";
  const made = { short: name, role: "other", kind, rank: roles.indexOf("other") };
  unknown.set(name, made);
  return made;
}

/** "3 ConfigMaps", "1 Policy". */
export const counted = (number, kind) => `${number} ${number === 1 ? kind : plural(kind)}`;

/** As resources are named: of Endpoints there is no other. */
export function plural(kind) {
  if (/ts$/.test(kind)) return kind;
  if (/(s|x|ch)$/.test(kind)) return `${kind}es`;
  if (/[^aeiou]y$/.test(kind)) return `${kind.slice(0, -1)}ies`;
  return `${kind}s`;
}
