// Types of element.js, which defines <graph-view>. docs/clients.md describes its attributes and properties.

/** An object that is selected in the map. */
export interface GraphViewObject {
  group: string;
  version: string;
  resource: string;
  kind: string;
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

/** The attributes and properties that a page sets. */
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
  /** A bearer token, or a function that is called for each connection and request. Another token opens the view again, and any token once the stream has ended. */
  token?: GraphViewToken;
  /** A graph to show in place of a live one. */
  snapshot?: { actions: unknown[]; warnings?: unknown[]; kinds?: unknown[]; synced?: boolean; taken: number };
  /** Returns the buttons in the details of an object. */
  actions?: (object: GraphViewObject) => GraphViewAction[];
}

export interface GraphViewElementEvents {
  /** An object was selected; the key is group/version/resource/namespace/name. */
  select: CustomEvent<{ key?: string }>;
  /** A card or box was opened or folded. */
  open: CustomEvent<{ key: string; box?: boolean }>;
  statechange: CustomEvent<{ state: string }>;
}

export class GraphViewElement extends HTMLElement {
  view: string;
  token?: GraphViewToken;
  snapshot?: GraphViewAttributes["snapshot"];
  actions?: GraphViewAttributes["actions"];
  /** The part of a permalink after its "?". */
  state: string;
}

declare global {
  interface HTMLElementTagNameMap {
    "graph-view": GraphViewElement;
  }
}
