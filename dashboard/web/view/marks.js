// The line below the map that says what its colours and signs mean. The help has all of them.
import { h } from "./h.js";

const roles = [["network", "network"], ["policy", "policy"], ["workload", "workload"], ["config", "config"], ["storage", "storage"], ["identity", "identity"], ["other", "other"]];
const signs = [["▲", "bad", "broken"], ["✕", "bad", "missing"], ["◔", "warn", "on its way"]];

/** Returns the legend's children: the colours of roles, and signs. */
export const legendOf = () => [
  ...roles.map(([role, words]) => h("span", { class: role }, h("i", {}), h("span", {}, words))),
  ...signs.map(([sign, how, words]) => h("span", {}, h("b", { class: `sign ${how}` }, sign), words)),
];
