// State of React that follows graphs and requests.
import { useEffect, useState, useSyncExternalStore, type DependencyList } from "react";
import { GraphView, type Options } from "../../js/graphview.js";
import { createStore, type Snapshot, type Store } from "../../js/store.js";

export interface Answer<T> {
  value?: T;
  error?: Error;
}

/** Asks when a dependency changes. The last answer stays until there is another, or until the question is about another object. */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, about: string, again: DependencyList = []): Answer<T> {
  const [said, setSaid] = useState<Answer<T> & { about: string }>({ about });
  useEffect(() => {
    const abort = new AbortController();
    ask(abort.signal).then(
      (value) => { if (!abort.signal.aborted) setSaid({ about, value }); },
      (error) => { if (!abort.signal.aborted) setSaid({ about, error }); },
    );
    return () => abort.abort();
  }, [about, ...again]);
  return said.about === about ? said : {};
}

export interface Followed {
  view: GraphView;
  store: Store;
}

/** Follows graphs for as long as the component is there, and again when one of their names changes. */
export function useFollowed(options: (Options & { id: string })[], every?: number): Followed[] {
  const [followed, setFollowed] = useState<Followed[]>([]);
  useEffect(() => {
    // Server-sent events are requests, to which Headlamp's proxy adds the login. Operators refuse WebSockets of pages from other hosts.
    const all = options.map(({ id, ...given }) => {
      const view = new GraphView({ transport: "events", content: "summary", ...given } as Options);
      return { view, store: createStore(view, { every }) };
    });
    setFollowed(all);
    return () => {
      for (const { view } of all) view.stop();
    };
  }, [options.map(({ id }) => id).join(" ")]);
  return followed;
}

const nothing = { subscribe: () => () => {}, getSnapshot: () => undefined };

/** The snapshot of a store, undefined without one. */
export const useSnapshot = (store: Store | undefined): Snapshot | undefined =>
  useSyncExternalStore<Snapshot | undefined>((store ?? nothing).subscribe, (store ?? nothing).getSnapshot);
