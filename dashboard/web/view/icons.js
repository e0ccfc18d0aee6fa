// Glyphs of kinds and buttons: strokes in a square of 20 x 20.

const cube = "M10 3l6 3.3v7.4L10 17l-6-3.3V6.3zM4 6.3l6 3.4 6-3.4M10 9.7V17";
const glyphs = {
  pods: cube,
  deployments: "M10 3a7 7 0 1 1-6.5 4.4M3 3.5v4h4M10 7.2l2.6 1.4v3L10 13l-2.6-1.4v-3z",
  replicasets: "M7 3h10v10h-3M3 7h11v10H3z",
  replicationcontrollers: "M7 3h10v10h-3M3 7h11v10H3z",
  controllerrevisions: "M5 3h7l3 3v11H5zM8 10h4M8 13h4",
  statefulsets: "M3.5 5.5c0-3 13-3 13 0s-13 3-13 0zM3.5 5.5v9c0 3 13 3 13 0v-9M3.5 10c0 3 13 3 13 0",
  daemonsets: "M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z",
  jobs: "M6 3h8M6 17h8M7 3c0 5 6 4 6 7s-6 2-6 7M13 3c0 5-6 4-6 7s6 2 6 7",
  cronjobs: "M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM10 6v4l3 2",
  services: "M10 3v4M10 13v4M3 10h4M13 10h4M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  endpoints: "M3 10h8M8 6l4 4-4 4M16 5v10",
  endpointslices: "M3 6h7M3 10h10M3 14h7M14 7l3 3-3 3",
  ingresses: "M3 10h9M9 6l4 4-4 4M12 3h5v14h-5",
  gateways: "M3 17V8a7 7 0 0 1 14 0v9M7 17v-8a3 3 0 0 1 6 0v8",
  httproutes: "M3 15h4l6-10h4M14 2l3 3-3 3M3 5h4l2 3M11 12l2 3h4M14 12l3 3-3 3",
  networkpolicies: "M3 4h14v12H3zM3 8h14M3 12h14M8 4v4M12 8v4M8 12v4",
  poddisruptionbudgets: "M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5zM7 10h6",
  horizontalpodautoscalers: "M3 10h14M6 7l-3 3 3 3M14 7l3 3-3 3",
  configmaps: "M5 3h7l3 3v11H5zM8 9h4M8 12h4",
  secrets: "M5 9h10v8H5zM7 9V6.5a3 3 0 0 1 6 0V9M10 12v2",
  certificates: "M4 4h12v8H4zM7 7h6M10 12v5l-2-1M10 17l2-1",
  persistentvolumeclaims: "M4 6c0-3 12-3 12 0s-12 3-12 0zM4 6v8c0 3 12 3 12 0V6M8 12l2 2 3-4",
  persistentvolumes: "M4 6c0-3 12-3 12 0s-12 3-12 0zM4 6v8c0 3 12 3 12 0V6",
  storageclasses: "M3 5h14v4H3zM3 11h14v4H3zM6 7h.1M6 13h.1",
  serviceaccounts: "M10 3.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM4 17c0-7 12-7 12 0",
  roles: "M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5z",
  clusterroles: "M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5zM7.5 10l2 2 3.5-4",
  rolebindings: "M8 7.5L6 5.5a3 3 0 0 0-3 5l2 2a3 3 0 0 0 4 0M12 12.5l2 2a3 3 0 0 0 3-5l-2-2a3 3 0 0 0-4 0M8 12l4-4",
  nodes: "M3 4h14v9H3zM7 17h6M10 13v4",
  namespaces: "M3 6V3h3M14 3h3v3M17 14v3h-3M6 17H3v-3M7 7h6v6H7z",
  kustomizations: "M10 3l7 4-7 4-7-4zM3 10.5l7 4 7-4M3 14l7 3.5L17 14",
  uses: "M4 5h12M4 10h12M4 15h12",
};
glyphs.clusterrolebindings = glyphs.rolebindings;
glyphs.helmreleases = glyphs.kustomizations;
glyphs.applications = glyphs.kustomizations;
glyphs.externalsecrets = glyphs.secrets;

/** A resource's glyph; undefined: it has none, and its first letters are shown. */
export const glyph = (resource) => glyphs[resource];

export const signs = {
  plus: "M10 4v12M4 10h12", minus: "M4 10h12", fit: "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4", tidy: "M3 3h6v6H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 11h6v6H3z",
  close: "M5 5l10 10M15 5L5 15", filter: "M3 4h14l-5.5 6.5V16l-3 1.5v-7z", outline: "M3 5h2M8 5h9M6 10h2M11 10h6M6 15h2M11 15h6", share: "M10 12V3M6.5 6L10 3l3.5 3M4 10v7h12v-7",
  help: "M7.5 7.5a2.5 2.5 0 1 1 3.5 2.4c-.7.3-1 .8-1 1.6M10 15v.1",
  problem: "M10 3.5l7 12.5H3zM10 8v4M10 14v.1", focus: "M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM10 2v3M10 15v3M2 10h3M15 10h3", copy: "M7 7h10v10H7zM3 13V3h10",
};
