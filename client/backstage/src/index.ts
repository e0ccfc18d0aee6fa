export { graphOf, isGraphViewAvailable, type EntityGraph } from "./annotations";
export { EntityGraphContent, graphViewPlugin } from "./plugin";
export { graphViewTokenApiRef, type GraphViewTokenApi } from "./token";
