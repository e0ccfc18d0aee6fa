// Renders the tab of an entity with annotations, as Backstage does.
import { discoveryApiRef } from "@backstage/core-plugin-api";
import { EntityProvider } from "@backstage/plugin-catalog-react";
import { TestApiProvider, wrapInTestApp } from "@backstage/test-utils";
import { createRoot } from "react-dom/client";
import { isGraphViewAvailable } from "../../client/backstage/src/annotations";
import { EntityGraph } from "../../client/backstage/src/EntityGraph";
import { graphViewTokenApiRef } from "../../client/backstage/src/token";

const entityOf = (annotations: Record<string, string>) => ({ apiVersion: "backstage.io/v1alpha1", kind: "Component", metadata: { name: "web", annotations } });
const apis = [
  [discoveryApiRef, { getBaseUrl: async (plugin: string) => `http://localhost:7007/api/${plugin}` }],
  [graphViewTokenApiRef, { getToken: async () => "token-of-jane" }],
] as const;
const into = createRoot(document.getElementById("root")!);

Object.assign(window, {
  available: (annotations: Record<string, string>) => isGraphViewAvailable(entityOf(annotations)),
  show: (annotations: Record<string, string>) => into.render(wrapInTestApp(
    <TestApiProvider apis={apis}>
      <EntityProvider entity={entityOf(annotations)}>
        <EntityGraph actions={() => [{ label: "Logs", act() {} }]} onSelect={({ detail }) => Object.assign(window, { selected: detail.key })} />
      </EntityProvider>
    </TestApiProvider>,
  )),
});
