// The bar at the top: search, problems, filters, connection, and what opens panels.
import { h, icon, patch } from "./h.js";
import { glyph, signs } from "./icons.js";
import { Popup } from "./popup.js";

const listed = 40; // hits
const unreachable = "The server does not answer. Try again when it does.";

// The time has its zone, because the file may be opened in another one.
const momentOf = (at) => new Date(at).toLocaleString("en", { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" });

export class Toolbar {
  #controller;
  #search;
  #hits = new Popup({ role: "listbox", label: "What was found" });
  #problems;
  #connection;
  #outline;
  #filters;
  #found;
  #closed = false; // the list of what was found, until more is typed
  #said = "";
  #at = -1;
  #lost = false; // what was chosen of the hits is not among them any more

  constructor(controller) {
    this.#controller = controller;
    this.#search = h("input", {
      type: "search", placeholder: "Search: name, kind:secret, is:degraded", "aria-label": "Search objects", role: "combobox",
      "aria-expanded": "false", "aria-controls": "hits", "aria-autocomplete": "list", autocomplete: "off", spellcheck: false, maxLength: 300,
      oninput: () => {
        this.#closed = false;
        this.#at = -1;
        this.#lost = false;
        controller.search(this.#search.value);
      }, onkeydown: (event) => this.#searchKey(event),
    });
    this.#hits.element.id = "hits";
    this.#problems = h("button", { type: "button", "aria-pressed": "false", onclick: () => controller.filter({ problems: !controller.now.filters.problems }) });
    this.#connection = h("span", { class: "pill" });
    this.#outline = this.#button("Outline", signs.outline, "Outline (T)", () => controller.outline.toggle());
    this.#filters = new Popup({ role: "dialog", label: "Filter" });
    const filter = this.#button("Filter", signs.filter, "Filter", async () => {
      this.#filters.fill([await controller.exporter().then(({ filterFields }) => filterFields(controller)).catch(() => unreachable)]);
      this.#filters.toggle(filter);
    });
    const exports = this.#menu("Export", signs.share, async () => (await controller.exporter()).exportItems(controller));
    const help = this.#button("", signs.help, "Help: signs and keys (?)", () => this.help());
    this.#helpPopup = new Popup({ role: "dialog", label: "Help" });
    this.#helpPopup.element.tabIndex = 0;
    this.element = h("div", { class: "bar", part: "bar", role: "toolbar", "aria-label": "Graph" },
      h("slot", { name: "start" }), h("div", { class: "field" }, this.#search, this.#hits.element), this.#problems,
      h("div", {}, filter, this.#filters.element), this.#outline, h("span", { class: "grow" }), this.#connection, exports, h("div", {}, help, this.#helpPopup.element), h("slot", { name: "end" }));
    this.#helpButton = help;
    this.update();
  }

  #helpPopup;
  #helpButton;

  #button(text, path, label, act) {
    return h("button", { type: "button", class: text ? "" : "icon", title: label, "aria-label": text ? undefined : label, onclick: act }, icon(path), text ? h("span", { class: "wide" }, text) : "");
  }

  #menu(text, path, items) {
    const popup = new Popup({ role: "menu", label: text });
    const button = this.#button(text, path, text, async () => {
      // The code of the menu may not be loaded yet, and the server may be unreachable.
      const all = await items().catch(() => [{ label: unreachable, act() {} }]);
      popup.fill(all.map(({ label, act }) => h("button", { type: "button", role: "menuitem", class: "link", onclick: () => {
        popup.hide();
        act();
      } }, label)));
      popup.toggle(button);
    });
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-expanded", "false");
    return h("div", {}, button, popup.element);
  }

  focusSearch() {
    this.#search.focus();
    this.#search.select();
  }

  setSearch(text) { this.#search.value = text; }

  async help() {
    const { help } = await this.#controller.exporter();
    this.#helpPopup.fill(help(this.#controller.options));
    this.#helpPopup.toggle(this.#helpButton);
  }

  /** Whether something was open that the escape key has closed. */
  closePopups() {
    const open = [this.#hits, this.#filters, this.#helpPopup].filter((popup) => popup.shown);
    for (const popup of open) popup.hide();
    return open.length > 0;
  }

  update() {
    const { status, synced, now, map, options, past } = this.#controller;
    const { stats } = map.scene;
    const said = JSON.stringify([past?.at, status.state, synced, now.filters.problems, now.outline, options?.name, stats.vertices, stats.arcs, stats.problems]);
    if (said === this.#said) return; // what is the same is left alone, and with it the focus
    this.#said = said;
    this.#problems.replaceChildren(icon(signs.problem), stats.problems > 0 ? h("span", { class: "count-bad" }, stats.problems.toLocaleString("en")) : "", h("span", { class: "wide" }, stats.vertices === 0 ? "No objects" : stats.problems === 0 ? "No problems" : stats.problems === 1 ? "problem" : "problems"));
    this.#problems.setAttribute("aria-pressed", String(now.filters.problems));
    this.#problems.title = "Show only what needs attention";
    const counts = `${stats.vertices.toLocaleString("en")} objects, ${stats.arcs.toLocaleString("en")} references`;
    const live = status.state === "live" || (status.state === "connecting" && synced);
    // A graph of nothing is no good news.
    this.#connection.className = `pill ${past ? "past" : live && synced && stats.vertices === 0 ? "nothing" : status.state}`;
    const counted = live || status.state === "snapshot";
    this.#connection.replaceChildren(!options ? "" : past ? "in the past" : live ? "live" : status.state === "snapshot" ? `snapshot of ${momentOf(status.at)}`
      : status.state === "connecting" ? "loading …" : status.state === "reconnecting" ? "reconnecting" : "ended",
    options && counted ? h("span", { class: "wide" }, ` · ${counts}`) : "");
    this.#outline.setAttribute("aria-pressed", String(now.outline));
  }

  /** Shows the results of a search. A hit that is found again when the graph changes stays selected. */
  hits(found) {
    const chosen = this.#found?.hits[this.#at]?.key;
    this.#found = found;
    this.#at = chosen === undefined ? -1 : found?.hits.slice(0, listed).findIndex((hit) => hit.key === chosen) ?? -1;
    this.#lost = found !== undefined && (this.#lost || chosen !== undefined) && this.#at < 0;
    if (!found || this.#closed || this.#search.getRootNode().activeElement !== this.#search) {
      this.#hits.hide();
      this.#search.setAttribute("aria-expanded", "false");
      this.#activate();
      return;
    }
    const row = (hit, i) => {
      const made = h("button", { type: "button", class: "row", role: "option", id: `hit-${i}`, tabIndex: -1, "aria-selected": String(i === this.#at), onclick: () => this.#go(hit) },
        icon(glyph(hit.resource) ?? glyph("uses"), `glyph ${hit.role}`), h("span", { class: "name" }, hit.name),
        h("span", { class: `about ${hit.health === "degraded" || hit.health === "missing" ? "bad" : ""}` }, [hit.kind, hit.ns, hit.why || hit.absent].filter(Boolean).join(" · ")));
      made.dataset.id = hit.key;
      return made;
    };
    patch(this.#hits.element, found.total === 0 ? [h("div", { class: "more" }, "Nothing fits. Qualifiers: kind: ns: app: name: is: has:")] : [
      h("div", { class: "more" }, `${found.total.toLocaleString("en")} found · Enter flies there · Shift+Enter shows only these`),
      h("div", { class: "rows" }, ...found.hits.slice(0, listed).map(row)),
    ]);
    this.#hits.show(this.#search);
    this.#search.setAttribute("aria-expanded", "true");
    this.#activate();
  }

  #activate() {
    if (this.#at < 0 || !this.#hits.shown) this.#search.removeAttribute("aria-activedescendant");
    else this.#search.setAttribute("aria-activedescendant", `hit-${this.#at}`);
  }

  #go(hit) {
    this.#hits.hide();
    this.#search.setAttribute("aria-expanded", "false");
    this.#controller.select(hit.key, { reveal: true });
    this.#controller.map.element.focus({ preventScroll: true });
  }

  // Searches again if the text has changed in the meantime.
  async #first(at) {
    if (at < 0) await this.#controller.search(this.#search.value);
    const hit = this.#found?.hits[Math.max(0, at)];
    if (hit) this.#go(hit);
  }

  #searchKey(event) {
    const list = this.#found?.hits.slice(0, listed) ?? [];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.#at = Math.max(0, Math.min(list.length - 1, this.#at + (event.key === "ArrowDown" ? 1 : -1)));
      const rows = [...this.#hits.element.querySelectorAll(".row")];
      rows.forEach((row, i) => row.setAttribute("aria-selected", String(i === this.#at)));
      rows[this.#at]?.scrollIntoView({ block: "nearest" });
      this.#lost = false;
      this.#activate();
    } else if (event.key === "Enter" && event.shiftKey) {
      this.#hits.hide();
      this.#controller.filter({ text: this.#search.value });
      this.#search.value = "";
      this.#controller.search("");
    } else if (event.key === "Enter") {
      if (!this.#lost) this.#first(this.#at);
      else this.#controller.speaker.say("What was chosen is not found any more. Enter again flies to the first.");
      this.#lost = false;
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (this.#hits.shown) {
        this.#closed = true;
        this.#hits.hide();
      } else {
        this.#search.value = "";
        this.#controller.search("");
        this.#controller.map.element.focus({ preventScroll: true });
      }
    }
  }
}
