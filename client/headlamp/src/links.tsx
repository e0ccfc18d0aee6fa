// Links to the pages that Headlamp has for objects.
import { K8s, Router } from "@kinvolk/headlamp-plugin/lib";
import { Link } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import type { Key } from "../../js/graphview.js";

// Groups of Kubernetes that have no CustomResourceDefinitions.
const builtIn = new Set(["", "apps", "autoscaling", "batch", "policy", ...[
  "admissionregistration", "apiregistration", "authentication", "authorization", "certificates", "coordination", "discovery", "events",
  "flowcontrol.apiserver", "internal.apiserver", "networking", "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration",
].map((group) => `${group}.k8s.io`)]);

/** The name of the route of an object's page and its parameters, undefined if Headlamp has no page for its kind. */
export function routeOf({ g, r, ns, n }: Key, kind: string): { routeName: string; params: Record<string, string> } | undefined {
  const known = Object.values(K8s.ResourceClasses).find((one) => one.kind === kind && (one.apiGroupName ?? "") === g);
  if (known && Router.getRoute(known.detailsRoute)) return { routeName: known.detailsRoute, params: { name: n, ...(ns ? { namespace: ns } : {}) } };
  if (builtIn.has(g)) return undefined;
  return { routeName: "customresource", params: { crd: `${r}.${g}`, namespace: ns ?? "-", crName: n } };
}

/** The object's kind and name, and its namespace unless that is home, with a link to its page. */
export function ObjectLink({ object, kind, cluster, home, missing }: { object: Key; kind: string; cluster: string; home?: string; missing?: boolean }) {
  const text = `${kind}/${object.n}${object.ns && object.ns !== home ? ` in ${object.ns}` : ""}`;
  const route = missing ? undefined : routeOf(object, kind);
  return route ? <Link {...route} activeCluster={cluster}>{text}</Link> : <span>{text}</span>;
}
