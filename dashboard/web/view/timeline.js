// The changes of what is drawn as a strip on an axis of time: bars by sort of change, with what got worse on top. A click shows the
// graph as it was then.
import { isFiltering } from "../model/scope.js";
import { ago, changeWords, clock } from "./changes.js";
import { h } from "./h.js";
import { History } from "./history.js";
import { forgetFont, setFont } from "./text.js";

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const spans = [10 * minute, hour, 6 * hour, day, 7 * day];
const names = ["10 minutes", "hour", "6 hours", "day", "week"]; // of spans
const steps = [minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day];
const enough = 8; // changes that a range has, if there are so many
const side = 12; // pixels beside the axis
const bar = 5; // pixels of a bar and its gap
const labels = 14; // pixels of the axis and its words
const apart = 64; // pixels between two words
const reach = { mouse: 8, touch: 18 }; // pixels from a pointer in which changes are found

export class Timeline {
  history = new History();
  #controller;
  #element;
  #entries = []; // of what is drawn
  #about; // the keys that the drawing is about; undefined: all
  #asked = ""; // what they are of
  #canvas;
  #text;
  #more;
  #pause;
  #range;
  #span = spans[0]; // milliseconds of the axis
  #fresh = true; // they were not chosen yet, by the user or by the first changes
  #frame = 0;
  #picked; // the entry that is pointed at
  #resize;

  constructor(controller, element) {
    this.#controller = controller;
    this.#element = element;
    // With the arrow keys one goes from change to change, as a slider goes from value to value.
    this.#canvas = h("canvas", { class: "strip", role: "slider", tabIndex: 0, "aria-label": "Changes: Enter shows the graph as it was", "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0", "aria-valuetext": "",
      onclick: (event) => this.#choose(event), onpointermove: (event) => this.#point(this.#near(event), event), onpointerleave: () => this.#point(undefined), onblur: () => this.#point(undefined), onkeydown: (event) => this.#key(event) });
    this.#text = h("span", { class: "more" });
    this.#more = h("span", { class: "more" });
    this.#range = h("select", { "aria-label": "How far back", onchange: () => this.#reach(Number(this.#range.value)) }, ...spans.map((span, i) => h("option", { value: String(span) }, `last ${names[i]}`)));
    this.#resize = new ResizeObserver(() => this.draw());
    this.#resize.observe(this.#canvas);
    this.#pause = h("button", { type: "button", class: "link", "aria-pressed": "false", onclick: () => controller.pause(!controller.now.paused) }, "Pause");
    element.append(h("div", { class: "said" }, this.#text, this.#more), this.#canvas, this.#range, this.#pause);
    this.history.addEventListener("change", () => {
      const { now: { at } } = controller;
      if (at && this.#fresh && this.history.on) controller.showAt(at); // which objects were written since is known by now
      this.update();
      controller.notes.update();
    });
  }

  stop() {
    this.history.close();
    cancelAnimationFrame(this.#frame);
    this.#resize.disconnect();
  }

  /** Asks for the changes of the view that is open. */
  open() {
    const { options, token } = this.#controller;
    const { snapshot, views, ...rest } = options ?? {};
    // The server knows no moments of a part of a view.
    if (options && !snapshot && !options.roots) this.history.open(views ?? [{}], rest, token);
  }

  /** Another view is open, whose strip begins with a range of its own. */
  clear() {
    this.history.close();
    this.#picked = this.#about = undefined;
    this.#asked = "";
    this.#fresh = true;
    this.update();
  }

  /** The drawing is another one, and if the graph has changed, there are other changes. */
  refresh(changed) {
    if (changed) this.history.refresh();
    this.update();
  }

  /** The keys of objects of which more than their state has changed since a time. */
  writtenSince(time) { return this.history.entries.filter((entry) => entry.time > time && entry.change.type === "content").map(({ key }) => key); }

  /** The moment that is shown, the change of it, and the ways to others and back: children of a note. */
  moment() {
    const { past, now: { at } } = this.#controller;
    const time = Date.parse(at);
    const { entry } = this;
    const button = (/** @type {any[]} */ label, act, title, name) => h("button", { type: "button", title, "aria-label": name, onclick: act }, ...label);
    const wide = (words) => h("span", { class: "wide" }, words); // where there is room
    const back = button(["Back to now", wide("(Esc)")], () => this.#controller.showAt(undefined));
    if (!past) return [h("b", {}, `${clock(time)} …`), back];
    const count = (n, one, many) => n > 0 && `${n} ${n === 1 ? one : many}`;
    const differs = [count(past.came, "came since", "came since"), count(past.went, "is gone now", "are gone now"), count(past.changed, "differs now", "differ now")].filter(Boolean).join(", ");
    return [h("b", {}, `As it was at ${clock(time)}`), h("span", { class: "when" }, `${ago(time)} · ${differs || "nothing differs now"}`),
      entry ? h("span", { class: "what" }, button([`${entry.change.k} ${entry.change.vx.n}`], () => this.#controller.select(entry.key, { reveal: true }), "Its details"), ` ${changeWords(entry.change, { brief: true })}`) : "",
      h("span", { class: "grow" }), button(["‹", wide("Earlier")], () => this.step(-1), "The change before (,)", "Earlier"), button([wide("Later"), "›"], () => this.step(1), "The change after (.)", "Later"), back];
  }

  waiting(changes) { this.#text.textContent = `${changes} changes waiting`; }

  update() {
    const { past, now: { paused, at } } = this.#controller;
    const { on } = this.history;
    this.#element.hidden = !on && !paused;
    for (const part of [this.#canvas, this.#range]) part.hidden = !on;
    this.#pause.hidden = at !== undefined;
    this.#pause.textContent = paused ? "Go on" : "Pause";
    this.#pause.setAttribute("aria-pressed", String(paused));
    if (!on) return;
    this.#ask();
    this.#entries = this.#about ? this.history.entries.filter(({ key }) => this.#about.has(key)) : this.history.entries;
    if (this.#picked) this.#picked = this.#entries.find((entry) => entry.at === this.#picked.at && entry.key === this.#picked.key);
    if (this.#fresh) this.#span = this.#firstSpan();
    this.#fresh &&= this.#entries.length === 0;
    const moment = Date.parse(past?.at ?? "");
    if (moment < Date.now() - this.#span) this.#span = spanOf(moment);
    this.#range.value = String(this.#span);
    this.#tell();
    this.draw();
  }

  // The shortest range that has some changes.
  #firstSpan() {
    const some = this.#entries.at(-enough) ?? this.#entries[0];
    return some ? spanOf(some.time) : spans[0];
  }

  #reach(span) {
    this.#span = span;
    this.#fresh = false;
    const { entries, more } = this.history;
    if (more && entries[0]?.time > Date.now() - span) this.history.older();
    this.update();
  }

  // Asks what the drawing is about, when filters, a focus or the history are others.
  async #ask() {
    const { now: { filters, focus }, link } = this.#controller;
    const { entries } = this.history;
    const asked = isFiltering(filters) || focus ? JSON.stringify([filters, focus, entries.length, entries.at(-1)?.at]) : "";
    if (asked === this.#asked) return;
    this.#asked = asked;
    const objects = new Map(entries.map(({ key, change: { k, vx } }) => [key, { key, kind: k, ns: vx.ns ?? "" }]));
    const keys = asked ? await link.ask("about", { objects: [...objects.values()] }) : undefined;
    if (asked !== this.#asked) return;
    this.#about = keys && new Set(keys);
    this.update();
  }

  #say({ at, change }, options) { return `${clock(Date.parse(at))} ${change.k} ${change.vx.n}: ${changeWords(change, options)}`; }

  // Says what is pointed at, or shown, or came last; and from when on changes are known.
  #tell(gap) {
    const entries = this.#entries;
    const entry = this.#picked ?? this.entry ?? entries.at(-1);
    const { since } = this.history;
    const known = `Recorded since ${clock(since)}`;
    const number = entries.length - entries.findIndex(({ time }) => time >= Date.now() - this.#span);
    const count = entries.length === 0 || number > entries.length ? "No change" : `${number} change${number === 1 ? "" : "s"}`;
    if (!this.#controller.now.paused) this.#text.textContent = entry ? this.#say(entry, { brief: true }) : "No change yet";
    this.#text.title = entry ? this.#say(entry) : "";
    this.#more.textContent = gap ? `Not recorded one by one from ${clock(gap.from)} to ${clock(gap.until)}: ${gap.why}` : `${count} in this time · ${known}`;
    this.#more.title = this.#more.textContent;
    const set = (name, value) => this.#canvas.setAttribute(`aria-value${name}`, String(value));
    set("max", Math.max(0, entries.length - 1));
    set("now", Math.max(0, entry ? entries.indexOf(entry) : 0));
    set("text", entry ? `${this.#say(entry)}. ${known}` : `No change. ${known}`);
  }

  /** The change at the moment that is shown. */
  get entry() {
    const { at } = this.#controller.now;
    return at && this.history.entries.find((entry) => entry.at === at);
  }

  /** Shows the moment of the next act or breakage, or the one before. */
  step(by) {
    const { at } = this.#controller.now;
    const entries = this.#entries.filter(isTelling);
    const to = by < 0 ? entries.filter((entry) => at === undefined || entry.at < at).at(-1) : entries.find((entry) => entry.at > at);
    if (to) this.#controller.showAt(to.at);
    else if (by > 0 && at) this.#controller.showAt(undefined);
  }

  draw() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    this.#frame = 0;
    const canvas = this.#canvas;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const { theme } = this.#controller.map;
    const foot = height - labels;
    const until = Date.now();
    this.#ruler(context, theme, until, width, foot);
    this.#gaps(context, theme, until, foot);
    this.#bars(context, theme, until, foot);
    const line = (time, colour, size) => {
      if (!(time >= until - this.#span)) return;
      context.fillStyle = colour;
      context.fillRect(this.#x(time, until) - size / 2, 0, size, foot);
    };
    const { at } = this.#controller.now;
    if (at) this.#moment(context, theme, this.#x(Date.parse(at), until), width, foot);
    line(this.#picked?.time, theme.text, 1.5);
  }

  /** How far from the left of the strip a change is, in pixels, for tests. */
  placeOf({ time }) { return this.#x(time, Date.now()); }

  #x(time, until) { return side + (1 - (until - time) / this.#span) * (this.#canvas.clientWidth - 2 * side); }

  // What came after the moment that is shown is pale.
  #moment(context, theme, x, width, foot) {
    context.globalAlpha = 0.6;
    context.fillStyle = theme.surface;
    context.fillRect(x, 0, width - x, foot);
    context.globalAlpha = 1;
    context.fillStyle = theme.accent;
    context.fillRect(x - 1, 0, 2, foot);
    context.beginPath();
    context.moveTo(x - 5, 0);
    context.lineTo(x + 5, 0);
    context.lineTo(x, 6);
    context.fill();
  }

  // A line with a stroke and the time at round times.
  #ruler(context, theme, until, width, foot) {
    context.fillStyle = theme["place-edge"];
    context.fillRect(side, foot, width - 2 * side, 1);
    const step = steps.find((each) => (each / this.#span) * (width - 2 * side) >= apart) ?? day;
    const zone = new Date(until).getTimezoneOffset() * minute;
    forgetFont();
    setFont(context, 400, 10, theme.font);
    context.textBaseline = "middle";
    context.textAlign = "center";
    for (let time = Math.ceil((until - this.#span - zone) / step) * step + zone; time <= until; time += step) {
      const x = Math.round(this.#x(time, until));
      context.fillStyle = theme["place-edge"];
      context.fillRect(x, foot, 1, 4);
      context.fillStyle = theme.soft;
      const words = step >= day ? new Date(time).toLocaleDateString([], { month: "short", day: "numeric" }) : new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
      if (x > side + 14 && x < width - side - 14) context.fillText(words, x, foot + labels / 2 + 2);
    }
  }

  // Times of which changes are not known are hatched.
  #gaps(context, theme, until, foot) {
    const start = until - this.#span;
    const { since, gaps, more, entries } = this.history;
    const known = more && entries.length > 0 ? Math.max(since, entries[0].time) : since;
    context.strokeStyle = theme.faint;
    context.lineWidth = 1;
    for (const gap of [{ from: start, until: Math.min(until, known) }, ...gaps]) {
      if (gap.until <= start || gap.until <= gap.from) continue;
      // The clock of the server may be ahead.
      const [from, to] = [Math.max(side, this.#x(gap.from, until)), this.#x(Math.min(gap.until, until), until)];
      const right = Math.max(from + 3, to);
      context.save();
      context.beginPath();
      context.rect(from, 2, right - from, foot - 2);
      context.clip();
      context.beginPath();
      for (let x = from - foot; x < right; x += 7) {
        context.moveTo(x, foot);
        context.lineTo(x + foot, 0);
      }
      context.globalAlpha = 0.5;
      context.stroke();
      context.restore();
    }
  }

  #bars(context, theme, until, foot) {
    const { clientWidth: width } = this.#canvas;
    const buckets = Math.max(1, Math.floor((width - 2 * side) / bar));
    const counts = new Map();
    let most = 4;
    for (const { time, sort, level } of this.#entries) {
      const at = Math.floor((1 - (until - time) / this.#span) * buckets);
      if (at < 0) continue;
      const bucket = counts.get(at) ?? [0, 0, 0, 0, 0];
      counts.set(at, bucket);
      bucket[level > 0 ? 2 + level : sort === "act" ? 0 : sort === "health" ? 2 : 1]++;
      most = Math.max(most, bucket.reduce((a, b) => a + b));
    }
    const colours = [theme.accent, theme.line, theme.good, theme.warn, theme.bad];
    const w = (width - 2 * side) / buckets;
    for (const [at, bucket] of counts) {
      const all = bucket.reduce((a, b) => a + b);
      const tall = Math.max(5, Math.sqrt(all / most) * (foot - 12));
      const x = side + Math.min(at, buckets - 1) * w;
      let y = foot;
      colours.forEach((colour, part) => {
        if (bucket[part] === 0) return;
        const own = Math.max(2, (tall * bucket[part]) / all);
        context.fillStyle = colour;
        context.fillRect(x, y - own, w - 1, own);
        y -= own;
      });
      if (bucket[4] === 0) continue;
      const middle = x + (w - 1) / 2;
      context.fillStyle = theme.bad;
      context.beginPath();
      context.moveTo(middle, y - 9);
      context.lineTo(middle + 4.5, y - 2);
      context.lineTo(middle - 4.5, y - 2);
      context.fill();
    }
  }

  #timeAt(event) {
    const { clientWidth: width } = this.#canvas;
    return Date.now() - (1 - (event.offsetX - side) / (width - 2 * side)) * this.#span;
  }

  // The change nearest to a pointer, rather one that tells something.
  #near(event) {
    const time = this.#timeAt(event);
    const width = ((event.pointerType === "touch" ? reach.touch : reach.mouse) * this.#span) / (this.#canvas.clientWidth - 2 * side);
    const far = (entry) => Math.abs(entry.time - time) + (isTelling(entry) ? 0 : width);
    let best;
    for (const entry of this.#entries) if (Math.abs(entry.time - time) <= width && (!best || far(entry) < far(best))) best = entry;
    return best;
  }

  #point(entry, event) {
    const time = event && !entry && this.#timeAt(event);
    const gap = time && this.history.gaps.find(({ from, until }) => time >= from && time <= until);
    if (entry === this.#picked && !gap) return;
    this.#picked = entry;
    this.#tell(gap);
    this.draw();
    this.#controller.point(entry?.key);
  }

  #choose(event) {
    const entry = this.#near(event);
    const time = this.#timeAt(event);
    if (entry) this.#controller.showAt(entry.at);
    else if (time < this.history.since) this.#controller.speaker.say(`Changes are recorded since ${clock(this.history.since)}.`);
    else if (time < Date.now() - second) this.#controller.showAt(new Date(time).toISOString());
    else this.#controller.showAt(undefined);
  }

  #key(event) {
    const entries = this.#entries;
    const at = this.#picked ? entries.indexOf(this.#picked) : this.entry ? entries.indexOf(this.entry) : entries.length;
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - 10, PageUp: at + 10, Home: 0, End: entries.length - 1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (to === undefined && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    const { [to ?? -1]: entry } = entries;
    if (to === undefined) {
      if (this.#picked) this.#controller.showAt(this.#picked.at);
    } else this.#point(entry ?? entries[Math.max(0, Math.min(entries.length - 1, to))]);
  }
}

const isTelling = ({ sort, level }) => sort === "act" || level === 2;
const spanOf = (time) => spans.find((span) => time >= Date.now() - span) ?? spans.at(-1);
