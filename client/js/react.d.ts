// Types of react.js, and of <graph-view> in JSX: /// <reference types="graphview/react" />
import type { CSSProperties, DetailedHTMLProps, HTMLAttributes, ReactElement, ReactNode } from "react";
import type { GraphViewAttributes, GraphViewElement, GraphViewElementEvents } from "./element.js";
import type { Options } from "./graphview.js";
import type { Snapshot } from "./store.js";

export interface GraphMapProps extends GraphViewAttributes {
  onSelect?: (event: GraphViewElementEvents["select"]) => void;
  onOpen?: (event: GraphViewElementEvents["open"]) => void;
  onStateChange?: (event: GraphViewElementEvents["statechange"]) => void;
  onFollow?: (event: GraphViewElementEvents["follow"]) => void;
  onRefused?: (event: GraphViewElementEvents["refused"]) => void;
  className?: string;
  style?: CSSProperties;
  /** What is in the slots, such as <p slot="refused">. */
  children?: ReactNode;
}

/** <graph-view> as a component, for React 18 and newer. Import graphview/element, too, which defines the element. */
export function GraphMap(props: GraphMapProps): ReactElement;

/** The snapshot of a view, undefined at first. Another base, cluster, namespace or name follows another view. */
export function useGraphView(options: Options & { namespace: string; name: string }): Snapshot | undefined;

/** React 19 takes the names of events of custom elements as they are: onselect, onrefused. */
export type GraphViewListeners = { [K in keyof GraphViewElementEvents as `on${K}`]?: (event: GraphViewElementEvents[K]) => void };

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "graph-view": DetailedHTMLProps<HTMLAttributes<GraphViewElement>, GraphViewElement> & GraphViewAttributes & GraphViewListeners;
    }
  }
}
