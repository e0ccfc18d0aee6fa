// Uses the client as its types say; compiled, never run.
import { GraphView, Graph, vertexKey, type Arc, type Options, type Vertex } from "../../client/js/graphview.js";

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
// @ts-expect-error there is no such event
view.addEventListener("change", () => {});
// @ts-expect-error a view has a name
new GraphView({ namespace: "shop" });
