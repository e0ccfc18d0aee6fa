// Types of store.js.
import type { Arc, Change, ChangesOptions, EventDetails, Gap, GraphView, GraphViewError, Vertex, Warning } from "./graphview.js";

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

/** The changes of a view, the newest first. It never changes. */
export interface ChangesSnapshot {
  readonly changes: readonly Change[];
  /** The time from which changes are recorded, apart from gaps; "" before the first answer. */
  readonly since: string;
  /** The times in which changes were not recorded one by one. */
  readonly gaps: readonly Gap[];
  /** There are older changes. */
  readonly more: boolean;
  /** Why the last request failed. The code is 404 where the server records no changes. */
  readonly error?: GraphViewError | Error;
}

export interface ChangesStore {
  subscribe(listener: () => void): () => void;
  getSnapshot(): ChangesSnapshot;
  /** Asks for new changes now. */
  refresh(): Promise<void>;
  /** Asks for changes before the oldest one, if there are more. */
  older(): Promise<void>;
}

/** The changes of a view as frameworks take them. It asks every so many milliseconds (10,000) while it has a listener, and keeps at most so many (5,000). */
export function createChanges(options: Omit<ChangesOptions, "since" | "until" | "limit">, settings?: { every?: number; most?: number }): ChangesStore;
