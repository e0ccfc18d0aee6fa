// The changes of the view that is open, as the server's history has them. Without a history there is none of this on the page.
import { getChanges } from "../../../client/js/request.js";
import { createChanges } from "../../../client/js/store.js";
import { clusterOf, within } from "../model/clusters.js";
import { keyOf } from "../model/store.js";
import { isNoise } from "./acts.js";
import { levelOf, sortOf } from "./changes.js";

const soon = 2_000; // milliseconds after a change of the drawing until the history is asked

export class History extends EventTarget {
  entries = []; // the oldest first: {time, at (as the server has it), key, sort, level, change}
  gaps = []; // {from, until, why}, in milliseconds
  since = Infinity; // from when on the entries are complete
  more = false; // there are older ones
  #stores = []; // a place, and the changes of its view
  #leave = [];
  #timer;

  /** Whether the server has a history. */
  get on() { return this.since !== Infinity; }

  /** Asks for the changes of views, or for those that are new, if these are asked for already. */
  open(places, options, token) {
    if (this.#stores.length > 0) {
      for (const { changes } of this.#stores) changes.refresh();
      return;
    }
    const several = places.length > 1;
    this.#stores = places.map((place) => {
      const at = { ...options, ...place, token };
      return { at, cluster: several ? place.cluster ?? "" : undefined, changes: createChanges(at) };
    });
    this.#leave = this.#stores.map(({ changes }) => changes.subscribe(() => this.#take()));
  }

  close() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const leave of this.#leave) leave();
    this.#leave = this.#stores = [];
    Object.assign(this, { entries: [], gaps: [], since: Infinity, more: false });
    this.dispatchEvent(new Event("change"));
  }

  /** The drawing has changed, and so may have the history. */
  refresh() {
    if (!this.on) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const { changes } of this.#stores) changes.refresh();
    }, soon);
  }

  /** Asks for older changes. */
  older() { for (const { changes } of this.#stores) changes.older().catch(() => {}); }

  /** Asks for the changes of an object; undefined if there is no answer. */
  async of({ group: g, resource: r, ns, name: n }, query) {
    const store = this.#stores.find(({ cluster }) => cluster === undefined || cluster === clusterOf(ns));
    const key = { g, r, ns: ns.slice(ns.indexOf(":") + 1), n };
    const answer = await getChanges({ ...store?.at, key, ...query }).catch(() => undefined);
    return answer?.changes.map((change) => ({ ...change, key: keyOf(store.cluster === undefined ? change.vx : within(store.cluster, change.vx)) }));
  }

  #take() {
    const snapshots = this.#stores.map(({ changes, cluster }) => ({ ...changes.getSnapshot(), cluster })).filter(({ since }) => since);
    if (snapshots.length === 0) return;
    this.entries = snapshots.flatMap(({ changes, cluster }) => changes.filter((change) => !isNoise(change)).map((change) => entryOf(change, cluster))).sort((a, b) => a.time - b.time || (a.at < b.at ? -1 : 1));
    this.gaps = snapshots.flatMap(({ gaps }) => gaps.map(({ from, until, why }) => ({ from: Date.parse(from), until: Date.parse(until), why })));
    this.since = Math.max(...snapshots.map(({ since }) => Date.parse(since)));
    this.more = snapshots.some(({ more }) => more);
    this.dispatchEvent(new Event("change"));
  }
}

const entryOf = (change, cluster) => ({ time: Date.parse(change.t), at: change.t, key: keyOf(cluster === undefined ? change.vx : within(cluster, change.vx)), sort: sortOf(change), level: levelOf(change), change });
