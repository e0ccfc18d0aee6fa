// The menu of views, by name, with their counts. If the server asks for a token, it asks the
// user, and keeps the token only in memory.
import { h } from "./h.js";

const every = 10_000;
const path = "/apis/stream.graphview.dev/v1alpha1";

export class ViewPicker {
  onchoose = (_view) => {};
  ontoken = (_token) => {};
  #select = h("select", { "aria-label": "View", onchange: () => this.onchoose(this.#select.value) });
  #token;
  #names; // the form for the name of a view, where no list says it
  #views = [];
  #view = "";
  #timer;

  constructor() {
    this.element = h("span", { class: "picker" }, this.#select);
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

  async #poll() {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    try {
      const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
      let response = await fetch(`${path}/graphs`, { headers, cache: "no-store" });
      if (response.status === 403) this.#askForName();
      else if (response.ok) this.#forgetNames();
      // A user who may not list all views may list those of the view's namespace.
      if (response.status === 403 && this.#view) response = await fetch(`${path}/namespaces/${encodeURIComponent(this.#view.split("/")[0])}/graphs`, { headers, cache: "no-store" });
      if (response.status === 401) await this.#askForToken();
      else if (response.ok) {
        const { items = [] } = await response.json();
        this.#views = items.map(({ metadata, vertices, synced, message }) => ({ name: `${metadata.namespace}/${metadata.name}`, vertices, synced, message })).sort((a, b) => (a.name < b.name ? -1 : 1));
        this.#fill();
      }
    } catch { /* The stream says what is wrong with the connection. */ }
    this.#timer = setTimeout(() => this.#poll(), every);
  }

  #fill() {
    const views = [...this.#views];
    if (this.#view && !views.some(({ name }) => name === this.#view)) views.unshift({ name: this.#view });
    // The counts of the selected view are shown elsewhere.
    const options = views.map(({ name, vertices, synced, message }) => [name, name === this.#view || vertices === undefined ? name
      : `${name} – ${message ? "not served" : synced ? `${vertices.toLocaleString("en")} objects` : "loading"}`]);
    const said = JSON.stringify([options.map(([name]) => name), this.#view]);
    if (this.said === said) {
      // It may be open: options stay, and say what they have by now.
      const shown = [...this.#select.options].slice(-options.length);
      options.forEach(([, text], i) => { if (shown[i].text !== text) shown[i].text = text; });
      return;
    }
    this.said = said;
    this.#select.replaceChildren(...(this.#view ? [] : [h("option", { value: "", disabled: true, selected: true }, "Choose a view …")]),
      ...options.map(([name, text]) => h("option", { value: name, selected: name === this.#view }, text)));
    if (!this.#view && views.length === 1) this.onchoose(views[0].name);
  }

  // A user who may not list views may still open one by name.
  #askForName() {
    if (this.#names) return;
    const field = h("input", { type: "text", "aria-label": "View, as NAMESPACE/NAME", placeholder: "namespace/name", autocomplete: "off", required: true, pattern: "[^\\/\\s]+\\/[^\\/\\s]+", title: "You may not list graphs. NAMESPACE/NAME opens one." });
    this.#names = this.#ask(field, "Open", () => {
      this.onchoose(field.value);
      field.value = "";
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
