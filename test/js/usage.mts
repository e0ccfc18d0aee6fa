// Uses the client as its types say; compiled, never run.
import { Connection } from "../../client/js/connection.js";
import { createChanges, createStore, type ChangesSnapshot, type Snapshot } from "../../client/js/store.js";
import { GraphView, Graph, getChanges, getGraph, listGraphs, vertexKey, type Arc, type Change, type Options, type Vertex } from "../../client/js/graphview.js";

const options: Options = { namespace: "shop", name: "storefront", token: async () => "secret", WebSocket };
const view = new GraphView(options);
view.addEventListener("rev", ({ detail }) => {
  const rev: string = detail.rev;
  for (const { svx } of detail.actions) if (svx) console.log(rev, vertexKey(svx.vx), svx.o?.kind);
});
view.addEventListener("error", ({ detail: { code, retryIn } }) => console.log(code + (retryIn ?? 0)));
const graph: Graph = view.graph;
const vertices: Vertex[] = [...graph.vertices.values()];
const missing: Arc[] = [...graph.arcs.values()].filter((arc) => arc.a?.e);
console.log(vertices.length, missing.length);
view.stop();
const connection = new Connection({ base: "https://example.com", token: "secret" });
const own = new GraphView({ connection, spec: { queries: [{ include: { resourceSelectorExpression: "true" } }] } });
new GraphView({ connection, namespace: "shop", name: "storefront" });
const store = createStore(own, { every: 50 });
const leave: () => void = store.subscribe(() => console.log(store.getSnapshot().ended?.reason));
const snapshot: Snapshot = store.getSnapshot();
console.log(snapshot.vertices.size, graph.out(vertices[0].vx).length, graph.in("x").map((arc) => arc.t));
console.log((await listGraphs({ namespace: "shop" }))[0].subscribers, (await getGraph(options as { namespace: string; name: string })).rev);
leave();
const { changes, since, gaps = [] } = await getChanges({ namespace: "shop", name: "storefront", key: "deployments.apps/shop/web", since: "2h", until: new Date() });
const words = ({ vx, type, paths = [], via }: Change): string => `${vx.n} ${type} ${paths.map(({ p, b, a }) => `${p} ${b} ${a}`).join()} ${via?.w?.join()}`;
console.log(changes.map(words), since, gaps.map(({ why }) => why), (await getGraph({ namespace: "shop", name: "storefront", at: "2h" })).vertices.size);
const history = createChanges({ namespace: "shop", name: "storefront" }, { every: 5_000 });
const latest: ChangesSnapshot = history.getSnapshot();
console.log(latest.changes[0]?.t, latest.error?.message);
// @ts-expect-error there is no such event
view.addEventListener("change", () => {});
// @ts-expect-error a view has a name
new GraphView({ namespace: "shop" });
