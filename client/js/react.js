// <graph-view> and graphs in React, from version 18 on. Before 19, React drops the properties and events of custom elements, so the
// component sets them itself. Import graphview/element, too, which defines the element.
import { createElement, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { GraphView } from "./graphview.js";
import { createStore } from "./store.js";

const properties = ["base", "theme", "transport", "worker", "keys", "root", "direction", "depth", "token", "fetch", "actions", "snapshot", "state", "view"];
const events = { select: "onSelect", open: "onOpen", statechange: "onStateChange", follow: "onFollow", refused: "onRefused" };

/** <graph-view> as a component: its attributes and properties are props, and so are its events, as onSelect and so on. */
export function GraphMap({ children, className, style, ...given }) {
  const ref = useRef(/** @type {any} */ (null));
  const props = useRef(given);
  const set = useRef({});
  // Before the properties: the element may refuse a view as soon as it has one.
  useLayoutEffect(() => {
    const element = ref.current;
    // The listener of the last rendering, so that a function that is made for each one is no other listener.
    const listeners = Object.entries(events).map(([type, name]) => [type, (event) => props.current[name]?.(event)]);
    for (const [type, listener] of listeners) element.addEventListener(type, listener);
    return () => { for (const [type, listener] of listeners) element.removeEventListener(type, listener); };
  }, []);
  useLayoutEffect(() => {
    props.current = given;
    const element = ref.current;
    if (className !== undefined || element.className) element.className = className ?? "";
    for (const name of properties) {
      if (given[name] === set.current[name]) continue;
      element[name] = set.current[name] = given[name];
    }
  });
  return createElement("graph-view", { ref, style }, children);
}

const nothing = { subscribe: () => () => {}, getSnapshot: () => undefined };

/** The snapshot of a view, undefined at first. Another base, namespace or name follows another view; the other options are those of the first rendering of it. */
export function useGraphView(options) {
  const [store, setStore] = useState(nothing);
  const { base, cluster, namespace, name } = options;
  useEffect(() => {
    const view = new GraphView(options);
    setStore(createStore(view));
    return () => {
      view.stop();
      setStore(nothing);
    };
  }, [base, cluster, namespace, name]);
  return useSyncExternalStore(store.subscribe, store.getSnapshot);
}
