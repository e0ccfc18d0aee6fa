// The legend of the map's signs.
import { h, icon } from "./h.js";
import { glyph } from "./icons.js";

const roles = [["network", "services", "networking"], ["workload", "deployments", "workloads"], ["config", "configmaps", "settings"], ["storage", "persistentvolumeclaims", "storage"],
  ["identity", "serviceaccounts", "identities and their rights"], ["policy", "poddisruptionbudgets", "policies"]];

const namespace = "http://www.w3.org/2000/svg";

// A line as the map has it.
function line(name, width, dash) {
  const svg = document.createElementNS(namespace, "svg");
  const path = document.createElementNS(namespace, "path");
  const set = (element, attributes) => { for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value); };
  set(svg, { viewBox: "0 0 36 12", class: `stroke ${name}`, "aria-hidden": "true" });
  set(path, { d: "M1 6h28M29 2.5l6 3.5-6 3.5", "stroke-width": width, ...(dash ? { "stroke-dasharray": dash } : {}) });
  svg.append(path);
  return svg;
}

const sign = (text, name = "") => h("span", { class: `sign ${name}` }, text);

/** The help: signs and keys. */
export function help(options) {
  const keys = [
    ["wheel, drag, + − 0 1", "zoom, pan, everything, actual size"], ["arrows", "the nearest card in that direction"], ["[  ]", "back and on along references"],
    ["Enter", "details"], ["E", "open or fold a card"], ["Shift+E", "open or fold everything in its box"], ["F", "focus: only what it has to do with"], ["U  D  B", "in a focus: up, down, both"], ["1 … 5", "in a focus: how deep"],
    ["N  P", "next and previous problem"], [",  .", "the graph at the change before, and after"], ["/", "search"], ["T", "outline"], ...(options?.snapshot ? [] : [["Space", "pause and go on"]]), ["Esc", "back, close"], ["?", "this"],
  ];
  return [h("div", { class: "help" },
    h("div", {}, h("h2", {}, "What the map shows"), h("div", { class: "keys" }, ...legend())),
    h("div", {}, h("h2", {}, "Keys"), h("div", { class: "keys" }, ...keys.flatMap(([key, what]) => [h("span", {}, h("kbd", {}, key)), h("span", {}, what)]))))];
}

// Signs and what they mean, as children of a grid of two columns.
function legend() {
  const rows = [
    [h("span", { class: "roles" }, ...roles.map(([role, resource]) => icon(glyph(resource), `glyph ${role}`))), `the kind: ${roles.map(([, , words]) => words).join(", ")}`],
    [sign("▲ ✕", "bad"), "broken; referred to, and missing"],
    [sign("◔", "warn"), "on its way"],
    [sign("‖ ⌫"), "suspended; being deleted"],
    [sign("×9"), "Pods of the card, with a bar: ready, on their way, broken"],
    [sign("+2"), "what else the card has in it: E opens it"],
    [h("span", { class: "sample" }, "8 other objects"), "no workload is among them, and nothing is wrong with them: E or a click opens it"],
    [line("owns", 1.8), "owns"],
    [line("", 1.1), "uses or selects"],
    [line("", 1.1, "1.5 3"), "names, for something else to use"],
    [line("bad", 1.5, "5 3"), "leads to what is missing"],
    [h("span", { class: "bars" }, ...["accent", "line", "good", "warn", "bad"].map((colour) => h("i", { class: colour }))), "the strip of changes, from below: somebody did something, followed from that, became well, is on its way, broke"],
    [h("span", {}, sign("+ ", "plus"), sign("− ", "bad"), sign("~", "differs")), "in the past: came since, is gone now, differs now"],
    [h("span", { class: "sample" }, "shared"), "so much uses these that lines would hide the rest. The number says how many references there are; select one to see them"],
  ];
  return rows.flatMap(([what, means]) => [h("span", {}, what), h("span", {}, means)]);
}
