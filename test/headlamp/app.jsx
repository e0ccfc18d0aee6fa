// The parts of Headlamp's published package that make a page: its store, theme, routes and loader of plugins. Headlamp's own
// entry, with its frame and menus, is not in the package.
import store from "@kinvolk/headlamp-plugin/lib/redux/stores/store.js"; // first: the modules import each other
import { fetchAndExecutePlugins, initializePlugins } from "@kinvolk/headlamp-plugin/lib/plugin/index.js";
import { setConfig } from "@kinvolk/headlamp-plugin/lib/redux/configSlice.js";
import { setStore } from "@kinvolk/headlamp-plugin/lib/lib/router/createRouteURL.js";
import { createMuiTheme } from "@kinvolk/headlamp-plugin/lib/lib/themes.js";
import { darkTheme, lightTheme } from "@kinvolk/headlamp-plugin/lib/components/App/defaultAppThemes.js";
import { queryClient } from "@kinvolk/headlamp-plugin/lib/lib/queryClient.js";
import RouteSwitcher, { PreviousRouteProvider } from "@kinvolk/headlamp-plugin/lib/components/App/RouteSwitcher.js";
import { useGetAllRelations } from "@kinvolk/headlamp-plugin/lib/components/resourceMap/sources/definitions/relations.js";
import { GraphSourceManager, useSources } from "@kinvolk/headlamp-plugin/lib/components/resourceMap/sources/GraphSources.js";
import { useSidebarItems } from "@kinvolk/headlamp-plugin/lib/components/Sidebar/useSidebarItems.js";
import CssBaseline from "@mui/material/CssBaseline";
import { StyledEngineProvider, ThemeProvider } from "@mui/material/styles";
import { QueryClientProvider } from "@tanstack/react-query";
import { SnackbarProvider } from "notistack";
import { createRoot } from "react-dom/client";
import { Provider } from "react-redux";
import { BrowserRouter, Link } from "react-router-dom";

const { clusters, theme } = window.given;

// The entries of Headlamp's sidebar, those of plugins among them, as bare links.
function Sidebar() {
  const flat = (items) => items.flatMap((item) => [item, ...flat(item.subList ?? [])]);
  const base = location.pathname.split("/").slice(0, 3).join("/");
  return <nav>{flat(useSidebarItems()).filter(({ url }) => url).map(({ name, label, url }) => <Link key={name} to={base + url}>{label}</Link>)}</nav>;
}

// For measurements.
Object.assign(window, { store, createRoot, GraphSourceManager, useSources });

// The relations of Headlamp's own map, for tests.
function Relations() {
  window.relations = useGetAllRelations();
  return null;
}

function App() {
  return (
    <PreviousRouteProvider>
      <main style={{ padding: 16, height: "100vh", boxSizing: "border-box" }}><RouteSwitcher requiresToken={() => false} /></main>
      <div hidden><Sidebar /><Relations /></div>
    </PreviousRouteProvider>
  );
}

setStore(store);
store.dispatch(setConfig({ clusters: Object.fromEntries(clusters.map((name) => [name, { name, auth_type: "" }])) }));
// Records what the source of the plugin gives to Headlamp's map.
const { registerMapSource } = window.pluginLib;
window.pluginLib.registerMapSource = ({ useData, ...source }) => registerMapSource({ ...source, useData: () => (window.lines = useData()) });
await fetchAndExecutePlugins([], () => {}, (incompatible) => { window.incompatible = incompatible; });
await initializePlugins();
createRoot(document.getElementById("root")).render(
  <Provider store={store}>
    <StyledEngineProvider injectFirst>
      <ThemeProvider theme={createMuiTheme(theme === "dark" ? darkTheme : lightTheme)}>
        <CssBaseline />
        <QueryClientProvider client={queryClient}>
          <SnackbarProvider><BrowserRouter><App /></BrowserRouter></SnackbarProvider>
        </QueryClientProvider>
      </ThemeProvider>
    </StyledEngineProvider>
  </Provider>,
);
