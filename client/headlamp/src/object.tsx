// The section on the page of an object: what it uses, what uses it, what is missing, what breaks if it is deleted, what changed.
import { Loader, SectionBox } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import type { KubeObject } from "@kinvolk/headlamp-plugin/lib/K8s/cluster";
import Typography from "@mui/material/Typography";
import { useMemo } from "react";
import { GraphViewError, getChanges, getImpact, vertexKey, type Key, type Listed } from "../../js/graphview.js";
import { placeOf } from "./cluster";
import { Changes } from "./changes";
import { Impact } from "./impact";
import { useAnswer, useFollowed, useSnapshot } from "./hooks";
import { NotInstalled, findView, install } from "./views";
import { References, referencesOf } from "./references";

/** The key of an object of Headlamp, undefined if it has no name or no resource. */
export function keyOf(object: KubeObject): Key | undefined {
  const { apiVersion = "", metadata } = object.jsonData ?? {};
  const [version, group = ""] = apiVersion.split("/").reverse();
  const resource = object._class().apiName;
  if (!metadata?.name || !resource || !version) return undefined;
  return { g: group, v: version, r: resource, n: metadata.name, ...(metadata.namespace ? { ns: metadata.namespace } : {}) };
}

/** One sentence in place of an answer. */
export function Sentence({ error }: { error: Error }) {
  if (error instanceof NotInstalled) {
    return <Typography>This cluster has no GraphView operator, which knows these answers. To install it: <code>{install}</code></Typography>;
  }
  return <Typography>GraphView does not answer: {error.message}</Typography>;
}

const unknown = "No GraphView has this object. To make one of this namespace: ";

export function ObjectSection({ resource }: { resource: KubeObject }) {
  const key = keyOf(resource);
  return key ? <Found object={key} kind={resource.kind} cluster={resource.cluster} key={resource.cluster + vertexKey(key)} /> : null;
}

function Found({ object, kind, cluster }: { object: Key; kind: string; cluster: string }) {
  const found = useAnswer(async (signal) => ({ view: await findView(placeOf(cluster), object, signal) }), cluster + vertexKey(object));
  if (found.value?.view) return <Answers object={object} kind={kind} cluster={cluster} view={found.value.view} />;
  return (
    <SectionBox title="GraphView">
      {found.error && <Sentence error={found.error} />}
      {found.value && <Typography>{unknown}<code>kubectl graphview new namespace{object.ns ? ` -n ${object.ns}` : ""} | kubectl apply -f -</code></Typography>}
      {!found.error && !found.value && <Loader title="Asking GraphView" />}
    </SectionBox>
  );
}

function Answers({ object, kind, cluster, view: { namespace, name } }: { object: Key; kind: string; cluster: string; view: Listed }) {
  const place = useMemo(() => placeOf(cluster), [cluster]);
  const about = `${cluster} ${namespace}/${name} ${vertexKey(object)}`;
  // Of the graph, the object and its neighbours.
  const [followed] = useFollowed([{ ...place, id: about, namespace, name, roots: [object], direction: "Both", depth: 1 }]);
  const snapshot = useSnapshot(followed?.store);
  const kindOf = (key: Key) => followed?.view.graph.kind(key) ?? snapshot?.vertices.get(vertexKey(key))?.m?.k ?? key.r;
  const references = snapshot && referencesOf(object, snapshot);
  // The rest of the graph has changed, too, when the neighbours have: the other questions are asked again then.
  const level = snapshot?.synced ? JSON.stringify([...references!.uses, ...references!.usedBy, ...references!.missing]) : undefined;
  const impact = useAnswer((signal) => getImpact({ ...place, namespace, name, key: object, signal }), about, [level]);
  const changes = useAnswer((signal) => getChanges({ ...place, namespace, name, key: object, since: "24h", limit: 100, signal }), about, [level]);
  // An operator without a history refuses the question with 404; an older one answers another.
  const recorded = changes.value?.changes && changes.value;
  const where = { cluster, home: object.ns, kindOf };
  return (
    <SectionBox title={`What this ${kind} is connected to`} subtitle={`as GraphView ${namespace}/${name} has it`}>
      {snapshot?.ended && <Sentence error={new GraphViewError(snapshot.ended.code, snapshot.ended.reason, snapshot.ended.message)} />}
      {references && snapshot.synced ? <References {...where} {...references} /> : !snapshot?.ended && <Loader title="Asking GraphView" />}
      {impact.error && <Sentence error={impact.error} />}
      {impact.value && <Impact {...where} impact={impact.value} />}
      {recorded && <Changes {...where} changes={recorded} />}
      {changes.error && !(changes.error instanceof GraphViewError && changes.error.code === 404) && <Sentence error={changes.error} />}
    </SectionBox>
  );
}
