// Which view is shown: those that there are, by name, with their counts. Where the
// server asks for a token it asks for one, and keeps it in memory alone.
import { h } from "./h.js";

const every = 10_000;
const path = "/apis/stream.graphview.dev/v1alpha1";

export class ViewPicker {
  onchoose = () => {};
  ontoken = () => {};
  #select = h("select", { "aria-label": "View", onchange: () => this.onchoose(this.#select.value) });
  #token;
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
      // Who may not list all may list those of the namespace that the view is in.
      if (response.status === 403 && this.#view) response = await fetch(`${path}/namespaces/${encodeURIComponent(this.#view.split("/")[0])}/graphs`, { headers, cache: "no-store" });
      if (response.status === 401) await this.#askForToken();
      else if (response.ok) {
        const { items = [] } = await response.json();
        this.#views = items.map(({ metadata, status }) => ({ name: `${metadata.namespace}/${metadata.name}`, vertices: status?.vertices })).sort((a, b) => (a.name < b.name ? -1 : 1));
        this.#fill();
      }
    } catch { /* The stream says what is wrong with the connection. */ }
    this.#timer = setTimeout(() => this.#poll(), every);
  }

  #fill() {
    const names = this.#views.map((view) => view.name);
    if (this.#view && !names.includes(this.#view)) names.unshift(this.#view);
    const said = JSON.stringify([names, this.#view]);
    if (this.said === said) return;
    this.said = said;
    this.#select.replaceChildren(...(this.#view ? [] : [h("option", { value: "", disabled: true, selected: true }, "Choose a view …")]),
      ...names.map((name) => h("option", { value: name, selected: name === this.#view }, name)));
    if (!this.#view && names.length === 1) this.onchoose(names[0]);
  }

  async #askForToken() {
    if (this.asked) return;
    const config = await fetch("config.json").then((response) => response.json()).catch(() => ({}));
    if (!config.token) return;
    this.asked = true;
    const field = h("input", { type: "password", "aria-label": "Bearer token", placeholder: "bearer token", autocomplete: "off" });
    this.element.append(h("form", { onsubmit: (event) => {
      event.preventDefault();
      this.#token = field.value.trim();
      event.target.remove();
      this.asked = false;
      this.ontoken(this.#token);
      this.#poll();
    } }, field, h("button", { type: "submit" }, "Use")));
  }
}
