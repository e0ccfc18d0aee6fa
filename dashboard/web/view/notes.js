// The notes above the map: active filters, a focus, warnings of the server, a connection that
// is not live, and a snapshot that is not complete.
import { problems } from "../model/causes.js";
import { counted } from "../model/kinds.js";
import { isFiltering } from "../model/scope.js";
import { typeNames } from "../model/store.js";
import { endOf } from "./ends.js";
import { h, icon } from "./h.js";
import { signs } from "./icons.js";

const listNames = { kinds: "kind", namespaces: "namespace", apps: "app", health: "health", types: "references" };

// Such as "v1/secrets in shop is left out: you may not list and watch it there".
const isDenied = ({ t, m = "" }) => t === "ACCESS_DENIED" || m.includes("may not list and watch it");

export class NotesBar {
  element = h("div", { class: "notes", part: "notes", role: "region", "aria-label": "Notes" });
  #controller;
  #warnings = [];
  #open = new Set(); // lists
  #said = "";
  #failure = "";
  #counting; // down to the next attempt to connect

  constructor(controller) {
    this.#controller = controller;
  }

  stop() { clearInterval(this.#counting); }

  warn(warnings) {
    this.#warnings = warnings;
    this.update();
  }

  fail(message) {
    this.#failure = message || "The worker has stopped.";
    this.update();
  }

  update() {
    const { now, status, map, options, ineffective, past, lost, timeline } = this.#controller;
    const { stats } = map.scene;
    // Unchanged notes stay in the page, and keep the focus.
    const said = JSON.stringify([now.filters, now.focus, status, map.scene.places.size > 0, stats.matches, stats.account?.hidden, this.#warnings, [...this.#open], stats.shared, stats.problems, this.#controller.silent, this.#failure, options?.name, ineffective, now.at, past, lost, timeline?.entry?.at]);
    if (said === this.#said) return;
    this.#said = said;
    this.element.replaceChildren(...[this.#connection(status), this.#failure && this.#note("bad", h("b", {}, "The page has failed."), this.#failure),
      lost && this.#note("warn", h("b", {}, "This moment cannot be shown."), lost), now.at && this.#note("past", ...(timeline?.moment() ?? [])), ...this.#warningNotes(), ineffective && this.#note("warn", h("b", {}, "Without effect."), ineffective), this.#shared(stats), this.#focus(now), this.#filters(now, stats)].filter(Boolean));
  }

  #note(kind, ...children) { return h("div", { class: `note ${kind}` }, ...children); }

  #connection(status) {
    const { state, retryIn, at, complete } = status;
    clearInterval(this.#counting);
    if (state === "snapshot" && !complete) return this.#note("warn", h("b", {}, "The graph was not complete."), "The snapshot has what the server had read by then.");
    if (state !== "reconnecting" && state !== "ended") return undefined;
    const { title, message, remedy } = endOf(status);
    const shown = this.#controller.map.scene.places.size > 0 ? `What is shown is of ${new Date(at ?? 0).toLocaleTimeString()}.` : "";
    const text = [message, remedy, shown].filter(Boolean).join(" ");
    if (state === "ended") {
      if (this.#controller.silent) return undefined; // the page has words of its own
      return this.#note("bad", h("slot", { name: "refused" }, h("b", {}, title), " ", text, " ", h("button", { type: "button", onclick: () => this.#controller.retry() }, "Try again")));
    }
    const until = performance.now() + retryIn;
    const when = h("span", {});
    const count = () => {
      const seconds = Math.ceil((until - performance.now()) / 1000);
      when.textContent = seconds > 0 ? `Reconnecting in ${seconds} s.` : "Reconnecting …";
    };
    count();
    this.#counting = setInterval(count, 1000);
    return this.#note("warn", h("b", {}, title), when, text);
  }

  // Rights that the user or the view does not have are by design: they are one quiet line.
  #warningNotes() {
    const denied = this.#warnings.filter(isDenied);
    const others = this.#warnings.filter((w) => !isDenied(w));
    const counts = new Map();
    for (const { t } of others) counts.set(t, (counts.get(t) ?? 0) + 1);
    const summary = [...counts].map(([type, n]) => `${n} ${type.toLowerCase().replaceAll("_", " ")}`).join(", ");
    const mine = denied.filter(({ t }) => t === "ACCESS_DENIED").length;
    const left = [mine > 0 && `${counted(mine, "resource")} that you may not list`, denied.length > mine && `${counted(denied.length - mine, "resource")} that the view may not read`].filter(Boolean).join(", ");
    return [...this.#listNote("warn", others, h("b", {}, counted(others.length, "warning")), others.length === 1 ? others[0].m ?? summary : summary),
      ...this.#listNote("quiet", denied, "", `Left out: ${left}.`)];
  }

  #listNote(kind, list, title, text) {
    if (list.length === 0) return [];
    const open = this.#open.has(kind);
    return [this.#note(kind, title, text, (list.length > 1 || kind === "quiet") && h("button", { type: "button", class: "link", "aria-expanded": String(open), onclick: () => {
      if (!this.#open.delete(kind)) this.#open.add(kind);
      this.update();
    } }, open ? "hide" : "show")),
    ...(open ? [h("div", { class: `note ${kind}` }, h("ul", { class: "rows" }, ...list.slice(0, 100).map((w) => h("li", {}, w.m ?? w.t))))] : [])];
  }

  // A cause that all objects of a kind have is said once.
  #shared({ shared }) {
    if (!shared) return undefined;
    return this.#note("", h("span", {}, h("b", { class: "sign warn" }, "▲ "), shared.words), h("button", { type: "button", class: "link", onclick: () => this.#controller.filter({ problems: false, text: `kind:${shared.kind} is:degraded` }) }, "show"));
  }

  #focus({ focus }) {
    if (!focus) return undefined;
    const name = focus.key.slice(focus.key.lastIndexOf("/") + 1);
    const set = (changes) => this.#controller.focus({ ...this.#controller.now.focus, ...changes });
    const direction = (label, up, down) => h("button", { type: "button", "aria-pressed": String(focus.up === up && focus.down === down), onclick: () => set({ up, down }) }, label);
    return this.#note("", h("span", {}, "Only what has to do with ", h("b", {}, name)), direction("referred to by", true, false), direction("refers to", false, true), direction("both", true, true),
      h("span", {}, `${focus.depth} step${focus.depth > 1 ? "s" : ""}`),
      h("button", { type: "button", class: "icon", "aria-label": "One step less", onclick: () => set({ depth: Math.max(1, focus.depth - 1) }) }, icon(signs.minus)),
      h("button", { type: "button", class: "icon", "aria-label": "One step more", onclick: () => set({ depth: Math.min(5, focus.depth + 1) }) }, icon(signs.plus)),
      h("button", { type: "button", onclick: () => this.#controller.focus(undefined) }, "Show everything (Esc)"));
  }

  #filters({ filters }, stats) {
    if (!isFiltering(filters)) return undefined;
    const chip = (text, changes) => h("span", { class: "chip" }, text, h("button", { type: "button", "aria-label": `Remove the filter ${text}`, onclick: () => this.#controller.filter(changes) }, icon(signs.close)));
    const chips = Object.keys(listNames).flatMap((name) => filters[name].map((value) => chip(`${listNames[name]}: ${name === "types" ? typeNames[value] : value}`, { [name]: filters[name].filter((v) => v !== value) })));
    if (filters.problems) chips.push(chip("problems", { problems: false }));
    if (filters.recent) chips.push(chip("changed in 5 min", { recent: false }));
    if (filters.text) chips.push(chip(filters.text, { text: null }));
    const hidden = stats.account?.hidden ?? 0;
    const all = (stats.vertices + stats.missing).toLocaleString("en");
    const shown = stats.matches === undefined ? `${stats.vertices.toLocaleString("en")} objects` : `${stats.matches.toLocaleString("en")} of ${all} objects`;
    return this.#note("", filters.problems && h("b", {}, `${problems(stats.problems)}:`), h("b", {}, shown), hidden > 0 ? `${hidden.toLocaleString("en")} references hidden` : "", ...chips,
      h("button", { type: "button", onclick: () => this.#controller.filter({ kinds: [], namespaces: [], apps: [], health: [], types: [], problems: false, recent: false, text: null }) }, "Show everything"));
  }
}
