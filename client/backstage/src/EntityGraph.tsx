// The tab of an entity.
import { discoveryApiRef, useApi } from "@backstage/core-plugin-api";
import { MissingAnnotationEmptyState, useEntity } from "@backstage/plugin-catalog-react";
import { GraphMap, type GraphMapProps } from "graphview/react";
import { useEffect, useState } from "react";
import { graphOf, idAnnotation } from "./annotations";
import { graphViewTokenApiRef } from "./token";

/** The path of the operator in the proxy of Backstage, proxy.endpoints of app-config.yaml. */
export const proxyPath = "/graphview";

export type EntityGraphProps = Pick<GraphMapProps, "actions" | "direction" | "depth" | "theme" | "onSelect" | "onRefused" | "children">;

/** The part of a view that an entity leads to. Props are those of <graph-view>, such as actions in the details of an object. */
export function EntityGraph(props: EntityGraphProps) {
  const graph = graphOf(useEntity().entity);
  const discovery = useApi(discoveryApiRef);
  const tokens = useApi(graphViewTokenApiRef);
  const [base, setBase] = useState<string>();
  useEffect(() => {
    let left = false;
    void discovery.getBaseUrl("proxy").then((proxy) => { if (!left) setBase(proxy + proxyPath); });
    return () => { left = true; };
  }, [discovery]);
  if (!graph) return <MissingAnnotationEmptyState annotation={idAnnotation} />;
  if (!base) return null;
  // The proxy of Backstage passes no WebSockets.
  return <GraphMap {...props} {...graph} base={base} transport="events" token={() => tokens.getToken()} style={{ display: "block", height: "75vh" }} />;
}
