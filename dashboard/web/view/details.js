// The details of the selected object. An update replaces only the changed parts, so the
// scroll position stays.
import { rootName } from "../../../client/js/request.js";
import { readyOf } from "../model/card.js";
import { clusterOf } from "../model/clusters.js";
import { counted } from "../model/kinds.js";
import { Asking } from "./asking.js";
import { isAct, linesOf, severityOf } from "./acts.js";
import { clock, lineWords, objectsOf, viaWords } from "./changes.js";
import { h, icon, patch } from "./h.js";
import { glyph, signs } from "./icons.js";
import { impactRows } from "./impact.js";
import { reasonsOf } from "./reasons.js";
import { remoteEnds } from "./remote.js";
import { toYAML } from "./yaml.js";

const most = 40;
const fewest = 8; // rows of changes before the others are asked for
const changes = { "+": "came", "~": "changed", "-": "went" };

// Returns the words of a reference, read from its source: "mounts", or from its target:
// "mounts it".
const wordsOf = (id, { words = [] }) => `${words.join(", ")}${words.length > 0 && id === "usedBy" ? " it" : ""}`;

// A path may be broken after its dots, not within a name.
const breakable = (path) => path.split(/(?<=\.)/).flatMap((part) => [h("wbr"), part]).slice(1);

const absent = {
  missing: "It is referred to below, and it is not in the graph: it does not exist, the view does not select it, or you may not see it.",
  optional: "It does not exist, and need not: the references below are optional.",
  outside: "It exists, and is referred to below. The view does not select it.",
  unseen: "It is referred to below. The view does not watch there, so it may exist.",
};

export class DetailsPanel {
  element;
  #controller;
  #key;
  #drawn; // the key of what the panel has in it
  #said = "";
  #text; // the object as YAML, as it was fetched
  #impact; // of its deletion: {answer} or {error}, and the revision of the graph when it was asked for
  #remote = []; // its references to other clusters, as ends of a list
  #remoteOf = "[]"; // what they were made of
  #revision = 0;
  #asking = new Asking((v) => this.#reasons(v), () => { if (this.#key) this.#fill(); });
  #lately = new Asking((v) => this.#changesOf(v), () => { if (this.#key) this.#fill(); });
  #all = new Set(); // lists that are shown whole
  #stale = false;

  constructor(controller, element) {
    this.#controller = controller;
    this.element = element;
  }

  get key() { return this.#key; }

  /** Shows an object, and returns what the engine knows of it. */
  async show(key) {
    if (this.#key !== key) {
      this.#text = this.#impact = undefined;
      this.#asking.forget();
      this.#lately.forget();
      this.#stale = false;
      this.#all.clear();
      this.element.scrollTop = 0;
    }
    this.#key = key;
    return this.#fill();
  }

  close() {
    this.#key = undefined;
    this.#asking.forget();
    this.#lately.forget();
    this.#said = "";
    this.#controller.map.takeFocus(this.element);
    this.element.hidden = true;
  }

  refresh({ journal, revision }) {
    this.#revision = revision;
    if (!this.#key) return;
    if (this.#text !== undefined && journal.some((entry) => entry.key === this.#key)) this.#stale = true;
    this.#fill();
  }

  /** The stream is live again. */
  reconnected() {
    this.#asking.again();
    this.#lately.again();
  }

  async #fill() {
    const key = this.#key;
    const about = await this.#controller.link.ask("details", { key });
    if (this.#key !== key) return about;
    const remote = JSON.stringify(about?.remote ?? []);
    if (remote !== this.#remoteOf) {
      const ends = about?.remote ? await remoteEnds(about, this.#controller) : [];
      if (this.#key !== key) return about;
      [this.#remote, this.#remoteOf] = [ends, remote];
    }
    this.#judge(about);
    const said = JSON.stringify([about, this.#text, this.#impact, this.#outdated, this.#asking.reasons, this.#lately.reasons, this.#controller.past?.at, this.#stale, [...this.#all]]);
    if (said === this.#said) return about;
    this.#said = said;
    this.element.hidden = false;
    const children = about ? this.#render(about) : [h("div", { class: "head" }, h("h2", {}, key.slice(key.lastIndexOf("/") + 1)), h("div", { class: "kind" }, "It is not in the graph any more."), this.#closeButton())];
    // Controls of another object must not be reused: their handlers differ.
    if (this.#drawn === key) patch(this.element, children);
    else this.element.replaceChildren(...children);
    this.#drawn = key;
    return about;
  }

  #closeButton() { return h("button", { type: "button", class: "icon", "aria-label": "Close the details", onclick: () => this.#controller.select(undefined) }, icon(signs.close)); }

  #render(v) {
    const bad = v.health === "degraded" || v.health === "missing";
    const ready = readyOf({ r: v.resource, rd: v.ready });
    const state = [v.present ? v.health : v.absent, v.why].filter(Boolean).join(": ");
    const button = (id, label, path, act, title) => {
      const made = h("button", { type: "button", title, onclick: act }, icon(path), label);
      made.dataset.id = id;
      return made;
    };
    const name = `${v.kind}/${v.name}`;
    const list = (id, title, ends) => this.#list(id, title, ends);
    return [
      h("div", { class: "head" },
        h("div", { class: "kind" }, icon(glyph(v.resource) ?? glyph("uses"), `glyph ${v.role}`), h("span", {}, v.kind), v.ns ? h("span", {}, `in ${v.ns}`) : "", v.root ? h("span", {}, "· root") : "", h("span", { class: "grow" }), this.#closeButton()),
        h("h2", {}, v.name),
        v.then ? h("div", { class: "then" }, v.then) : "",
        v.health === "unknown" ? "" : h("div", { class: `state ${v.health}` }, bad ? "▲ " : "", state, ready && ready !== v.why ? ` · ${ready}` : ""),
        h("div", { class: "actions" }, button("focus", "Focus", signs.focus, () => this.#controller.focus({ key: v.key, depth: 1, up: true, down: true }), "Only what it has to do with (F)"),
          this.#asks(v) ? button("impact", "Impact", signs.problem, () => this.#askImpact(v), "What its deletion does") : "",
          ...this.#controller.actionsOf(v).map(({ label, act }) => button(`action ${label}`, label, signs.share, act)),
          button("copy", "Copy name", signs.copy, () => this.#copy(v.name, "The name is copied.")),
          button("kubectl", "kubectl describe", signs.copy, () => this.#copy(`kubectl describe ${v.resource}${v.group ? `.${v.group}` : ""}${within(v) ? ` -n ${within(v)}` : ""} ${quote(v.name)}`, "The command is copied."), `Copy: kubectl describe ${name}`))),
      h("div", { class: "body" },
        ...this.#missing(v), ...this.#troubles(v), ...(isBroken(v) ? this.#changes(v) : []), ...this.#list("causes", v.shared ? "the same problem" : "the cause", v.causes.filter(({ key }) => !v.uses.some((end) => end.key === key))), ...this.#list("stops", v.shared ? "the same problem" : "stops", v.stops), ...this.#ownWords(), ...(this.#impact ? impactRows(this.#impact, this.#outdated, list, () => this.#askImpact(v)) : []),
        ...this.#list("owners", "owned by", v.owners), ...this.#list("uses", "refers to", v.uses), ...this.#list("usedBy", "referred to by", v.usedBy), ...this.#list("owns", "owns", v.owns), ...this.#list("remote", "in other clusters", this.#remote),
        h("h3", {}, "about"), h("dl", {}, ...[["group", v.group || "core"], ["version", v.version], ["app", v.box], ["created", v.created ? new Date(v.created * 1000).toLocaleString() : ""], ["uid", v.uid]]
          .filter(([, value]) => value).flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)])),
        ...(isBroken(v) ? [] : this.#changes(v)), ...(this.#asks(v) ? this.#content(v) : [])),
    ];
  }

  #missing(v) {
    if (!v.present) return [h("p", {}, absent[v.health] ?? absent.missing)];
    const lacks = v.uses.filter((end) => end.health === "missing");
    if (lacks.length === 0) return [];
    return [h("p", { class: "count-bad" }, `It refers to ${lacks.map((end) => `${end.kind} ${end.name}`).slice(0, 3).join(", ")}, which ${lacks.length === 1 ? "is" : "are"} not there.`)];
  }

  // Why what it owns is not well: the first of each reason is one click away.
  #troubles(v) {
    if (v.troubles.length === 0) return [];
    return [h("ul", { class: "rows" }, ...v.troubles.map(({ n, kind, why, key, name }) => {
      const row = h("button", { type: "button", class: "row", onclick: () => this.#controller.select(key, { reveal: true }) },
        h("span", { class: "bad", "aria-hidden": "true" }, "▲"), h("span", { class: "name" }, why), h("span", { class: "about" }, n === 1 ? `${kind} ${name}` : `${counted(n, kind)}, such as ${name}`));
      row.dataset.id = `trouble ${key}`;
      return h("li", {}, row);
    }))];
  }

  #ownWords() {
    const { reasons } = this.#asking;
    if (reasons.length === 0) return [];
    return [h("h3", {}, "its status says"), h("dl", { class: "words" }, ...reasons.flatMap(({ about, text }) => [h("dt", {}, about), h("dd", {}, text)]))];
  }

  #list(id, title, ends) {
    if (ends.length === 0) return [];
    const shown = this.#all.has(id) ? ends : ends.slice(0, most);
    const row = (end) => {
      const made = h("button", { type: "button", class: "row", onclick: end.act ?? (() => this.#controller.select(end.key, { reveal: true })) },
        icon(glyph(end.resource) ?? glyph("uses"), `glyph ${end.role}`), h("span", { class: "name" }, end.name),
        h("span", { class: `about ${end.health === "degraded" || end.health === "missing" ? "bad" : ""}` },
          [end.kind, wordsOf(id, end), end.present ? end.why || (end.health === "progressing" || end.health === "degraded" ? end.health : "") : end.absent].filter(Boolean).join(" · ")),
        ...(end.fields ?? []).map((field) => h("span", { class: "path" }, ...breakable(field))));
      made.dataset.id = `${id} ${end.key} ${end.type ?? ""}`;
      return h("li", {}, made);
    };
    const more = h("button", { type: "button", class: "link", onclick: () => {
      this.#all.add(id);
      this.#fill();
    } }, `and ${ends.length - shown.length} more`);
    more.dataset.id = `more ${id}`;
    return [h("h3", {}, `${title} (${ends.length})`), h("ul", { class: "rows" }, shown.map(row)), ends.length > shown.length ? more : ""];
  }

  // The changes that the server's history has; without one, those that the page has seen.
  #changes(v) {
    const { reasons } = this.#lately;
    if (!this.#controller.timeline?.history.on) return this.#journal(v);
    const all = this.#all.has("changes");
    const { lines, left } = linesOf(reasons, { g: v.group, r: v.resource, ns: within(v) || undefined, n: v.name });
    const rows = all ? reasons.map((change) => [change]) : lines.slice(0, fewest);
    const hidden = left + lines.slice(fewest).flat().length;
    if (reasons.length === 0) return [];
    const row = (line) => {
      const [{ key, t }] = line;
      const own = key === v.key;
      const time = h("button", { type: "button", class: "link", title: "Show the graph as it was then", onclick: () => this.#showAt(t) }, clock(Date.parse(t)));
      time.dataset.id = `then ${t} ${key}`;
      const what = [h("span", { class: `name ${line.some((change) => severityOf(change) > 2) ? "bad" : ""}` }, lineWords(line)), own ? "" : h("span", { class: "about" }, [objectsOf(line), viaWords(line[0])].filter(Boolean).join(" · "))];
      const made = own ? h("div", { class: "row" }, ...what) : h("button", { type: "button", class: "row", onclick: () => this.#controller.select(key, { reveal: true }) }, ...what);
      made.dataset.id = `change ${t} ${key}`;
      return h("li", { class: `change ${isAct(line[0]) ? "" : "followed"}` }, time, made);
    };
    const more = h("button", { type: "button", class: "link", onclick: () => {
      this.#all.add("changes");
      this.#fill();
    } }, `and ${hidden} more`);
    more.dataset.id = "more changes";
    return [h("h3", {}, isBroken(v) ? "what changed before this" : "its changes"), h("ul", { class: "rows" }, ...rows.map(row)), all || hidden === 0 ? "" : more];
  }

  // On a narrow page the details are in front of the map.
  #showAt(t) {
    this.#controller.showAt(t);
    if (this.element.clientWidth >= this.#controller.root.clientWidth - 2) this.#controller.select(undefined);
  }

  // The changes of an object that is not well, and of all that it leads to; of others, their own.
  #changesOf(v) {
    const { timeline, past } = this.#controller;
    return timeline.history.of(v, { limit: 100, ...(isBroken(v) ? {} : { alone: true }), ...(past ? { until: past.at } : {}) });
  }

  #journal(v) {
    if (v.journal.length === 0) return [];
    return [h("h3", {}, "lately"), h("ul", { class: "rows" }, ...v.journal.slice(0, 12).map(({ at, what, health, was }) =>
      h("li", {}, `${new Date(at).toLocaleTimeString()} ${changes[what]}${was && health && was !== health ? `: ${was} → ${health}` : ""}`)))];
  }

  #content(v) {
    if (v.kind === "Secret") return [h("h3", {}, "object"), h("p", { class: "more" }, "The contents of Secrets are never sent.")];
    const button = (id, label, act) => {
      const made = h("button", { type: "button", onclick: act }, label);
      made.dataset.id = id;
      return made;
    };
    const shown = this.#text !== undefined;
    return [h("h3", {}, "object"), this.#stale ? h("p", { class: "more" }, "It has changed since.") : "",
      h("div", { class: "actions" }, !shown || this.#stale ? button("object", shown ? "Show it as it is now" : "Show the object", () => this.#load(v)) : "",
        shown ? button("yaml", "Copy", () => this.#copy(this.#text, "The object is copied.")) : ""),
      shown ? h("pre", { tabIndex: 0, "aria-label": "The object as YAML" }, this.#text) : ""];
  }

  // Whether the server knows more of it. What stands for a cluster has no resource.
  #asks(v) { return v.present && v.resource !== "" && !this.#controller.options?.snapshot && !this.#controller.past; }

  // Loads the reason for an unhealthy object.
  #judge(v) {
    const asks = v && this.#asks(v) && (v.health === "degraded" || v.health === "progressing") && v.kind !== "Secret";
    const { timeline, past } = this.#controller;
    this.#lately.judge(v?.resource && timeline?.history.on ? [v.health, v.why, v.ready, v.journal.length, past?.at].join(" ") : "", v);
    this.#asking.judge(asks ? [v.health, v.why, v.ready].join(" ") : "", v);
  }

  async #reasons(v) {
    const { object } = await this.#get(v);
    return object && reasonsOf(object);
  }

  async #load(v) {
    const { object, error } = await this.#get(v);
    if (this.#key !== v.key) return;
    this.#text = object ? toYAML(object) : error;
    this.#stale = false;
    this.#fill();
  }

  /** The object as the subscriber may see it: {object}, or {error}. */
  async #get(v) {
    const ns = within(v);
    const { answer, error } = await this.#ask(`/object?${new URLSearchParams({ group: v.group, version: v.version, resource: v.resource, name: v.name, ...(ns ? { namespace: ns } : {}) })}`, v);
    return answer ? { object: answer.o ?? answer.f ?? answer.j ?? {} } : { error };
  }

  async #ask(path, { ns }) {
    try {
      const response = await this.#controller.request(path, ns);
      const answer = await response.json();
      return response.ok ? { answer } : { error: answer.message ?? response.statusText };
    } catch (error) {
      return { error: error.message };
    }
  }

  async #askImpact(v) {
    const { key, group: g, resource: r, name: n, ns } = v;
    const revision = this.#revision;
    const found = await this.#ask(`?impact=${encodeURIComponent(rootName({ g, r, ns: within(v), n }))}`, v);
    if (this.#key !== key) return;
    this.#impact = { ...found, revision, cluster: clusterOf(ns) };
    this.#fill();
  }

  get #outdated() { return this.#impact !== undefined && this.#impact.revision !== this.#revision; }

  async #copy(text, said) {
    try {
      await navigator.clipboard.writeText(text);
      this.#controller.speaker.say(said);
    } catch {
      this.#controller.speaker.say("The browser does not let the page copy.");
    }
  }
}

// Whether an object is not well, or lacks something.
const isBroken = ({ health, causes, troubles, uses }) => ["degraded", "missing", "progressing"].includes(health) || causes.length + troubles.length > 0 || uses.some((end) => end.health === "missing");

// The namespace in its cluster.
const within = ({ ns }) => ns.slice(ns.indexOf(":") + 1);
const quote = (name) => (/^[\w.:-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
