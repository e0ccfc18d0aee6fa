// The page in the sidebar: <graph-view> in Headlamp's theme.
import { K8s, Router } from "@kinvolk/headlamp-plugin/lib";
import { Loader } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import MenuItem from "@mui/material/MenuItem";
import { useTheme } from "@mui/material/styles";
import TextField from "@mui/material/TextField";
import Typography from "@mui/material/Typography";
import { useMemo } from "react";
import { useHistory, useLocation } from "react-router-dom";
import "../../js/element.js";
import type { GraphViewObject } from "../../js/element.js";
import type { Listed } from "../../js/graphview.js";
import { GraphMap } from "../../js/react.js";
import { placeOf } from "./cluster";
import { useAnswer } from "./hooks";
import { routeOf } from "./links";
import { Sentence } from "./object";
import { listViews } from "./views";

type View = Listed & { cluster: string };

const nameOf = ({ cluster, namespace, name }: View, several: boolean) => `${several ? `${cluster}: ` : ""}${namespace}/${name}`;
const idOf = (view: View) => nameOf(view, true);

export function GraphPage() {
  const clusters = K8s.useSelectedClusters();
  const history = useHistory();
  const { pathname, search } = useLocation();
  const found = useAnswer(async (signal) => {
    const asked = await Promise.allSettled(clusters.map(async (cluster) => (await listViews(placeOf(cluster), allowedNamespaces(cluster), signal)).map((view) => ({ ...view, cluster }))));
    const views = asked.flatMap((one) => (one.status === "fulfilled" ? one.value : [])).sort((a, b) => b.vertices - a.vertices);
    if (views.length === 0) for (const one of asked) if (one.status === "rejected") throw one.reason;
    return views;
  }, clusters.join(" "));
  if (found.error) return <Sentence error={found.error} />;
  if (!found.value) return <Loader title="Asking GraphView" />;
  const wanted = new URLSearchParams(search).get("view");
  const view = found.value.find((one) => idOf(one) === wanted) ?? found.value[0];
  if (!view) return <Typography>There is no GraphView yet. To make one: <code>kubectl graphview new namespace -n NAMESPACE | kubectl apply -f -</code></Typography>;
  return (
    <div style={{ display: "flex", flexDirection: "column", height: "100%", minHeight: 500 }}>
      <TextField select size="small" label="GraphView" value={idOf(view)} sx={{ m: 1, maxWidth: 420 }} onChange={({ target }) => history.replace({ pathname, search: new URLSearchParams({ view: target.value }).toString() })}>
        {found.value.map((one) => <MenuItem key={idOf(one)} value={idOf(one)}>{nameOf(one, clusters.length > 1)} ({one.vertices} objects)</MenuItem>)}
      </TextField>
      <Graph view={view} key={idOf(view)} />
    </div>
  );
}

// The namespaces that the cluster's settings in Headlamp allow, for users who may not list all graphs.
const allowedNamespaces = (cluster: string): string[] => {
  try {
    return JSON.parse(localStorage.getItem(`cluster_settings.${cluster}`) ?? "{}").allowedNamespaces ?? [];
  } catch {
    return [];
  }
};

function Graph({ view: { cluster, namespace, name } }: { view: View }) {
  const history = useHistory();
  const { palette } = useTheme();
  const place = useMemo(() => placeOf(cluster), [cluster]);
  const actions = ({ group, version, resource, kind, ...object }: GraphViewObject) => {
    const route = routeOf({ g: group, v: version, r: resource, ns: object.namespace || undefined, n: object.name }, kind);
    return route ? [{ label: "Open in Headlamp", act: () => history.push(Router.createRouteURL(route.routeName, { ...route.params, cluster })) }] : [];
  };
  const { background, divider, text } = palette;
  const colours = {
    bg: background.default, place: background.default, box: background.default, card: background.paper, surface: background.paper,
    "place-edge": divider, "box-edge": divider, "card-edge": divider, "surface-edge": divider, text: text.primary, soft: text.secondary,
  };
  const style = Object.fromEntries(Object.entries(colours).map(([part, colour]) => [`--graph-view-${part}`, colour]));
  // Another element for another theme: the map reads the colours when it is made.
  return <GraphMap key={palette.mode} {...place} transport="events" view={`${namespace}/${name}`} theme={palette.mode} actions={actions} style={{ ...style, flex: 1, minHeight: 0 }} />;
}
