// A view as what frameworks take for their own state: a snapshot that never changes,
// and a function that is called when there is another one.

/**
 * Returns a store of a GraphView for React's useSyncExternalStore and the like: subscribe(listener) and getSnapshot(). A
 * snapshot has vertices, arcs and warnings (Maps), rev, synced, error (the detail of the last one, until it has passed)
 * and ended (the detail of the end). There is at most one new snapshot per `every` milliseconds.
 */
export function createStore(view, { every = 100 } = {}) {
  const listeners = new Set();
  let error;
  let ended;
  let timer;
  const take = () => ({
    vertices: new Map(view.graph.vertices), arcs: new Map(view.graph.arcs), warnings: new Map(view.graph.warnings),
    rev: view.graph.rev, synced: view.graph.synced,
  });
  let graph = take();
  let snapshot = Object.freeze({ ...graph, error, ended });
  const tell = () => {
    clearTimeout(timer);
    timer = undefined;
    // In the middle of a change the graph is that of no instant: the next rev has another turn.
    if (view.whole) graph = take();
    snapshot = Object.freeze({ ...graph, error, ended });
    for (const listener of [...listeners]) listener();
  };
  const later = () => { timer ??= setTimeout(tell, every); };
  view.addEventListener("rev", () => {
    error = undefined;
    later();
  });
  view.addEventListener("synced", later);
  view.addEventListener("warning", later);
  view.addEventListener("error", ({ detail }) => {
    error = detail;
    later();
  });
  view.addEventListener("close", ({ detail }) => {
    ended = detail;
    tell();
  });
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getSnapshot: () => snapshot,
  };
}
