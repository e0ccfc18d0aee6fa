// Types of connection.js.
import type { Place, Subscribable } from "./graphview.js";

export interface ConnectionOptions extends Omit<Place, "cluster"> {
  /** Default: the global one. Node.js before 22 has none; the package ws has one. */
  WebSocket?: new (url: string, protocols: string[]) => unknown;
}

/** Many graphs on one WebSocket, which is opened with the first and closed with the last: the `connection` of GraphViews. */
export class Connection implements Subscribable {
  constructor(options?: ConnectionOptions);
  subscribe: Subscribable["subscribe"];
}
