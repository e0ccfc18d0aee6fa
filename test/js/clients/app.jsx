import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { GraphView } from "graphview";
import { createStore } from "graphview/store";

const nothing = { subscribe: () => () => {}, getSnapshot: () => undefined };

function useGraphView({ namespace, name, token }) {
  const [store, setStore] = useState(nothing);
  useEffect(() => {
    const view = new GraphView({ namespace, name, token, content: "summary" });
    setStore(createStore(view));
    return () => view.stop();
  }, [namespace, name, token]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot);
}

/** How many objects of each kind there are, and how they are. */
function Kinds({ vertices }) {
  const kinds = useMemo(() => {
    const counts = new Map();
    for (const { vx, m } of vertices.values()) {
      const kind = m?.k ?? vx.r;
      const of = counts.get(kind) ?? { all: 0, degraded: 0 };
      counts.set(kind, { all: of.all + 1, degraded: of.degraded + (m?.h === "degraded") });
    }
    return [...counts].sort(([a], [b]) => a.localeCompare(b));
  }, [vertices]);
  return (
    <ul>
      {kinds.map(([kind, { all, degraded }]) => (
        <li key={kind}>{kind}: {all}{degraded > 0 && <strong>, {degraded} degraded</strong>}</li>
      ))}
    </ul>
  );
}

function App(props) {
  const graph = useGraphView(props);
  if (!graph?.synced) return <p>{graph?.error?.message ?? "loading …"}</p>;
  return (
    <main>
      <h1>{graph.vertices.size} objects, {graph.arcs.size} references</h1>
      <Kinds vertices={graph.vertices} />
      {graph.ended && <p>The end: {graph.ended.message}</p>}
    </main>
  );
}

const query = new URLSearchParams(location.search);
createRoot(document.getElementById("root")).render(
  <App namespace={query.get("namespace")} name={query.get("name")} token={new URLSearchParams(location.hash.slice(1)).get("token")} />,
);
