// GraphView in Headlamp. The operator has the answers: the plugin asks it, and reads no objects itself.
import { registerDetailsViewSection, registerMapSource, registerRoute, registerSidebarEntry, type DetailsViewSectionProps } from "@kinvolk/headlamp-plugin/lib";
import { useData } from "./map";
import { ObjectSection } from "./object";
import { GraphPage } from "./page";

registerDetailsViewSection(({ resource }: DetailsViewSectionProps) => (resource ? <ObjectSection resource={resource} /> : null));
registerMapSource({ id: "graphview", label: "GraphView references", useData });
registerSidebarEntry({ parent: null, name: "graphview", label: "GraphView", url: "/graphview", icon: "mdi:graph-outline" });
registerRoute({ path: "/graphview", name: "graphview", sidebar: "graphview", exact: true, isFullWidth: true, component: () => <GraphPage /> });
