// The source of Headlamp's map: the references that Headlamp does not know, and the objects that are missing.
import { K8s } from "@kinvolk/headlamp-plugin/lib";
import { useEffect, useMemo, useState } from "react";
import { useSelector } from "react-redux";
import { vertexKey, type Key, type Listed } from "../../js/graphview.js";
import type { Snapshot } from "../../js/store.js";
import { placeOf } from "./cluster";
import { useAnswer, useFollowed, type Followed } from "./hooks";
import { isEverywhere, isKnown } from "./known";
import { listViews } from "./views";

export interface MapData {
  nodes: { id: string; label: string; subtitle: string; status: "error" }[];
  edges: { id: string; source: string; target: string; label: string; nonGroupingSide: "target" }[];
}

const shared = 10; // workloads

/** Returns a function from an object to its outermost controller, which the objects of a workload share. */
function workloads({ arcs }: Pick<Snapshot, "arcs">): (object: string) => string {
  const owners = new Map<string, string>();
  for (const { s, d, t, a } of arcs.values()) if (t === "or" && a?.c && !a.e) owners.set(vertexKey(s), vertexKey(d));
  return (object) => {
    for (let depth = 0, owner; depth < 10 && (owner = owners.get(object)); depth++) object = owner;
    return object;
  };
}

/**
 * Returns the lines and the missing objects of a graph for the namespaces that the map shows, all if there are none. The nodes of
 * other objects are Headlamp's own, whose ids are UIDs. What many workloads use has no lines, since they would make one group of all, and what many
 * miss is a node beside each of them.
 */
export function mapOf({ vertices, arcs }: Pick<Snapshot, "vertices" | "arcs">, kindOf: (key: Key) => string | undefined, namespaces: ReadonlySet<string>): MapData {
  const data: MapData = { nodes: [], edges: [] };
  const shows = ({ ns }: Key) => namespaces.size === 0 || !ns || namespaces.has(ns);
  const missing = new Set<string>();
  const workloadOf = workloads({ arcs });
  const users = new Map<string, Set<string>>();
  for (const { s, d } of arcs.values()) {
    const to = vertexKey(d);
    users.set(to, (users.get(to) ?? new Set()).add(workloadOf(vertexKey(s))));
  }
  for (const arc of arcs.values()) {
    const { s, d, a } = arc;
    if (!shows(s) || !shows(d) || (s.ns === undefined && d.ns === undefined && namespaces.size > 0)) continue;
    const source = vertices.get(vertexKey(s))?.m;
    if (!source) continue;
    const gone = Boolean(a?.e && !a.x && !a.o && arc.t !== "or");
    const to = vertexKey(d);
    const destination = vertices.get(to)?.m;
    const kind = destination?.k ?? kindOf(d) ?? d.r;
    if ((!destination && !gone) || isEverywhere(kind, d.n) || (!gone && isKnown(arc, source.k, kind))) continue;
    if (!gone && users.get(to)!.size > shared) continue;
    const target = destination?.u ?? `graphview-missing-${to}-${workloadOf(vertexKey(s))}`;
    if (gone && !missing.has(target)) {
      missing.add(target);
      data.nodes.push({ id: target, label: d.n, subtitle: `${kind}, missing`, status: "error" });
    }
    const words = (a?.w ?? a?.f ?? []).join(", ") || "owned by";
    // An object that many use is drawn beside each of them by newer versions of Headlamp, in place of one group of all.
    data.edges.push({ id: `graphview-${source.u}-${target}-${arc.t}`, source: source.u, target, label: words, nonGroupingSide: "target" });
  }
  return data;
}

const most = 4; // streams: browsers open six connections to a host, and Headlamp needs some itself

/** The views to follow for some namespaces: the largest of each namespace, and the largest of all, which may have them too. */
export function chosen(views: Listed[], namespaces: ReadonlySet<string>): Listed[] {
  const sorted = [...views].sort((a, b) => b.vertices - a.vertices);
  const first = sorted.filter((view, i) => i === sorted.findIndex(({ namespace }) => namespace === view.namespace));
  return [...new Set([...sorted.slice(0, 1), ...first.filter(({ namespace }) => namespaces.size === 0 || namespaces.has(namespace))])];
}

/** The data of the source, null while there is nothing yet. An empty answer stands for clusters without an operator. */
export function useData(): MapData | null {
  const clusters = K8s.useSelectedClusters();
  const selected = useSelector((state: any) => state.filter.namespaces as Set<string>);
  const names = [...selected].filter(Boolean).sort().join(" ");
  const namespaces = useMemo(() => new Set(names.split(" ").filter(Boolean)), [names]);
  const found = useAnswer(async (signal) => {
    const all = await Promise.all(clusters.map(async (cluster) => {
      const views = await listViews(placeOf(cluster), [...namespaces], signal).catch(() => []); // the map says nothing of its sources
      return chosen(views, namespaces).map((view) => ({ cluster, ...view }));
    }));
    return all.flat().slice(0, most);
  }, `${clusters.join(" ")} ${names}`);
  const followed = useFollowed((found.value ?? []).map(({ cluster, namespace, name }) => ({ ...placeOf(cluster), id: `${cluster} ${namespace}/${name}`, namespace, name })), 1000);
  const snapshots = useSnapshots(followed);
  return useMemo(() => {
    if (!found.value || found.value.length > 0 && !snapshots.some(({ synced, ended }) => synced || ended)) return null;
    const parts = snapshots.map((snapshot, i) => mapOf(snapshot, (key) => followed[i]?.view.graph.kind(key), namespaces));
    return { nodes: parts.flatMap(({ nodes }) => nodes), edges: parts.flatMap(({ edges }) => edges) };
  }, [found.value, snapshots, namespaces]);
}

function useSnapshots(followed: Followed[]): Snapshot[] {
  const [snapshots, setSnapshots] = useState<Snapshot[]>([]);
  useEffect(() => {
    const take = () => setSnapshots(followed.map(({ store }) => store.getSnapshot()));
    take();
    const leave = followed.map(({ store }) => store.subscribe(take));
    return () => { for (const each of leave) each(); };
  }, [followed]);
  return snapshots;
}
