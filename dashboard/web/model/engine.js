// Follows a graph, or shows a snapshot of one, and keeps its drawing: what runs in
// the worker. It takes commands, answers questions, and posts what has changed at
// most six times a second.
import { Connection } from "../../../client/js/connection.js";
import { Graph, GraphView } from "../../../client/js/graphview.js";
import { getMessage } from "../../../client/js/request.js";
import { Answers } from "./answers.js";
import { opens } from "./card.js";
import { sharedWords } from "./causes.js";
import { actionOf, clusterOf, removalOf, stateOf } from "./clusters.js";
import { ownsSome, usesKey } from "./fold.js";
import { Model } from "./model.js";
import { storeAt } from "./past.js";
import { compile } from "./search.js";
import { emptyFilters } from "./scope.js";
import { restKey } from "./rest.js";
import { keyOf, Store } from "./store.js";
import { Wire } from "./wire.js";

const shortest = 160; // milliseconds between two drawings
const patience = 300; // until what has come of a graph that is not complete is drawn
const overdueEvery = 15_000; // looks at what only time changes
const freshFor = 400; // marks per drawing; more say nothing

export class Engine {
  #post;
  #store = new Store();
  #model = new Model(this.#store, emptyFilters());
  #answers = new Answers(this.#store, this.#model);
  #wire = new Wire();
  #sources = []; // the views that are followed: one, or one of each cluster
  #several = false;
  #taken; // when a snapshot was: its time stands still
  #timer;
  #later;
  #last = 0; // when it was drawn last, and how long that took
  #took = 0;
  #paused = false;
  #waiting = 0; // changes that a pause keeps back
  #synced = false; // all that is not away is drawn whole
  #told = 0; // entries of the journal that were posted
  #whole = true; // the next drawing replaces the one before
  #past; // the moment that is drawn in place of the graph as it is: {at, counts, store, model, answers} of that
  #turn = 0; // of requests for a moment
  #tokens = new Map(); // id: how to answer the connection that waits for a token
  #asked = 0;

  constructor(post) {
    this.#post = post;
  }

  /** Carries out a command, or answers a question. */
  handle(message) {
    const { ask, id, args } = message;
    if (ask !== undefined) {
      let answer;
      try {
        answer = this.#answers[ask](args ?? {});
      } catch (error) {
        this.#post({ type: "answer", id, error: error.message });
        return;
      }
      this.#post({ type: "answer", id, answer });
      return;
    }
    this[message.do](message);
  }

  /** Follows a view from now on, or shows a snapshot, in place of what was before. */
  open({ options }) {
    this.close();
    this.#leave();
    this.#store.apply([], { reset: true });
    this.#store.journal.length = this.#told = 0;
    this.#model.focus = undefined;
    this.#model.invalidate({ tidy: true });
    this.#whole = true;
    this.#synced = this.#paused = false;
    this.#taken = options.snapshot?.taken;
    if (this.#last > 0) this.#draw(); // nothing: what was drawn is of another view
    if (options.snapshot) {
      this.#show(options.snapshot);
      return;
    }
    const { asksToken, views, ...rest } = options;
    if (asksToken) rest.token = () => this.#askToken();
    this.#several = Boolean(views);
    const connection = views && new Connection(rest);
    this.#sources = (views ?? [{}]).map((place) => this.#follow({ ...rest, ...place, connection }));
    this.#store.kindOf = (key) => this.#sources.map(({ view }) => view.graph.kind(key)).find(Boolean);
    this.#store.hasAll = (group, kind, ns) => {
      const source = this.#several ? this.#sources.find(({ cluster }) => cluster === clusterOf(ns)) : this.#sources[0];
      return Boolean(source && source.view.graph.hasAll(group, kind, this.#several ? ns.slice(source.cluster.length + 1) : ns));
    };
    if (this.#several) for (const source of this.#sources) this.#reached(source);
    this.#status({ state: "connecting" });
  }

  // A source has what has come of a graph that is not whole yet: fresh, which takes the place of the graph before when it
  // is, or changes of that graph. Since is when the connection was lost.
  #follow(options) {
    // The graphs of several share a store, in which keys are others.
    const contents = this.#several ? undefined : this.#store;
    const view = new GraphView({ content: "summary", keep: false, parts: true, contents, ...options });
    const source = { view, options, cluster: options.cluster ?? "", changes: [], fresh: undefined, reset: false, synced: false, since: undefined, away: false };
    const mine = (listener) => ({ detail }) => { if (this.#sources.includes(source)) listener(detail); };
    view.addEventListener("part", mine((part) => this.#take(source, part)));
    view.addEventListener("rev", mine(() => this.#settle(source)));
    view.addEventListener("synced", mine(() => {
      source.synced = true;
      source.since = undefined;
      this.#reached(source);
      this.#schedule(0);
      this.#status({ state: "live" });
    }));
    view.addEventListener("warning", mine(() => this.#post({ type: "warnings", warnings: this.#sources.flatMap((one) => [...one.view.graph.warnings.values()]) })));
    // The time of the shown graph is that of the lost connection, not of the last attempt.
    const lost = (state, { code, reason, message, retryIn }) => {
      source.since ??= this.#now();
      source.away = reason === "ClusterUnreachable" || reason === "NotFound";
      for (const one of this.#sources) this.#reached(one);
      // What is lost of several is said in the picture, unless nothing is left.
      if (this.#sources.every((one) => one.since)) this.#status({ state, code, reason, message, retryIn, at: source.since });
    };
    view.addEventListener("error", mine((detail) => { if (detail.retryIn !== undefined) lost("reconnecting", detail); }));
    view.addEventListener("close", mine((detail) => lost("ended", detail)));
    return source;
  }

  // A cluster of several was reached, or lost.
  #reached(source) {
    if (this.#several) {
      // What is lost while others go on is lost behind the hub.
      const away = source.away || this.#sources.some((one) => !one.since && one.synced);
      this.#store.apply([stateOf({ ...source, away })], { at: this.#now() });
      this.#whole = true; // the box of the cluster is painted again
      this.#drawSoon();
    }
    this.#synced = this.#sources.every((one) => one.synced || one.since);
  }

  #show({ actions, kinds = [], warnings = [], synced = false }) {
    const graph = new Graph();
    graph.apply({ kinds, warnings, synced });
    this.#store.kindOf = (key) => graph.kind(key);
    this.#store.hasAll = (group, kind, ns) => graph.hasAll(group, kind, ns);
    this.#synced = true; // nothing more will come
    this.#post({ type: "warnings", warnings });
    this.#status({ state: "snapshot", complete: synced });
    this.#renew();
    this.#store.apply(actions, { reset: true, at: this.#now() });
    this.#drawSoon();
  }

  /** Asks the page for the token of one connection: only the page has the function that gets it. */
  #askToken() {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#tokens.set(id, { resolve, reject });
      this.#post({ type: "token", id });
    });
  }

  /** Takes the page's answer. */
  token({ id, token, error }) {
    const waiting = this.#tokens.get(id);
    this.#tokens.delete(id);
    if (error) waiting?.reject(new Error(error));
    else waiting?.resolve(token);
  }

  close() {
    this.#tokens.clear();
    clearTimeout(this.#timer);
    clearTimeout(this.#later);
    this.#timer = undefined;
    const sources = this.#sources;
    this.#sources = [];
    this.#several = false;
    for (const { view } of sources) view.stop();
  }

  // Takes in what came of a rev, so that little is left to be done when all of it is there.
  #take(source, { actions, first, reset }) {
    if (first) Object.assign(source, { fresh: reset && !this.#several ? new Store() : undefined, changes: [], reset });
    if (source.fresh) source.fresh.apply(actions, { quiet: true, at: this.#now() });
    else for (const action of actions) source.changes.push(this.#several ? actionOf(source.cluster, action) : action);
    this.#waiting += actions.length;
  }

  // All of a rev has come.
  #settle(source) {
    const { cluster, fresh, changes, reset } = source;
    if (fresh) {
      this.#renew();
      this.#store.become(fresh);
    } else {
      if (reset) this.#store.apply(removalOf(cluster, this.#store, changes, keyOf), { at: this.#now() });
      this.#store.apply(changes, { at: this.#now(), quiet: reset });
    }
    Object.assign(source, { fresh: undefined, changes: [], reset: false });
    this.#drawSoon();
  }

  /** Draws the graph as it was at a time, as the server takes it. Keys are those of objects of which more than their state has changed since. */
  async past({ at, keys }) {
    const turn = ++this.#turn;
    const sources = this.#sources;
    const answers = await Promise.all(sources.map(async (source) => {
      try {
        return { source, message: await getMessage({ ...source.options, content: "summary", at }) };
      } catch (error) {
        return { error };
      }
    }));
    if (turn !== this.#turn || sources !== this.#sources) return;
    if (answers.every(({ error }) => error)) { // of several clusters, some may be away
      this.#post({ type: "past", at, error: answers[0]?.error.message ?? "there is no server" });
      return;
    }
    const actions = answers.flatMap(({ source, message }) => {
      const { actions: all = [] } = message ?? {};
      return message && this.#several ? [stateOf(source), ...all.map((action) => actionOf(source.cluster, action))] : all;
    });
    this.#leave();
    const time = Date.parse(at);
    const { store, counts } = storeAt(time, actions, this.#store, new Set(keys));
    const model = this.#model.beside(store);
    this.#past = { at, time, counts, store, now: { model: this.#model, answers: this.#answers } };
    this.#model = model;
    this.#answers = new Answers(store, model, this.#store);
    this.#whole = true;
    this.#redraw();
  }

  /** Draws the graph as it is. */
  present() {
    this.#turn++;
    if (!this.#past) return;
    this.#leave();
    this.#whole = true;
    this.#redraw();
  }

  #leave() {
    this.#turn++;
    if (!this.#past) return;
    [this.#model, this.#answers] = [this.#past.now.model, this.#past.now.answers];
    this.#past = undefined;
  }

  // Nothing of the graph that was drawn is left.
  #renew() {
    this.#model.invalidate();
    this.#whole = true;
  }

  #drawSoon() {
    this.#schedule(this.#synced ? Math.max(shortest, 3 * this.#took) : patience);
  }

  /** Opens or folds a card. */
  toggle({ key }) {
    this.#model.open(key, !this.#model.opened(key));
    this.#reopened();
  }

  /** Opens all that a card's box has in it, or folds it where all is open. */
  toggleBox({ card }) {
    const { app, anchor } = this.#model.card(card) ?? {};
    if (!app) return;
    if (app.rest) {
      this.toggle({ key: restKey(anchor.home) });
      return;
    }
    const open = app.cards.some((each) => opens(each) && !each.opened);
    for (const { members, uses, user, key } of app.cards) {
      for (const v of members.filter(ownsSome)) this.#model.open(v.key, open);
      this.#model.open(usesKey(uses ? user.key : key), open);
    }
    this.#reopened();
  }

  #reopened() {
    this.#redraw();
    this.#post({ type: "toggled", toggled: [...this.#model.toggled] });
  }

  filter({ filters }) {
    this.#setFilters(filters);
    this.#redraw({ tidy: true });
  }

  /** Sets filters, folds and focus. Packs the drawing again only if the filters have changed. */
  scope({ filters, toggled, focus }) {
    const model = this.#model;
    const differs = (a, b) => JSON.stringify(a) !== JSON.stringify(b);
    const tidy = differs(filters, model.filters);
    if (tidy || differs(toggled, [...model.toggled]) || differs(focus, model.focus)) {
      this.#setFilters(filters);
      model.toggled = new Map(toggled);
      model.setFocus(focus);
      this.#whole = true;
      this.#redraw({ tidy });
    } else if (this.#timer !== undefined) this.#redraw(); // what waits to be drawn has its scope now
  }

  #setFilters(filters) {
    this.#model.matchesText = filters.text ? compile(filters.text) : () => true;
    this.#model.filters = filters;
  }

  focus({ focus }) {
    this.#model.setFocus(focus);
    this.#whole = true;
    this.#redraw();
  }

  tidy() { this.#redraw({ tidy: true }); }

  /** Lays out for a map of another size. */
  shape({ w, h }) {
    this.#model.view = { w, h };
    if (this.#last > 0) this.tidy();
  }

  pause({ on }) {
    this.#paused = on;
    this.#waiting = 0;
    this.#schedule(0);
  }

  #redraw({ tidy = false } = {}) {
    this.#model.invalidate({ tidy });
    if (tidy) this.#whole = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#draw();
  }

  #now() { return this.#taken ?? Date.now(); }

  #status(status) { this.#post({ type: "status", status: { at: this.#now(), ...status } }); }

  #schedule(after) {
    if (this.#past) return; // it does not change
    if (this.#timer !== undefined && after > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#paused) this.#post({ type: "waiting", changes: this.#waiting, revision: this.#store.revision });
      else this.#draw();
    }, Math.max(0, after - (performance.now() - this.#last)));
  }

  #draw() {
    const began = performance.now();
    const past = this.#past;
    const now = past?.time ?? this.#now();
    if (!past) this.#store.grow(now);
    const journal = past ? [] : this.#store.journal.slice(Math.max(0, this.#told));
    if (!past) this.#told = this.#store.journal.length;
    this.#waiting = 0;
    const whole = this.#whole;
    this.#whole = false;
    const { places, removed, cards } = this.#model.update(now);
    this.#answers.changed();
    this.#wire.forget(removed);
    this.#post({
      type: "scene", whole, removed,
      places: whole ? this.#wire.whole([...this.#model.places.values()]) : this.#wire.differing(places),
      cards: whole ? [] : this.#wire.restated(cards),
      marks: whole ? [] : this.#marks(journal.slice(-freshFor)),
      journal: journal.slice(-freshFor),
      stats: this.#stats(), synced: this.#synced, past: past && { at: past.at, ...past.counts }, focus: this.#model.focus, revision: this.#store.revision,
    });
    clearTimeout(this.#later);
    this.#later = setTimeout(() => {
      if (this.#model.filters.recent) this.#model.invalidate(); // what changed is no longer recent
      this.#schedule(0);
    }, overdueEvery);
    this.#last = performance.now();
    this.#took = this.#last - began;
  }

  // Which cards changed, and how: what is gone is marked where it was by the page.
  #marks(journal) {
    const marks = new Map();
    for (const { key, what } of journal) {
      const card = this.#store.find(key)?.card;
      if (card) marks.set(card.key, what === "+" && card.anchor.key === key ? "+" : marks.get(card.key) ?? "~");
    }
    return [...marks];
  }

  #stats() {
    let missing = 0;
    let namespaces = 0;
    const { vertices, arcs } = this.#past?.counts ?? { vertices: this.#store.present, arcs: this.#store.arcs };
    for (const v of this.#past?.store ?? this.#store) {
      if (!v.present) missing++;
    }
    const account = { inside: 0, hub: 0, line: 0, between: 0, hidden: 0 };
    for (const place of this.#model.places.values()) {
      if (place.name) namespaces++;
      for (const where of Object.keys(account)) account[where] += place.account[where];
    }
    const { matches, causes: { list, shared } } = this.#model;
    const problems = list.length;
    return { shared: shared && { words: sharedWords(shared), kind: shared.object.kind }, vertices: vertices - (this.#several ? this.#sources.length : 0), arcs, problems, missing, namespaces, account, matches };
  }
}
