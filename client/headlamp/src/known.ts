// The references that Headlamp's map draws by itself, from its relations: a second line would be beside the first.
import type { Arc } from "../../js/graphview.js";

const podFields = (template: string) => ({
  ConfigMap: [`${template}volumes[].configMap.name`],
  Secret: [`${template}containers[].env[].valueFrom.secretKeyRef.name`],
});

// By the kind of the source and of the destination: how the fields of the reference begin; all of them where there is none.
const fields: Record<string, Record<string, string[]>> = {
  Pod: { ...podFields("spec."), Secret: [...podFields("spec.").Secret, "spec.volumes[].projected.sources[].secret.name"], PersistentVolumeClaim: ["spec.volumes[].persistentVolumeClaim"] },
  Job: podFields("spec.template.spec."),
  HorizontalPodAutoscaler: { Deployment: ["spec.scaleTargetRef"], StatefulSet: ["spec.scaleTargetRef"] },
  ValidatingWebhookConfiguration: { Service: [] },
  MutatingWebhookConfiguration: { Service: [] },
  Service: { Pod: [], EndpointSlice: [], Endpoints: [] },
  EndpointSlice: { Service: [] },
  Endpoints: { Service: [] },
  Ingress: { Service: ["spec.rules[]"], Secret: ["spec.tls"] },
  NetworkPolicy: { Pod: ["spec.podSelector"] },
  RoleBinding: { Role: [], ServiceAccount: [] },
  Deployment: { ServiceAccount: [] },
  DaemonSet: { ServiceAccount: [] },
  Gateway: { GatewayClass: [] },
  HTTPRoute: { Gateway: [], Service: ["spec.rules[].backendRefs"] },
  BackendTLSPolicy: { Service: [] },
  BackendTrafficPolicy: { Service: [] },
};

// Headlamp draws the owners of these, and of the objects that custom resources own.
const owned = new Set(["Pod", "ReplicaSet"]);
const ownedJobs = new Set(["CronJob", "JobSet"]);

/** Reports whether Headlamp's map has a line between the two objects of an arc. */
export function isKnown({ t, d, a }: Arc, source: string, destination: string): boolean {
  if (t === "or") return owned.has(source) || (source === "Job" && ownedJobs.has(destination)) || d.g.includes(".") && !d.g.endsWith(".k8s.io") || Boolean(fields[source]?.[destination]?.length === 0);
  const begins = fields[source]?.[destination];
  return begins !== undefined && (begins.length === 0 || Boolean(a?.f?.some((field) => begins.some((begin) => field.startsWith(begin)))));
}

// Nearly every pod refers to these: with lines to them, the map would be one group.
const everywhere = new Set(["Node", "Namespace", "PriorityClass", "CustomResourceDefinition"]);

/** Reports whether an object is one that nearly all others refer to. */
export const isEverywhere = (kind: string, name: string): boolean =>
  everywhere.has(kind) || (kind === "ConfigMap" && name === "kube-root-ca.crt") || (kind === "ServiceAccount" && name === "default");
