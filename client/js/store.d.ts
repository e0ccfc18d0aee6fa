// Types of store.js.
import type { Arc, EventDetails, GraphView, Vertex, Warning } from "./graphview.js";

/** It never changes. */
export interface Snapshot {
  readonly vertices: ReadonlyMap<string, Vertex>;
  readonly arcs: ReadonlyMap<string, Arc>;
  readonly warnings: ReadonlyMap<string, Warning>;
  readonly rev: string;
  readonly synced: boolean;
  /** How the last connection was lost, until there is another. */
  readonly error?: EventDetails["error"];
  /** How it ended. */
  readonly ended?: EventDetails["close"];
}

export interface Store {
  /** Calls the listener when there is a new snapshot. Returns a function that removes it. */
  subscribe(listener: () => void): () => void;
  /** The same one, until there is another. */
  getSnapshot(): Snapshot;
}

/** A view as frameworks take it; a new snapshot every so many milliseconds at most, 100 by default. */
export function createStore(view: GraphView, options?: { every?: number }): Store;
