import { createApiRef } from "@backstage/core-plugin-api";

/** Returns a token of the user that the cluster's API server knows. */
export interface GraphViewTokenApi {
  getToken(): Promise<string>;
}

/** The app says how: see the README. */
export const graphViewTokenApiRef = createApiRef<GraphViewTokenApi>({ id: "plugin.graphview.token" });
