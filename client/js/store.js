// A view, and the changes of a view, as frameworks take their own state: a snapshot that never
// changes, and a function that is called when there is another one.
import { vertexKey } from "./graph.js";
import { getChanges } from "./request.js";

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

const page = 1_000; // changes in an answer, the most that a server sends

/**
 * Returns a store of the changes of a view, for the same frameworks, with the options of getChanges. A snapshot has changes, the newest
 * first, since, gaps and more as in an answer, and error, the last one. The store asks every so many milliseconds while it has a
 * listener, unless the server records no changes. refresh() asks now, and older() asks for earlier changes, until there are `most`.
 */
export function createChanges(options, { every = 10_000, most = 5 * page } = {}) {
  const listeners = new Set();
  let snapshot = Object.freeze({ changes: [], since: "", gaps: [], more: false, error: undefined });
  let until; // the time of the last answer
  let asking; // the answer that is awaited
  let timer;
  const set = (values) => {
    snapshot = Object.freeze({ ...snapshot, error: undefined, ...values });
    for (const listener of [...listeners]) listener();
  };
  const get = (query) => getChanges({ limit: page, ...options, ...query });
  const load = async () => {
    let answer = await get(until && { since: until });
    // Another replica may know less, and of more than one page the middle is not there.
    if (until && (answer.more || answer.since > until)) {
      until = undefined;
      answer = await get();
    }
    const known = until ? snapshot : { changes: [], gaps: [], more: answer.more === true, since: answer.since };
    until = answer.until;
    set({ changes: merged(answer.changes, known.changes).slice(0, most), gaps: mergedGaps(answer.gaps, known.gaps), more: known.more, since: known.since });
  };
  const refresh = () => {
    clearTimeout(timer);
    asking ??= load().catch((error) => set({ error })).finally(() => {
      asking = undefined;
      clearTimeout(timer);
      if (listeners.size > 0 && snapshot.error?.code !== 404) timer = setTimeout(refresh, every);
    });
    return asking;
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      if (listeners.size === 1) refresh();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearTimeout(timer);
      };
    },
    getSnapshot: () => snapshot,
    refresh,
    async older() {
      await asking;
      const { changes, more, gaps } = snapshot;
      if (!more || changes.length === 0 || changes.length >= most) return;
      const answer = await get({ until: changes.at(-1).t });
      const known = new Set(changes.map(nameOf));
      set({ changes: [...changes, ...answer.changes.filter((change) => !known.has(nameOf(change)))], gaps: mergedGaps(gaps, answer.gaps), more: answer.more === true, since: answer.since });
    },
  };
}

const nameOf = ({ t, vx, type, ref }) => JSON.stringify([t, vertexKey(vx), type, ref]);

// A series that has gone on replaces what there was of it.
function merged(changes, known) {
  const series = new Map();
  for (const { vx, type, first } of changes) if (first) series.set(`${vertexKey(vx)} ${type}`, first);
  return [...changes, ...known.filter(({ vx, type, t }) => !(t >= series.get(`${vertexKey(vx)} ${type}`)))];
}

const mergedGaps = (gaps = [], known = []) => [...gaps, ...known.filter(({ from }) => gaps.every((gap) => gap.from !== from))];
