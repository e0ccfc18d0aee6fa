// <graph-view view="shop/storefront">: a live drawing of a graph, with an outline,
// details, search and filters. Attributes, which are properties too: view, base, theme (light, dark),
// transport, worker ("none": in the page's own thread), keys ("page": they act wherever
// the focus is, for a page with nothing else in it), and root, direction and depth, which show a part of the view.
// Properties: token, fetch, snapshot, actions, state (a permalink's). Method: retry.
// Events: select, open, statechange, follow, refused. Slots: start, end, refused. Parts: bar, notes, map, legend, panel, outline, timeline.
import { Controller } from "./view/controller.js";
import { Link, placeOf } from "./link.js";
import { h } from "./view/h.js";
import { styleSheet } from "./view/style.js";

const attributes = ["view", "base", "theme", "transport", "worker", "keys", "root", "direction", "depth"];
const noWorker = () => { throw new Error("not wanted"); };

// A server that renders pages imports this module in Node.js, where there are no elements.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class GraphViewElement extends Base {
  static observedAttributes = ["view", "base", "transport", "theme", "root", "direction", "depth"];

  /** A link that the page has begun to use, until the element takes it. */
  link;
  #actions;
  #token;
  #fetch;
  #snapshot;
  #root;
  #controller;
  #opening = false;
  #opened = ""; // what the controller was told to open, as text
  #shown; // the snapshot that it was told to show
  #state = ""; // what was shown when the element left the page

  constructor() {
    super();
    // A property that was set before the element was defined would hide the setter.
    for (const name of ["token", "fetch", "snapshot", "actions", "state", ...attributes]) {
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
      link: this.link ?? new Link(this.#fetch || this.getAttribute("worker") === "none" ? { worker: noWorker } : {}),
      exporter: () => import("./export.js"),
    });
    this.link = undefined;
    this.#opened = "";
    this.attributeChangedCallback("theme");
    if (this.#state) this.#controller.restore(this.#state);
    this.#open();
  }

  disconnectedCallback() {
    this.#state = this.state;
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

  set token(token) {
    this.#token = token;
    this.#open();
  }

  /** Replaces the global fetch for streams and requests. Set before the element is in a page. A worker cannot call it: everything runs in the page's own thread. */
  get fetch() { return this.#fetch; }

  set fetch(fetch) { this.#fetch = fetch; }

  /** Returns the actions in the details of an object: a function of {group, version, resource, kind, namespace, name} that returns [{label, act}]. */
  get actions() { return this.#actions; }

  set actions(actions) { this.#actions = actions; }

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

  /** The state for a permalink: filters, selection and camera. It contains no secrets. */
  get state() { return this.#controller?.state ?? this.#state; }

  set state(text) {
    this.#state = text;
    this.#controller?.restore(text);
  }

  /** Follows the view again, after the stream has ended. */
  retry() { this.#controller?.retry(); }

  /** The controller, for tests and measurements. */
  get controller() { return this.#controller; }

  // A page may set one thing after the other, and the same again each time it renders. The view
  // opens once, and again only if that differs from what is open, or if the stream has ended.
  #open() {
    if (this.#opening) return;
    this.#opening = true;
    queueMicrotask(() => {
      this.#opening = false;
      this.#openNow();
    });
  }

  #openNow() {
    if (!this.#controller || !this.isConnected) return;
    const place = placeOf(this.getAttribute("view") ?? "");
    const { namespace, name } = place;
    const snapshot = this.#snapshot;
    if (!snapshot && (!namespace || !name)) {
      this.#opened = "";
      this.#controller.close();
      return;
    }
    const of = (attribute) => this.getAttribute(attribute) || undefined;
    const root = of("root");
    const part = root && { roots: [root], direction: of("direction"), depth: Number(of("depth")) || undefined };
    const options = snapshot ? { namespace, name, snapshot } : { ...place, base: new URL(of("base") ?? location.origin, location.href).href, transport: of("transport"), fetch: this.#fetch, ...part };
    // Another function is no other token: each connection calls the one of its time.
    const opened = JSON.stringify(snapshot ? [namespace, name] : [options, typeof this.#token === "function" || this.#token]);
    if (opened === this.#opened && snapshot === this.#shown && this.#controller.status.state !== "ended") return;
    this.#opened = opened;
    this.#shown = snapshot;
    this.#controller.open(options);
  }
}

for (const name of attributes) {
  Object.defineProperty(GraphViewElement.prototype, name, {
    configurable: true, enumerable: true,
    get() { return this.getAttribute(name) ?? ""; },
    set(value) {
      if (value === undefined || value === null) this.removeAttribute(name);
      else this.setAttribute(name, value);
    },
  });
}

if (globalThis.customElements && !customElements.get("graph-view")) customElements.define("graph-view", GraphViewElement);
