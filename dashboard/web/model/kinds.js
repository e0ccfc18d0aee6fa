// What kinds are called and what they are for. A kind that is not listed is drawn
// with its first two letters and a neutral colour.

/** Roles decide the hue of a card and the order within a column, left to right. */
export const roles = ["network", "policy", "workload", "other", "config", "storage", "identity"];

const rows = `
ingresses ing network Ingress
ingressclasses ingc network IngressClass
gateways gw network Gateway
gatewayclasses gwc network GatewayClass
httproutes route network HTTPRoute
grpcroutes route network GRPCRoute
routes route network Route
virtualservices vs network VirtualService
services svc network Service
endpoints ep network Endpoints
endpointslices eps network EndpointSlice
networkpolicies netpol policy NetworkPolicy
poddisruptionbudgets pdb policy PodDisruptionBudget
horizontalpodautoscalers hpa policy HorizontalPodAutoscaler
verticalpodautoscalers vpa policy VerticalPodAutoscaler
resourcequotas quota policy ResourceQuota
limitranges limits policy LimitRange
priorityclasses pc policy PriorityClass
deployments deploy workload Deployment
statefulsets sts workload StatefulSet
daemonsets ds workload DaemonSet
replicasets rs workload ReplicaSet
replicationcontrollers rc workload ReplicationController
controllerrevisions rev workload ControllerRevision
cronjobs cron workload CronJob
jobs job workload Job
pods pod workload Pod
rollouts ro workload Rollout
nodes node other Node
namespaces ns other Namespace
applications app other Application
kustomizations ks other Kustomization
helmreleases hr other HelmRelease
configmaps cm config ConfigMap
secrets sec config Secret
certificates cert config Certificate
issuers issuer config Issuer
clusterissuers issuer config ClusterIssuer
externalsecrets es config ExternalSecret
persistentvolumeclaims pvc storage PersistentVolumeClaim
persistentvolumes pv storage PersistentVolume
storageclasses sc storage StorageClass
volumesnapshots snap storage VolumeSnapshot
volumeattachments va storage VolumeAttachment
serviceaccounts sa identity ServiceAccount
roles role identity Role
rolebindings rb identity RoleBinding
clusterroles cr identity ClusterRole
clusterrolebindings crb identity ClusterRoleBinding
`;

// A bundle that asks for no resource leaves the table out.
const known = /* @__PURE__ */ table();
const unknown = new Map();

function table() {
  return new Map(rows.trim().split("\n").map((row) => {
    const [resource, short, role, kind] = row.split(" ");
    return [resource, { short, role, kind, rank: roles.indexOf(role) }];
  }));
}

/** What is known of a resource: short name, role, kind, and the role's rank. */
export function resource(name) {
  const found = known.get(name) ?? unknown.get(name);
  if (found) return found;
  const kind = name ? name[0].toUpperCase() + name.slice(1) : "?";
  const made = { short: name, role: "other", kind, rank: roles.indexOf("other") };
  unknown.set(name, made);
  return made;
}

/** "3 ConfigMaps", "1 Policy". */
export function counted(number, kind) {
  if (number === 1) return `1 ${kind}`;
  if (/(s|x|ch)$/.test(kind)) return `${number} ${kind}es`;
  if (/[^aeiou]y$/.test(kind)) return `${number} ${kind.slice(0, -1)}ies`;
  return `${number} ${kind}s`;
}
