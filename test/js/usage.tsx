// <graph-view> in React, as TypeScript sees it.
/// <reference types="graphview/react" />
import { useEffect, useRef, useState } from "react";
import type { GraphViewElement } from "graphview/element";
import { GraphMap, useGraphView } from "graphview/react";

declare const session: { token(): Promise<string> };

export function Tab({ view, object }: { view: string; object: string }) {
  const element = useRef<GraphViewElement>(null);
  const [selected, setSelected] = useState("");
  useEffect(() => {
    const { current } = element;
    const listen = ({ detail }: { detail: { state: string } }) => history.replaceState(undefined, "", `?${detail.state}`);
    current?.addEventListener("statechange", listen);
    return () => current?.removeEventListener("statechange", listen);
  }, []);
  return (
    <graph-view
      ref={element} view={view} root={object} direction="Both" depth={2} keys="page" token={() => session.token()} style={{ height: "70vh" }} title={selected}
      onselect={({ detail }) => setSelected(detail.key ?? "")} onrefused={(event) => { if (event.detail.code === 403) event.preventDefault(); }}
      actions={({ kind, namespace, name }) => (kind === "Pod" ? [{ label: "Logs", act: () => window.open(`/logs/${namespace}/${name}`) }] : [])}
    >
      <p slot="refused">Ask your team for access.</p>
    </graph-view>
  );
}

export function Component({ root }: { root: string }) {
  const graph = useGraphView({ base: "/graphview", namespace: "shop", name: "everything", content: "summary" });
  return (
    <GraphMap base="/graphview" view="shop/everything" root={root} depth={2} onSelect={({ detail }) => console.log(detail.key?.length, graph?.vertices.size)} className="map" fetch={fetch}>
      <p slot="refused">Ask your team for access.</p>
    </GraphMap>
  );
}

const element = document.createElement("graph-view");
element.addEventListener("select", ({ detail }) => console.log(detail.key?.length));
element.addEventListener("open", (event) => console.log(event.detail.key, event.detail.box));
element.addEventListener("follow", (event) => { event.preventDefault(); console.log(event.detail.view); });
element.addEventListener("pointerdown", ({ clientX }) => console.log(clientX));
element.base = "https://graphs.example.com";
element.theme = "dark";
element.transport = "events";
element.root = "deployments.apps/shop/web";
element.depth = 2;
element.snapshot = { actions: [{ svx: { vx: { g: "", v: "v1", r: "pods", ns: "shop", n: "web" } } }], synced: true, taken: Date.now() };
element.retry();

// @ts-expect-error: there is no such theme
export const wrong = <graph-view theme="blue" />;
// @ts-expect-error: this event has no such detail
element.addEventListener("statechange", ({ detail }) => console.log(detail.key));
// @ts-expect-error: there is no such event
export const unknown = <GraphMap view="shop/everything" onselect={() => {}} />;
