// What is loaded after the first drawing: exports, the text of an object, the help.
export { exportItems } from "./view/export.js";
export { toYAML } from "./view/yaml.js";
export { help } from "./view/legend.js";
