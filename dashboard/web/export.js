// The code that is loaded after the first drawing: exports, YAML and the help.
export { exportItems } from "./view/export.js";
export { toYAML } from "./view/yaml.js";
export { help } from "./view/legend.js";
