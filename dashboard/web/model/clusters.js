// A picture of several clusters: to the store, the namespaces of each are CLUSTER:NAMESPACE, and a cluster is an
// object that is not well while it is away.

/** Returns the key of an object in the picture. */
export const within = (cluster, key) => ({ ...key, ns: `${cluster}:${key.ns ?? ""}` });

/** Returns an action of a cluster as one of the picture. */
export function actionOf(cluster, { svx, dvx, sarc, darc }) {
  const arc = sarc ?? darc;
  if (arc) return { [sarc ? "sarc" : "darc"]: { ...arc, s: within(cluster, arc.s), d: within(cluster, arc.d) } };
  const about = svx ?? dvx;
  return { [svx ? "svx" : "dvx"]: { ...about, vx: within(cluster, about.vx) } };
}

/** Returns the actions after which nothing is left of a cluster but what some actions set. */
export function removalOf(cluster, store, actions, keyOf) {
  const stays = new Set(actions.map(({ svx }) => svx && keyOf(svx.vx)));
  const gone = [];
  for (const v of store) {
    if (clusterOf(v.ns) !== cluster || v.r === "") continue;
    for (const { d, t } of v.out) gone.push({ darc: { s: v, d, t } });
    if (v.present && !stays.has(v.key)) gone.push({ dvx: { vx: v } });
  }
  return gone;
}

/**
 * Returns the action that says how a cluster is, whose view was synced once, and was lost since a time. Away: the hub said
 * that the cluster is not connected. Otherwise only the page was cut off, which says nothing about the cluster.
 */
export const stateOf = ({ cluster, synced, since, away }) => ({ svx: { vx: clusterKey(cluster), m: {
  k: "Cluster", h: !since ? synced ? "ok" : "progressing" : away ? "degraded" : "progressing",
  w: wordsOf(synced, since && `since ${new Date(since).toLocaleTimeString([], { timeStyle: "short" })}`, away),
} } });

const wordsOf = (synced, time, away) => {
  if (!time) return synced ? "" : "connecting";
  if (away) return synced ? `away ${time}` : "not connected";
  return synced ? `not updated ${time}` : "not loaded";
};

/** The key of the object that stands for a cluster. */
export const clusterKey = (cluster) => ({ g: "", v: "", r: "", ns: `${cluster}:`, n: cluster || "this cluster" });

/** The cluster of a namespace of the picture, undefined where there is one cluster. */
export const clusterOf = (ns) => (ns.includes(":") ? ns.slice(0, ns.indexOf(":")) : undefined);
