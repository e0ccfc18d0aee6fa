// <graph-view> in JSX, for React 19: /// <reference types="graphview/react" />
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { GraphViewAttributes, GraphViewElement } from "./element.js";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "graph-view": DetailedHTMLProps<HTMLAttributes<GraphViewElement>, GraphViewElement> & GraphViewAttributes;
    }
  }
}
