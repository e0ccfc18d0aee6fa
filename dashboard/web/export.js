// The code that is loaded after the first drawing: details, exports, filters and the help.
export { DetailsPanel } from "./view/details.js";
export { exportItems } from "./view/export.js";
export { filterFields } from "./view/facets.js";
export { help } from "./view/legend.js";
export { Timeline } from "./view/timeline.js";
