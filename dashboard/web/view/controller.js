// Holds the parts of an element together: what is selected, focused, filtered and
// searched is decided here, and each part is told.
import { clusterOf } from "../model/clusters.js";
import { isRest } from "../model/rest.js";
import { h, icon } from "./h.js";
import { signs } from "./icons.js";
import { listenToKeys } from "./keys.js";
import { legendOf } from "./marks.js";
import { MapView } from "./map.js";
import { NotesBar } from "./notes.js";
import { OutlineView } from "./outline.js";
import { levels } from "./paint.js";
import { defaultState, parseState, writeState } from "./permalink.js";
import { Speaker, summaryOf } from "./speaker.js";
import { watchTheme } from "./theme.js";
import { Tip } from "./tip.js";
import { Toolbar } from "./toolbar.js";

const effectEvery = 10_000; // milliseconds; a GraphView's status follows its graph by some seconds
const refused = { items: [{ ineffective: "" }] }; // to a user who may not list, nothing is said, and it is not asked again
const narrow = 600; // pixels of width below which problems are shown first
const many = 3_000; // objects from which on they are
const exportAfter = 2_000; // milliseconds; an export is wanted also when the server is away

export class Controller {
  options;
  now = defaultState();
  status = { state: "connecting" };
  synced = false;
  #complete = false; // all of the graph is drawn, also where the connection has been lost since
  #host;
  #root;
  #mapHost;
  #unwatch;
  #unlisten;
  #searching = 0;
  #found; // cards that the search lights
  past; // the moment that is drawn: {at, came, went, changed}; undefined: now
  lost = ""; // why a moment is not shown
  timeline; // of the changes that the server knows, once its code is loaded
  #differing; // cards of the past that differ now
  #pointed; // the key of the object that the timeline points at
  silent = false; // the stream has ended, and the page says so in words of its own
  ineffective; // which parts of the GraphView have no effect, as the server says; undefined: not known
  #askedEffect = -Infinity; // when the server was asked for it
  #mayNotAsk = false;
  #stopped = false;
  #panel; // of details, once its code is loaded
  #restored = false;
  #fresh = true; // no permalink says what is shown

  /** Parts are what is not in this bundle: the link to the engine, and what loads the exporter. */
  constructor(host, root, parts) {
    this.#host = host;
    this.#root = root;
    this.exporter = parts.exporter;
    this.link = parts.link;
    const mapHost = h("div", { class: "map", part: "map" });
    this.map = new MapView(root, mapHost);
    this.toolbar = new Toolbar(this);
    this.notes = new NotesBar(this);
    this.outline = new OutlineView(this);
    this.details = { element: h("aside", { class: "panel", part: "panel", "aria-label": "Details", hidden: true, tabIndex: -1 }) };
    this.strip = h("div", { class: "timeline", part: "timeline", hidden: true });
    this.legend = h("div", { class: "legend", part: "legend" }, ...legendOf());
    this.speaker = new Speaker();
    this.tip = new Tip();
    this.empty = h("div", { class: "empty" });
    this.#mapHost = mapHost;
    mapHost.append(this.empty, this.#zoomButtons(), this.tip.element);
    // In the order of the tab key: toolbar, map, outline, panel.
    root.append(this.toolbar.element, this.notes.element, mapHost, this.outline.element, this.details.element, this.legend, this.strip, this.speaker.element);
    this.#listen();
    this.#unwatch = watchTheme(() => this.retheme());
    this.#unlisten = listenToKeys(host.getAttribute("keys") === "page" ? document : root, this);
    this.#sayEmpty();
  }

  get root() { return this.#root; }

  /** Returns the page's actions for an object: [{label, act}]. */
  actionsOf(v) { return this.#host.actions?.({ group: v.group, version: v.version, resource: v.resource, kind: v.kind, cluster: clusterOf(v.ns), namespace: v.ns.slice(v.ns.indexOf(":") + 1), name: v.name }) ?? []; }

  #zoomButtons() {
    const button = (label, path, act) => h("button", { type: "button", class: "icon", title: label, "aria-label": label, onclick: act }, icon(path));
    return h("div", { class: "zoom" },
      button("Zoom in (+)", signs.plus, () => this.map.zoom(1.35)), button("Zoom out (−)", signs.minus, () => this.map.zoom(1 / 1.35)),
      button("Show everything (0)", signs.fit, () => this.map.fit()), button("Rearrange", signs.tidy, () => this.tidy()));
  }

  #listen() {
    const on = (type, listener) => this.link.addEventListener(type, (/** @type {CustomEvent} */ { detail }) => listener(detail));
    on("scene", (message) => this.#takeScene(message));
    on("status", ({ status }) => {
      this.status = status;
      this.silent = status.state === "ended" && !this.#refused(status);
      if (status.state !== "live") this.synced = false;
      this.#mapHost.classList.toggle("stale", status.state === "reconnecting" || status.state === "ended");
      this.toolbar.update();
      this.notes.update();
      this.#sayEmpty();
      if (!this.silent) this.speaker.status(status);
      if (status.state === "live") this.#panel?.reconnected();
      if (status.state === "live") this.timeline?.open(); // the server may know other changes than before
    });
    on("warnings", ({ warnings }) => this.notes.warn(warnings));
    on("waiting", ({ changes, revision }) => {
      this.timeline?.waiting(changes);
      this.#panel?.refresh({ journal: [], revision });
    });
    on("toggled", ({ toggled }) => {
      this.now.toggled = new Map(toggled);
      this.#changedState();
    });
    on("past", ({ at, error }) => {
      if (at !== this.now.at) return;
      this.showAt(undefined);
      this.lost = error.replace(/^\?at=: /, "");
      this.notes.update();
      this.speaker.say(`This moment cannot be shown: ${this.lost}`);
    });
    on("failed", (message) => this.notes.fail(message));
    this.map.addEventListener("pick", (/** @type {CustomEvent} */ { detail: { card, app, place } }) => {
      this.map.element.focus({ preventScroll: true });
      this.tip.hide(); // what was picked may move under the pointer
      if (card?.rest) this.toggle(card.key);
      else if (card && this.map.camera.k >= levels.sketch) this.select(card.id, { card: card.key });
      else if (app && place) this.#approach(place, app);
      else this.select(undefined);
    });
    this.map.addEventListener("enter", (/** @type {CustomEvent} */ { detail: { card } }) => {
      if (card?.opens && !card.rest && this.map.camera.k >= levels.sketch) this.toggle(card.key);
    });
    this.map.addEventListener("hover", (/** @type {CustomEvent} */ { detail }) => {
      if (this.map.element.classList.contains("dragging")) this.tip.hide();
      else this.tip.show(detail, this.map.camera);
    });
    this.map.addEventListener("moved", () => this.#changedState());
    this.map.addEventListener("reshape", (/** @type {CustomEvent} */ { detail: { w, h } }) => {
      this.link.send({ do: "shape", w, h });
      if (this.#complete) this.#fitNext();
    });
  }

  #takeScene(message) {
    if (message.past && message.past.at !== this.now.at) { // the user has gone back to now
      this.link.send({ do: "present" });
      return;
    }
    this.synced = this.#complete = message.synced;
    this.map.apply(message);
    this.#takePast(message.past);
    this.timeline?.refresh(message.journal.length > 0);
    this.toolbar.update();
    this.notes.update();
    this.outline.refresh();
    this.#panel?.refresh(message);
    this.#sayEmpty();
    this.#askEffect();
    this.map.element.setAttribute("aria-label", `Map: ${summaryOf(this.map.scene.stats)}`);
    this.speaker.changes(message, this.map.scene.stats);
    if (message.whole && message.synced && this.now.selected) this.#showSelection({ reveal: false });
    if (message.synced && !this.#restored) {
      this.#restored = true;
      this.#beginWithProblems();
      this.#restoreView();
      setTimeout(() => this.#loadTimeline(), this.now.at ? 0 : exportAfter);
    }
    if (this.now.search) this.search(this.now.search);
  }

  // Cards that differ now are lit, and the others pale.
  #takePast(past) {
    const came = past?.at !== this.past?.at;
    this.past = past;
    this.map.past = Boolean(past);
    this.#mapHost.classList.toggle("past", this.map.past);
    this.#differing = past && new Set([...this.map.scene.cards.values()].filter(({ card }) => card.differs).map(({ card }) => card.key));
    if (past || came) this.map.lit = this.#lit;
    if (!came) return;
    this.map.draw();
    if (this.now.selected) this.#showSelection({ reveal: false });
    if (!past) return;
    this.speaker.say(`The graph at ${new Date(past.at).toLocaleTimeString()}. ${past.came} came since, ${past.went} went, ${past.changed} differ now. Escape goes back to now.`);
  }

  get #lit() { return this.#found ?? this.#differing; }

  /** Shows the graph as it was at a time in RFC 3339, or undefined as it is. */
  showAt(at) {
    if (this.options?.snapshot) return;
    this.now.at = at;
    this.lost = "";
    if (this.now.filters.problems) this.#fitNext(); // problems are others then
    if (at) this.link.send({ do: "past", at, keys: this.timeline?.writtenSince(Date.parse(at)) ?? [] });
    else {
      this.link.send({ do: "present" });
      this.#pushScope();
      this.speaker.say("The graph as it is now.");
    }
    this.notes.update();
    this.timeline?.update();
    this.#changedState();
  }

  async #loadTimeline() {
    try {
      const { Timeline } = await this.exporter();
      if (this.timeline || this.#stopped) return;
      this.timeline = new Timeline(this, this.strip);
      this.timeline.open();
    } catch { /* the server is away */ }
  }

  /** Follows a view with the element's token, or shows a snapshot. */
  open(options) {
    this.options = options;
    this.#restored = false;
    this.#sayEmpty();
    const { token } = this.#host;
    this.status = { state: "connecting" };
    this.silent = false;
    this.synced = this.#complete = this.now.paused = false;
    this.ineffective = undefined;
    this.#mayNotAsk = false;
    this.#askedEffect = -Infinity;
    this.lost = "";
    this.notes.warn([]);
    this.timeline?.clear();
    if (typeof token === "function") this.link.open({ ...options, asksToken: true }, this.token);
    else this.link.open({ ...options, token });
    this.#pushScope();
  }

  /** Gets the element's token. */
  token = () => {
    const { token } = this.#host;
    return typeof token === "function" ? token() : token;
  };

  /** Requests a part of a graph, that of an object's cluster if there are several, with the element's token. A function gets a token for each request. */
  request(path, ns) {
    const place = this.options.views?.find(({ cluster = "" }) => cluster === clusterOf(ns)) ?? this.options;
    return this.#request(place, `/${encodeURIComponent(place.name)}${path}`);
  }

  #request({ cluster, namespace }, path) { return this.fetch(cluster, `/namespaces/${encodeURIComponent(namespace)}/graphs${path}`); }

  /** Requests something of a cluster of the server's fleet, or of its own. */
  async fetch(cluster, path) {
    const secret = await this.token();
    return (this.options.fetch ?? fetch)(this.link.at({ ...this.options, cluster }) + path, { headers: secret ? { Authorization: `Bearer ${secret}` } : {} });
  }

  // Asks which parts of the GraphView have no effect, until the server knows that each has one.
  async #askEffect() {
    const { options } = this;
    if (!this.synced || this.status.state !== "live" || !options || options.snapshot || options.views || performance.now() - this.#askedEffect < effectEvery) return;
    if (this.ineffective === "" && (this.#mayNotAsk || this.map.scene.stats.vertices > 0)) return;
    this.#askedEffect = performance.now();
    const answer = await this.#request(options, `?fieldSelector=${encodeURIComponent(`metadata.name=${options.name}`)}`)
      .then((response) => (response.ok ? response.json() : refused)).catch(() => undefined);
    if (this.options !== options) return;
    this.#mayNotAsk = answer === refused;
    this.ineffective = answer?.items?.[0]?.ineffective;
    this.notes.update();
    this.#sayEmpty();
  }

  /** Shows a view of another cluster, unless the page does that itself, and lights what has a name. */
  follow(view, name) {
    if (!this.#host.dispatchEvent(new CustomEvent("follow", { detail: { view, name }, bubbles: true, composed: true, cancelable: true }))) return;
    this.#host.view = view;
    this.toolbar.setSearch(name);
    this.search(name);
  }

  // Says to the page why the stream has ended. Reports whether the element is to say it, too.
  #refused({ code, reason, message }) {
    return this.#host.dispatchEvent(new CustomEvent("refused", { detail: { code, reason, message }, bubbles: true, composed: true, cancelable: true }));
  }

  /** Follows the view again, after the stream has ended. */
  retry() { if (this.options) this.open(this.options); }

  close() {
    this.options = undefined;
    this.link.close();
    this.#sayEmpty();
  }

  stop() {
    this.#unwatch();
    this.#unlisten();
    this.map.stop();
    this.outline.stop();
    this.notes.stop();
    this.#stopped = true;
    this.timeline?.stop();
    this.#panel?.close();
    this.speaker.stop();
    this.link.stop();
  }

  retheme() {
    this.map.retheme();
    this.timeline?.draw();
  }

  /** Selects an object by its key, and shows it where it is. */
  async select(key, /** @type {{ card?: string, reveal?: boolean }} */ { card, reveal = false } = {}) {
    this.now.selected = key;
    this.now.card = card;
    const about = await this.#showSelection({ reveal });
    const shown = this.map.scene.cards.get(card)?.card;
    if (about) this.speaker.select(about, shown);
    else if (shown?.rest) this.speaker.say(`${shown.name}: ${shown.state}`);
    this.#changedState();
    this.#host.dispatchEvent(new CustomEvent("select", { detail: { key: key && isRest(key) ? undefined : key }, bubbles: true, composed: true }));
  }

  /** Shows what is selected in each part, and returns what the engine knows of it. */
  async #showSelection({ reveal }) {
    const key = this.now.selected;
    if (!key || isRest(key)) {
      this.map.selected = key;
      this.map.bundles = [];
      this.map.draw();
      this.#panel?.close();
      this.outline.mark(undefined);
      return undefined;
    }
    const at = this.now.card && this.map.scene.cards.has(this.now.card) ? { card: this.now.card } : await this.link.ask("locate", { key });
    if (this.now.selected !== key) return undefined;
    this.map.selected = at?.card;
    this.map.bundles = [];
    this.map.draw();
    this.outline.mark(key);
    const [about, bundles] = await Promise.all([this.#showDetails(key), at ? this.link.ask("bundles", { card: at.card }) : []]);
    if (this.now.selected !== key || this.map.selected !== at?.card) return undefined;
    this.map.bundles = bundles;
    this.map.draw();
    // Once the details have taken their room from the map.
    if (at && reveal) requestAnimationFrame(() => requestAnimationFrame(() => this.map.reveal(at.card)));
    return about;
  }

  async #showDetails(key) {
    try {
      const { DetailsPanel } = await this.exporter();
      this.#panel ??= new DetailsPanel(this, this.details.element);
    } catch {
      return undefined; // the server is away
    }
    return this.now.selected === key ? this.#panel.show(key) : undefined;
  }

  /** Opens or folds a card. */
  toggle(key) {
    this.map.attend();
    this.link.send({ do: "toggle", key });
    this.#host.dispatchEvent(new CustomEvent("open", { detail: { key }, bubbles: true, composed: true }));
  }

  /** Opens everything in the box of a card, or folds it. */
  toggleBox(card) {
    this.map.attend();
    this.link.send({ do: "toggleBox", card });
    this.#host.dispatchEvent(new CustomEvent("open", { detail: { key: card, box: true }, bubbles: true, composed: true }));
  }

  tidy() {
    this.link.send({ do: "tidy" });
    requestAnimationFrame(() => this.map.fit());
  }

  /** Draws only what an object has to do with, or everything again. */
  focus(focus) {
    if (focus && !this.now.focus) this.now.before = { x: this.map.camera.x, y: this.map.camera.y, k: this.map.camera.k };
    const { before } = this.now;
    const leaves = !focus && this.now.focus;
    if (focus && this.now.search) this.endSearch(); // what it does not find is no less part of the focus
    this.now.focus = focus;
    this.link.send({ do: "focus", focus });
    this.#fitNext(leaves ? before : undefined);
    this.toolbar.update();
    this.notes.update();
    this.#changedState();
  }

  /** Sets some of the filters. */
  filter(changes) {
    Object.assign(this.now.filters, changes);
    this.link.send({ do: "filter", filters: structuredClone(this.now.filters) });
    this.#fitNext();
    this.toolbar.update();
    this.notes.update();
    this.#changedState();
  }

  // Shows all of the next drawing, or of it what was seen before.
  #fitNext(before) {
    const once = () => {
      this.link.removeEventListener("scene", once);
      if (before) this.map.view(before);
      else this.map.fit();
    };
    this.link.addEventListener("scene", once);
  }

  #pushScope() {
    const { filters, focus, toggled } = this.now;
    this.link.send({ do: "scope", filters: structuredClone(filters), focus, toggled: [...toggled] });
    this.toolbar.update();
    this.notes.update();
  }

  /** Lists and lights what fits a query; an empty one ends the search. */
  async search(text) {
    this.now.search = text;
    const turn = ++this.#searching;
    if (!text.trim()) {
      this.#found = undefined;
      this.toolbar.hits(undefined);
    } else {
      const found = await this.link.ask("search", { text });
      if (turn !== this.#searching) return;
      this.#found = new Set(found.cards);
      this.toolbar.hits(found);
    }
    this.map.lit = this.#lit;
    this.map.draw();
    this.#changedState();
  }

  endSearch() {
    this.toolbar.setSearch("");
    return this.search("");
  }

  /** Lights where an object is, until another one is pointed at, or none. */
  async point(key) {
    if (this.#pointed === key) return;
    this.#pointed = key;
    const at = key && await this.link.ask("locate", { key });
    if (this.#pointed !== key) return;
    this.map.lit = at ? new Set([at.card]) : this.#lit;
    this.map.draw();
  }

  /** Goes to the next problem, or the one before. */
  async problem(step) {
    const all = await this.link.ask("problems");
    if (all.length === 0) {
      this.speaker.say("Nothing needs attention.");
      return;
    }
    const at = all.findIndex((v) => v.key === this.now.selected);
    const next = all[(at + step + all.length + (at < 0 && step < 0 ? 1 : 0)) % all.length];
    await this.select(next.key, { reveal: true });
  }

  pause(on) {
    if (this.options?.snapshot || this.now.at) return;
    this.now.paused = on;
    this.link.send({ do: "pause", on });
    this.timeline?.update();
    this.speaker.say(on ? "The drawing stands still." : "The drawing is live again.");
  }

  #approach(place, app) {
    const rect = { x: place.x + app.x, y: place.y + app.y, w: app.w, h: app.h };
    const { camera } = this.map;
    const view = camera.fitting(rect, 60, 1);
    if (view.k > camera.k * 1.15) camera.fly(view, performance.now());
    else this.select(undefined);
    this.map.draw();
  }

  #sayEmpty() {
    const { stats, places } = this.map.scene;
    const texts = [];
    if (!this.options && !this.#host.view) texts.push("No view is chosen", this.#host.querySelector("[slot=start]") ? "Choose one in the field at the top." : "Set view to NAMESPACE/NAME.");
    else if (this.status.state === "ended" || this.status.state === "reconnecting") texts.push(places.size > 0 || this.silent || this.#host.querySelector("[slot=refused]") ? "" : "There is no graph to show", "The bar above says why.");
    else if (places.size === 0 && this.synced && stats.vertices > 0) texts.push("Nothing fits the filters", "Clear them to see everything.");
    else if (places.size === 0 && this.synced) texts.push("The graph is empty", this.ineffective || "Nothing that the view selects is there, or you may not see it.");
    else if (places.size === 0) texts.push("Loading …", "");
    this.empty.hidden = texts.length === 0 || !texts[0];
    this.empty.replaceChildren(...(this.empty.hidden ? [] : [h("strong", {}, texts[0]), h("span", {}, texts[1])]));
  }

  /** Returns the state as text for a permalink. */
  get state() { return writeState(this.now, this.map.camera); }

  restore(text) {
    this.#fresh = !text;
    this.now = { ...parseState(text), paused: this.now.paused };
    this.#restored = false;
    if (this.options) this.#pushScope();
    this.toolbar.update();
    if (this.outline.shown !== this.now.outline) this.outline.toggle(this.now.outline);
    if (this.#complete) {
      this.#restored = true;
      this.#restoreView();
    } else if (!this.now.selected) this.#showSelection({ reveal: false }); // what was selected is of another view
  }

  // A map of thousands of objects, or on a narrow screen, is too small to be read; on a narrow one, ten problems are all that
  // have names.
  #beginWithProblems() {
    const { problems, vertices } = this.map.scene.stats;
    const isNarrow = this.#root.clientWidth < narrow;
    if (!(isNarrow || vertices >= many) || !this.#fresh || problems === 0) return;
    this.#fresh = false;
    this.filter({ problems: true });
    if (isNarrow && problems > 10) this.outline.toggle(true);
  }

  #restoreView() {
    if (this.now.view) this.map.view(this.now.view);
    this.#showSelection({ reveal: !this.now.view });
    this.toolbar.setSearch(this.now.search);
    this.search(this.now.search);
    if (this.now.at !== this.past?.at) this.showAt(this.now.at);
  }

  #told;

  #changedState() {
    clearTimeout(this.#told);
    this.#told = setTimeout(() => this.#host.dispatchEvent(new CustomEvent("statechange", { detail: { state: this.state }, bubbles: true, composed: true })), 250);
  }
}
