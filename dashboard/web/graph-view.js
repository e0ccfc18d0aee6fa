// <graph-view view="shop/storefront">: a live drawing of a graph, with an outline,
// details, search and filters. Attributes: view, base, theme (light, dark), state
// (a permalink's), worker ("none": in the page's own thread). Properties: token, snapshot.
// Events: select, open, statechange. Parts: bar, map, panel, outline, timeline.
import { Controller } from "./view/controller.js";
import { Link } from "./link.js";
import { h } from "./view/h.js";
import { styleSheet } from "./view/style.js";

const noWorker = () => { throw new Error("not wanted"); };

export class GraphViewElement extends HTMLElement {
  static observedAttributes = ["view", "base", "theme"];

  /** A link that the page has begun to use, until the element takes it. */
  link;
  #token;
  #snapshot;
  #root;
  #controller;

  constructor() {
    super();
    // What was set before the element was defined would hide the setter.
    for (const name of ["token", "snapshot"]) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
    const shadow = this.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [styleSheet()];
    this.#root = h("div", { class: "root" });
    shadow.append(this.#root);
  }

  connectedCallback() {
    this.#controller = new Controller(this, this.#root, {
      link: this.link ?? new Link(this.getAttribute("worker") === "none" ? { worker: noWorker } : {}),
      exporter: () => import("./export.js"),
    });
    this.link = undefined;
    this.attributeChangedCallback("theme");
    this.#open();
  }

  disconnectedCallback() {
    this.#controller?.stop();
    this.#controller = undefined;
    this.#root.replaceChildren();
  }

  attributeChangedCallback(name) {
    if (name === "theme") {
      const theme = this.getAttribute("theme");
      if (theme === "light" || theme === "dark") this.#root.dataset.theme = theme;
      else delete this.#root.dataset.theme;
      this.#controller?.retheme();
      return;
    }
    this.#open();
  }

  /** A bearer token, or a function that returns one and is called for each connection and request; kept in memory alone. */
  get token() { return this.#token; }

  set token(token) { this.#token = token; }

  /**
   * A graph as it was once: {actions, warnings, synced, taken}, a message of the stream
   * with summaries, and when it was taken, in milliseconds. While there is one,
   * nothing is asked of a server, and view is only what it is of.
   */
  get snapshot() { return this.#snapshot; }

  set snapshot(snapshot) {
    this.#snapshot = snapshot;
    this.#open();
  }

  /** What is shown, and how: what a permalink needs. Nothing of it is secret. */
  get state() { return this.#controller?.state ?? ""; }

  set state(text) { this.#controller?.restore(text); }

  /** The controller, for tests and measurements. */
  get controller() { return this.#controller; }

  #open() {
    if (!this.#controller || !this.isConnected) return;
    const [namespace, name] = (this.getAttribute("view") ?? "").split("/");
    if (!namespace || !name) {
      this.#controller.close();
      return;
    }
    if (this.#snapshot) {
      this.#controller.open({ namespace, name, snapshot: this.#snapshot });
      return;
    }
    this.#controller.open({
      namespace, name, base: this.getAttribute("base") ?? location.origin, transport: this.getAttribute("transport") ?? undefined,
    });
  }
}

if (!customElements.get("graph-view")) customElements.define("graph-view", GraphViewElement);
