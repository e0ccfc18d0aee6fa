// The menu of views, by name, with their counts, and at a hub the menu of clusters. If the server
// asks for a token, it asks the user, and keeps the token only in memory.
import { natural } from "../model/natural.js";
import { h } from "./h.js";

const every = 10_000; // milliseconds
const seldom = 300_000; // where the user may not list views
const all = "*"; // clusters
const shown = (view) => view.split(",")[0].replace(/^.*:/, ""); // without the cluster

// Fills a menu with [value, text, disabled], and reports whether there were others. It may be open: options stay
// where only their texts change.
function offer(select, options, chosen) {
  const said = JSON.stringify([options.map(([value]) => value), chosen]);
  const differs = select.dataset.said !== said;
  if (!differs) options.forEach(([, text], i) => { if (select.options[i].text !== text) select.options[i].text = text; });
  else select.replaceChildren(...options.map(([value, text, disabled]) => h("option", { value, disabled, selected: value === chosen }, text)));
  select.dataset.said = said;
  return differs;
}

export class ViewPicker {
  onchoose = (_view) => {};
  ontoken = (_token) => {};
  #select = h("select", { "aria-label": "View", onpointerdown: () => this.#again(), onfocus: () => this.#again(), onchange: () => this.onchoose(this.#select.value) });
  #clusters = h("select", { "aria-label": "Cluster", hidden: true, onchange: () => {
    this.#views = [];
    this.view = "";
    this.onchoose("");
    this.#poll();
  } });
  #at;
  #placeOf;
  #hub = true; // the server may have other clusters
  #token;
  #names; // the form for the name of a view, where no list says it
  #members = []; // clusters of the fleet
  #views = [];
  #view = "";
  #timer;
  #every = every;

  /** at returns where the graphs of a cluster are, and placeOf the parts of a view's name. */
  constructor(at, placeOf) {
    this.#at = at;
    this.#placeOf = placeOf;
    this.element = h("span", { class: "picker" }, this.#clusters, this.#select);
    this.#fill();
  }

  set view(view) {
    this.#view = view;
    this.#fill();
  }

  start() {
    this.#poll();
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#poll(); });
  }

  // A person asks again for what was refused.
  #again() {
    if (this.#every === every) return;
    this.#every = every;
    this.#poll();
  }

  async #poll() {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    try {
      const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
      const get = (cluster, path) => fetch(this.#at(cluster) + path, { headers, cache: "no-store" });
      if (this.#hub) await this.#fillClusters(await get("", "/clusters"));
      const cluster = this.#clusters.value;
      if (cluster === all) {
        await this.#fillAll(async (one) => {
          const response = await get(one, "/graphs?timeout=1s");
          return response.ok ? (await response.json()).items : [];
        });
        this.#timer = setTimeout(() => this.#poll(), every);
        return;
      }
      let response = await get(cluster, "/graphs?timeout=1s");
      if (cluster !== this.#clusters.value) return;
      if (response.status === 403) this.#askForName();
      else if (response.ok) this.#forgetNames();
      // A user who may not list all views may list those of the view's namespace.
      if (response.status === 403 && this.#view) response = await get(cluster, `/namespaces/${encodeURIComponent(this.#placeOf(this.#view).namespace)}/graphs`);
      this.#every = response.status === 403 ? Math.min(2 * this.#every, seldom) : every;
      if (response.status === 401) await this.#askForToken();
      else if (response.ok) {
        const { items = [] } = await response.json();
        this.#views = items.map(({ metadata, vertices, synced, message }) => ({ name: `${cluster && cluster + ":"}${metadata.namespace}/${metadata.name}`, vertices, synced, message })).sort((a, b) => natural(a.name, b.name));
        this.#fill();
      }
    } catch { /* The stream says what is wrong with the connection. */ }
    this.#timer = setTimeout(() => this.#poll(), this.#every);
  }

  // The views that connected clusters have, each in all of these; clusters that are away may have it too.
  async #fillAll(list) {
    const asked = this.#members.filter(({ connected }) => connected).map(({ metadata }) => metadata.name);
    const away = this.#members.filter(({ connected }) => !connected).map(({ metadata }) => metadata.name);
    const found = new Map();
    await Promise.all(asked.map(async (cluster) => {
      for (const { metadata: { namespace, name } } of await list(cluster).catch(() => [])) {
        const view = `${namespace}/${name}`;
        found.set(view, [...found.get(view) ?? [], cluster]);
      }
    }));
    if (this.#clusters.value !== all) return;
    this.#views = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([view, clusters]) => ({ name: [...clusters, ...away].sort().map((cluster) => `${cluster}:${view}`).join(","), clusters: clusters.length }));
    this.#fill();
  }

  async #fillClusters(response) {
    if (!response.ok) {
      this.#hub = response.status === 401; // until there is a token
      return;
    }
    const { items } = await response.json();
    this.#members = items;
    this.#clusters.hidden = false;
    const { cluster, views } = this.#view ? this.#placeOf(this.#view) : { cluster: this.#clusters.value };
    offer(this.#clusters, [["", "This cluster"], [all, "All clusters"], ...items.map(({ metadata: { name }, displayName = name, connected, since }) => [name, connected ? displayName
      : `${displayName} – ${since ? `away since ${new Date(since).toLocaleTimeString([], { timeStyle: "short" })}` : "not connected"}`])],
    views ? all : cluster ?? "");
  }

  #fill() {
    const views = [...this.#views];
    if (this.#view && !views.some(({ name }) => name === this.#view)) views.unshift({ name: this.#view });
    // The counts of the selected view are shown elsewhere.
    const options = views.map(({ name, vertices, synced, message, clusters }) => [name, clusters ? `${shown(name)} – ${clusters} cluster${clusters > 1 ? "s" : ""}` : name === this.#view || vertices === undefined ? shown(name)
      : `${shown(name)} – ${message ? "not served" : synced ? `${vertices.toLocaleString("en")} objects` : "loading"}`]);
    if (!this.#view) options.unshift(["", "Choose a view …", true]);
    if (offer(this.#select, options, this.#view) && !this.#view && views.length === 1) this.onchoose(views[0].name);
  }

  // A user who may not list views may still open one by name.
  #askForName() {
    if (this.#names) return;
    const field = h("input", { type: "text", "aria-label": "View, as NAMESPACE/NAME", placeholder: "namespace/name", autocomplete: "off", required: true, pattern: "[^\\/\\s]+\\/[^\\/\\s]+", title: "You may not list graphs. NAMESPACE/NAME opens one." });
    this.#names = this.#ask(field, "Open", () => {
      this.onchoose(field.value);
      field.value = "";
      this.#again();
    });
  }

  #forgetNames() {
    this.#names?.remove();
    this.#names = undefined;
  }

  #ask(field, label, act) {
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      field.value = field.value.trim();
      act();
    } }, field, h("button", { type: "submit" }, label));
    this.element.append(form);
    return form;
  }

  async #askForToken() {
    if (this.asked) return;
    const config = await fetch("config.json").then((response) => response.json()).catch(() => ({}));
    if (!config.token) return;
    this.asked = true;
    const field = h("input", { type: "password", "aria-label": "Bearer token", placeholder: "bearer token", autocomplete: "off" });
    const form = this.#ask(field, "Use", () => {
      form.remove();
      this.#token = field.value;
      this.asked = false;
      this.ontoken(this.#token);
      this.#poll();
    });
  }
}
