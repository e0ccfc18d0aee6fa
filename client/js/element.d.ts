// Types of element.js, which defines <graph-view>. docs/clients.md describes its attributes and properties.
import type { Message } from "./graphview.js";

/** An object that is selected in the map. */
export interface GraphViewObject {
  group: string;
  version: string;
  resource: string;
  kind: string;
  /** The cluster of several, undefined where there is one. */
  cluster?: string;
  /** "" for objects of the cluster. */
  namespace: string;
  name: string;
}

/** A button in the details of an object. */
export interface GraphViewAction {
  label: string;
  act(): void;
}

export type GraphViewToken = string | (() => string | Promise<string>);

/** A message of the stream that has a whole graph with summaries. */
export interface GraphViewSnapshot extends Pick<Message, "actions" | "warnings" | "kinds" | "synced"> {
  /** When it was taken, in milliseconds since 1970. */
  taken: number;
}

/** The attributes and properties that a page sets. Each attribute is also a property. */
export interface GraphViewAttributes {
  /** [CLUSTER:]NAMESPACE/NAME, with the cluster at a hub. */
  view?: string;
  /** Where graphs are served. Default: the page's own origin. */
  base?: string;
  theme?: "light" | "dark";
  /** Server-sent events in place of a WebSocket. */
  transport?: "events";
  /** Everything runs in the page's own thread. */
  worker?: "none";
  /** Keys act wherever the focus is, for a page that has nothing else in it. */
  keys?: "page";
  /** Only a part of the view: what this object, RESOURCE.GROUP/NAMESPACE/NAME, leads to. */
  root?: string;
  /** What of the root: what it leads to (default), what leads to it, or both. */
  direction?: "Down" | "Up" | "Both";
  /** How many references from the root. */
  depth?: number | string;
  /** A bearer token, or a function that is called for each connection and request. Another token opens the view again, and any token once the stream has ended. */
  token?: GraphViewToken;
  /** Replaces the global fetch, with transport="events" for streams too. Set before the element is in a page. */
  fetch?: typeof fetch;
  /** A graph to show in place of a live one. It needs no view. */
  snapshot?: GraphViewSnapshot;
  /** Returns the buttons in the details of an object. */
  actions?: (object: GraphViewObject) => GraphViewAction[];
  /** The part of a permalink after its "?". */
  state?: string;
}

export interface GraphViewElementEvents {
  /** An object was selected; the key is group/version/resource/namespace/name. */
  select: CustomEvent<{ key?: string }>;
  /** A card or box was opened or folded. */
  open: CustomEvent<{ key: string; box?: boolean }>;
  statechange: CustomEvent<{ state: string }>;
  /** At a hub, a reference leads to another cluster. Unless its default is prevented, the element shows that view. */
  follow: CustomEvent<{ view: string; name: string }>;
  /** The stream has ended for a reason that a person has to remove. Unless its default is prevented, the element says so. */
  refused: CustomEvent<{ code?: number; reason?: string; message?: string }>;
}

export class GraphViewElement extends HTMLElement {
  view: string;
  base: string;
  /** "" is as the system has it. */
  theme: "light" | "dark" | "";
  transport: "events" | "";
  worker: "none" | "";
  keys: "page" | "";
  root: string;
  direction: "Down" | "Up" | "Both" | "";
  get depth(): string;
  set depth(depth: number | string | undefined);
  token?: GraphViewToken;
  fetch?: typeof fetch;
  snapshot?: GraphViewSnapshot;
  actions?: GraphViewAttributes["actions"];
  state: string;
  /** Follows the view again, after the stream has ended. */
  retry(): void;

  addEventListener<K extends keyof GraphViewElementEvents>(
    type: K, listener: (this: GraphViewElement, event: GraphViewElementEvents[K]) => unknown, options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K, listener: (this: HTMLElement, event: HTMLElementEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof GraphViewElementEvents>(
    type: K, listener: (this: GraphViewElement, event: GraphViewElementEvents[K]) => unknown, options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener<K extends keyof HTMLElementEventMap>(
    type: K, listener: (this: HTMLElement, event: HTMLElementEventMap[K]) => unknown, options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "graph-view": GraphViewElement;
  }
}
