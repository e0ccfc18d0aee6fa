// Development only: a summary of a whole object, for servers that do not send any.
export function summarize({ vx, o, j }) {
  if (!o) return { k: undefined, u: "", h: j ? "ok" : undefined };
  const { metadata = {}, status = {}, spec = {} } = o;
  const waiting = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map((c) => c.state?.waiting?.reason).find((r) => r && r !== "ContainerCreating" && r !== "PodInitializing");
  const labels = metadata.labels ?? {};
  const m = { k: o.kind, u: metadata.uid, t: Date.parse(metadata.creationTimestamp ?? 0) / 1000, app: labels["app.kubernetes.io/part-of"] ?? labels["app.kubernetes.io/name"] ?? labels.app };
  if (waiting) Object.assign(m, { h: "degraded", w: waiting });
  else if (metadata.deletionTimestamp) m.h = "terminating";
  else if (vx.r === "pods") m.h = status.phase === "Running" || status.phase === "Succeeded" ? "ok" : "progressing";
  else if (spec.replicas !== undefined) {
    m.rd = [status.readyReplicas ?? 0, spec.replicas];
    m.h = m.rd[0] < m.rd[1] ? "progressing" : "ok";
  }
  return m;
}
