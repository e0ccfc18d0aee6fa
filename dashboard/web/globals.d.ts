/** Defined by hack/bundle for a bundle that is one file. */
declare const GRAPH_VIEW_IN_ONE_FILE: boolean;
