// Types of graphview.js. docs/stream.md describes the messages.

import type { Action, Arc, GraphChanges, GraphImpact, GraphObject, GraphViewSpec, ImpactGroup, Key, Message, Subscribe, Summary, Vertex, Warning } from "./messages.js";

export type {
  Action, Arc, Change, ChangedPath, ChangeVia, CloseError, Gap, GraphChanges, GraphImpact, GraphObject, GraphViewSpec, ImpactGroup, ImpactHold, ImpactStep, Key, Message, RemoteReference, ResourceKind, Selection,
  RootObject, Subscribe, Summary, Vertex, Warning,
} from "./messages.js";

/** The identity of an arc. */
export type ArcKey = Omit<Arc, "a">;

export function vertexKey(key: Key): string;
export function arcKey(arc: ArcKey): string;
export function warningKey(warning: Warning): string;

/** How an object counts at a time, and why. */
export interface HealthAt {
  health: "ok" | "suspended" | "unknown" | "terminating" | "progressing" | "degraded";
  why: string;
}

/** The health of a summary at a time in milliseconds: from od on the object is degraded, and no message says so. */
export function healthAt(summary: Pick<Summary, "h" | "w" | "od">, now: number): HealthAt;

/** A cause, with the problems that follow from it. */
export interface Problem {
  /** The cause, or the outermost controller of it that is unhealthy too. */
  object: Key;
  health: "missing" | "degraded" | "progressing" | "terminating";
  /** The object that why is about: object itself, or an object that it controls. */
  source: Key;
  why: string;
  /** Every object of this kind has this problem. */
  shared: boolean;
  /** The other problems that follow. */
  stops: Key[];
  /** It, or a problem that follows from it, is degraded or missing; other problems are on their way. The dashboard counts these. */
  bad: boolean;
}

/** The problems of a graph with summaries at a time in milliseconds, each below its cause, the worst first: what the dashboard and `kubectl graphview problems` count. */
export function problems(graph: Graph, now: number): Problem[];

/** A graph that is kept up to date by messages. */
export class Graph {
  /** With keep false, vertices and arcs stay empty. */
  constructor(options?: { keep?: boolean });
  readonly vertices: Map<string, Vertex>;
  readonly arcs: Map<string, Arc>;
  readonly warnings: Map<string, Warning>;
  /** The last revision; "" before the first one. */
  rev: string;
  /** Every selected resource has synced, or a warning says why not. */
  synced: boolean;
  /** The kind of a vertex or of an arc's destination; undefined if the server has not sent it. */
  kind(key: Pick<Key, "g" | "r">): string | undefined;
  /** Whether the graph has all objects of a kind in a namespace that the subscriber may see. */
  hasAll(group: string, kind: string, namespace?: string): boolean;
  /** The health of an object of a graph with summaries at a time in milliseconds, by everything that is around it. */
  healthAt(key: Key | string, now: number): HealthAt;
  /** The arcs from a vertex, given by its key or vertexKey. */
  out(key: Key | string): Arc[];
  /** The arcs to a vertex. */
  in(key: Key | string): Arc[];
  apply(message: Message): void;
  /** The sums of the graph, by which a server continues it; "" if it is empty. */
  have(mostBits?: number, seed?: Uint32Array): string;
  /** The actions that delete what a reset does not keep. */
  dropped(keep: string | undefined): Action[];
  forget(): void;
  reconnected(): void;
}

/** Where graphs are, and who asks. */
export interface Place {
  /** Where graphs are served: https://host[:port][/path], or in a page /path on the page's host. Default: where the page is from. */
  base?: string;
  /** The ClusterLink of a cluster of the fleet whose hub is at base. Default: the graphs of the server itself. */
  cluster?: string;
  /** A bearer token, or what gets one for each connection. None: cookies, or who is in between. */
  token?: string | (() => string | Promise<string>);
  /** Default: the global one. */
  fetch?: typeof fetch;
}

export interface Listed {
  namespace: string;
  name: string;
  vertices: number;
  arcs: number;
  roots: number;
  subscribers: number;
  synced: boolean;
}

/** Why a request was refused: code is HTTP's, reason that of the Status. */
export class GraphViewError extends Error {
  constructor(code: number, reason: string, message: string);
  readonly code: number;
  readonly reason: string;
}

/** The graphs of a namespace, or of all. Throws a GraphViewError. */
export function listGraphs(options?: Place & { namespace?: string; signal?: AbortSignal }): Promise<Listed[]>;

/** A Date, milliseconds since 1970, RFC 3339 as in "2026-11-29T10:02:38Z", or a duration before now as in "2h". */
export type Time = Date | number | string;

/** One graph as it is now, or, with summaries, as it was at a time. Throws a GraphViewError. */
export function getGraph(
  options: Place & Pick<StreamOptions, "content" | "inferred" | "roots" | "direction" | "depth"> & { namespace: string; name: string; at?: Time; signal?: AbortSignal },
): Promise<Graph>;

export interface ChangesOptions extends Place {
  namespace: string;
  name: string;
  /** The changes of this object and of all objects that it leads to. Default: those of the whole graph. */
  key?: Root;
  /** Only later changes. Default: all that the history has. */
  since?: Time;
  /** Only changes up to this time. Default: now. */
  until?: Time;
  /** Leaves out the objects that key leads to. */
  alone?: boolean;
  /** The most changes: 200 by default, at most 1,000. */
  limit?: number;
  signal?: AbortSignal;
}

/** The changes of a graph, the newest first. Throws a GraphViewError; the code is 404 also where the server records no changes. */
export function getChanges(options: ChangesOptions): Promise<GraphChanges>;

/** One object of a graph, with its summary and its arcs. A code of 404 is also for what may not be seen. Throws a GraphViewError. */
export function getObject(options: Place & { namespace: string; name: string; key: Omit<Key, "v"> & { v?: string }; signal?: AbortSignal }): Promise<GraphObject>;

/** The effect of another object's deletion on an object, the worst first. */
export type Verdict = ImpactGroup["verdict"];

/** The effect of one object's deletion on the others of a graph. */
export type Impact = GraphImpact;

/** Returns the effect of an object's deletion on the others of a graph. Throws a GraphViewError; the code is 404 also for an object that the user may not see. */
export function getImpact(
  options: Place & { namespace: string; name: string; key: Root; policy?: Impact["propagationPolicy"]; inferred?: boolean; signal?: AbortSignal },
): Promise<Impact>;

/** The methods of a Connection of connection.js that a GraphView calls. */
export interface Subscribable {
  subscribe(
    what: Subscribe,
    handlers: { message(message: Message): void; lose(code: number, text: string, reason?: string): void },
  ): () => void;
}

export type Options = StreamOptions & ({ namespace: string; name: string } | { connection: Subscribable; spec: GraphViewSpec });

/** An object: its key, or RESOURCE.GROUP/NAMESPACE/NAME as in "deployments.apps/shop/web". */
export type Root = string | (Omit<Key, "v"> & { v?: string });

export interface StreamOptions extends Place {
  /** Many views on one connection, of connection.js. */
  connection?: Subscribable;
  /** The content of each vertex: the object (default), a summary as `m`, or only the key. */
  content?: "object" | "summary" | "none";
  /** false leaves out inferred references. Objects that only they connect to `roots` stay; those of a `spec` do not. Default: true. */
  inferred?: boolean;
  /** Narrows the graph to these objects and the objects that they lead to. Versions are ignored. */
  roots?: Root[];
  /** The direction from the roots. Default: Down. */
  direction?: Subscribe["direction"];
  /** The most references from the nearest root; default: any number. */
  depth?: number;
  /** Default: websocket, or events if WebSockets are not available or blocked, which is remembered for ten minutes. */
  transport?: "websocket" | "events";
  /** Default: the global WebSocket. Node.js before 22 has none; use the package ws. */
  WebSocket?: new (url: string, protocols: string[]) => unknown;
  /** false: the graph keeps no vertices and arcs; the rev event has their actions. Default: true. */
  keep?: boolean;
  /** Where a graph that is not kept here is: its sums, and the actions that delete what a reset does not keep, as a Graph has them. */
  contents?: Pick<Graph, "have" | "dropped">;
  /** true: part events have the actions as soon as they arrive, and rev has none. Default: false. */
  parts?: boolean;
  /** The first delay before reconnecting, in milliseconds; it doubles each time. Default: 500. */
  minDelay?: number;
  /** The longest pause; four times as long after a limit was reached. Default 30,000. */
  maxDelay?: number;
  /** Between 0 and 1; pauses are between half and one and a half times as long. */
  random?: () => number;
}

export interface EventDetails {
  /**
   * The graph is the view's graph at one instant. The actions are what changed since the last such event; with reset
   * they are all of the graph, and what was there before is gone.
   */
  rev: { rev: string; reset: boolean; actions: Action[] };
  /**
   * With the option parts: some of the actions of the next rev. Those of a rev that did not come count no more when
   * there is a first one again; with reset they are of a graph that replaces the one before.
   */
  part: { actions: Action[]; first: boolean; reset: boolean };
  /** The graph is complete; once for each connection and reset. */
  synced: { rev: string };
  /** Warnings came or were taken back. */
  warning: { warnings: Warning[]; cleared: Warning[] };
  /**
   * A connection was lost. Without retryIn, milliseconds, it was the last one. The reason is a word, such as Forbidden, "" where
   * none was said; the message is for people.
   */
  error: { code: number; reason: string; message: string; retryIn?: number };
  /** The end. 1000: the view was deleted (Deleted), or stop was called (Stopped). */
  close: { code: number; reason: string; message: string };
}

export class GraphViewEvent<T extends keyof EventDetails = keyof EventDetails> extends Event {
  constructor(type: T, detail: EventDetails[T]);
  readonly detail: EventDetails[T];
}

/** Follows one view until it is stopped or the server says that there is no more. It is an EventTarget, of these events. */
export class GraphView {
  constructor(options: Options);
  readonly graph: Graph;
  /** The graph is that of the view at one instant, as it is at a rev event. */
  readonly whole: boolean;
  stop(): void;
  addEventListener<T extends keyof EventDetails>(
    type: T, listener: (event: GraphViewEvent<T>) => void, options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<T extends keyof EventDetails>(
    type: T, listener: (event: GraphViewEvent<T>) => void, options?: boolean | EventListenerOptions,
  ): void;
}
