// The script of a page that `kubectl graphview get -o html` writes. It draws the graph
// that is embedded in the page, and makes no requests.
import { GraphViewElement } from "./graph-view.js";
import { h } from "./view/h.js";

const { view, taken, graph } = JSON.parse(document.querySelector("script[type='application/json']").textContent);
const element = new GraphViewElement();
element.setAttribute("view", view);
element.snapshot = { ...graph, taken };
element.append(h("strong", { slot: "start" }, view));
document.querySelector("main").replaceChildren(element, h("h1", { class: "hidden-title" }, `A snapshot of ${view}`));
