// The code that is loaded after the first drawing: exports, filters, YAML, reasons, impacts, other clusters and the help.
export { exportItems } from "./view/export.js";
export { filterFields } from "./view/facets.js";
export { impactRows } from "./view/impact.js";
export { remoteEnds } from "./view/remote.js";
export { reasonsOf } from "./view/reasons.js";
export { toYAML } from "./view/yaml.js";
export { help } from "./view/legend.js";
