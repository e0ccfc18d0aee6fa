// <graph-view> in React, as TypeScript sees it.
/// <reference types="graphview/react" />
import { useRef } from "react";
import type { GraphViewElement } from "graphview/element";

declare const session: { token(): Promise<string> };

export function Tab({ view }: { view: string }) {
  const element = useRef<GraphViewElement>(null);
  return (
    <graph-view
      ref={element} view={view} token={() => session.token()} style={{ height: "70vh" }}
      actions={({ kind, namespace, name }) => (kind === "Pod" ? [{ label: "Logs", act: () => window.open(`/logs/${namespace}/${name}`) }] : [])}
    />
  );
}

// @ts-expect-error: there is no such theme
export const wrong = <graph-view theme="blue" />;
