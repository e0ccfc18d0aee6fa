import { createPlugin, createRoutableExtension, createRouteRef } from "@backstage/core-plugin-api";

const rootRouteRef = createRouteRef({ id: "graphview" });

export const graphViewPlugin = createPlugin({ id: "graphview", routes: { root: rootRouteRef } });

/** The tab of an entity: the element of an EntityLayout.Route. */
export const EntityGraphContent = graphViewPlugin.provide(
  createRoutableExtension({
    name: "EntityGraphContent",
    component: async () => {
      const [{ EntityGraph }] = await Promise.all([import("./EntityGraph"), import("graphview/element")]);
      return EntityGraph;
    },
    mountPoint: rootRouteRef,
  }),
);
