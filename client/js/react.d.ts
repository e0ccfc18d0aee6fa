// <graph-view> in JSX, for React 19: /// <reference types="graphview/react" />
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { GraphViewAttributes, GraphViewElement, GraphViewElementEvents } from "./element.js";

/** React takes the names of events of custom elements as they are: onselect, onrefused. */
export type GraphViewListeners = { [K in keyof GraphViewElementEvents as `on${K}`]?: (event: GraphViewElementEvents[K]) => void };

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "graph-view": DetailedHTMLProps<HTMLAttributes<GraphViewElement>, GraphViewElement> & GraphViewAttributes & GraphViewListeners;
    }
  }
}
