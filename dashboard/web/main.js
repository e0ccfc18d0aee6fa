// The page around <graph-view>: which view is shown, permalinks, and a token where
// the server wants one. The view of the address is asked for before the element is there.
import { Link, placeOf } from "./link.js";
import { themeButton } from "./view/appearance.js";
import { h } from "./view/h.js";
import { ViewPicker } from "./view/picker.js";

// A part of the address that is not valid percent-encoding is taken literally.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// #/shop/storefront?sel=…
function parse() {
  const [, path, query] = /^#?\/?([^?]*)\??(.*)$/.exec(location.hash);
  const view = path.split("/").map(decoded).join("/");
  return { view: /[^/]\/[^/]/.test(view) ? view : "", query };
}

const addressOf = (view) => `#/${view.split("/").map(encodeURIComponent).join("/")}`;

const link = new Link();
// The API is at the root, but for the plugin, which has all of it below a path of its own.
const base = location.origin + (/^\/local-[^/]+(?=\/dashboard\/)/.exec(location.pathname)?.[0] ?? "");
const { view: first } = parse();
if (first) link.begin({ ...placeOf(first), base });
await import("./graph-view.js").catch((error) => {
  link.stop();
  document.querySelector("main").replaceChildren(h("div", { role: "alert" }, h("h1", {}, "A part of this page did not load"), "Reload the page."));
  throw error;
});

const element = /** @type {import("./graph-view.js").GraphViewElement} */ (document.createElement("graph-view"));
element.link = link;
element.setAttribute("base", base);
element.setAttribute("keys", "page"); // they act also while nothing has the focus, as after loading
const picker = new ViewPicker((cluster) => link.at({ base, cluster }), placeOf);
let written = "";

function show() {
  if (location.hash === written) return;
  const { view, query } = parse();
  document.title = view ? `${view} – GraphView` : "GraphView";
  picker.view = view;
  if (element.getAttribute("view") !== view) element.setAttribute("view", view);
  element.state = query;
}

element.addEventListener("statechange", (/** @type {CustomEvent} */ { detail }) => {
  const { view } = parse();
  if (!view) return;
  const hash = `${addressOf(view)}?${detail.state}`;
  if (hash === location.hash) return;
  written = hash;
  // A new selection or focus is a step in the browser's history; a move of the camera is not.
  const step = (text) => text.replace(/[?&]z=[^&]*/, "");
  if (step(hash) === step(location.hash)) history.replaceState(undefined, "", hash);
  else history.pushState(undefined, "", hash);
});
element.addEventListener("follow", (/** @type {CustomEvent} */ event) => {
  event.preventDefault();
  const { view, name } = event.detail;
  location.hash = `${addressOf(view)}?${new URLSearchParams({ q: name })}`;
});
globalThis.addEventListener("hashchange", show);
globalThis.addEventListener("popstate", () => {
  written = "";
  show();
});

picker.element.slot = "start";
const theme = themeButton(element);
theme.slot = "end";
element.append(picker.element, theme);
if (first) element.setAttribute("view", first); // before it looks for one, and closes what has begun
document.querySelector("main").replaceChildren(element, h("h1", { class: "hidden-title" }, "GraphView"));
picker.onchoose = (view) => { location.hash = addressOf(view); };
picker.ontoken = (token) => {
  element.token = token;
};
show();
picker.start();
