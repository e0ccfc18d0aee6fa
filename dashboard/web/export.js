// What is loaded when something is exported, and not before.
export { exportItems } from "./view/export.js";
