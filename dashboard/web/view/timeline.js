// The last ten minutes as a strip: what came, changed and went, every four seconds;
// what got worse is marked. A pause keeps the drawing as it is.
import { h } from "./h.js";
import { forgetFont, setFont } from "./text.js";

const span = 10 * 60_000;
const buckets = 150;
const rank = { degraded: 2, missing: 2, progressing: 1 };
const side = 12; // pixels beside the strip

export class Timeline {
  #controller;
  #entries = [];
  #canvas;
  #text;
  #pause;
  #timer;
  #any = false; // there was a change
  #picked; // the entry that is pointed at
  #resize;

  constructor(controller) {
    this.#controller = controller;
    // With the arrow keys one goes from change to change, as a slider goes from value to value.
    this.#canvas = h("canvas", { class: "strip", role: "slider", tabIndex: 0, "aria-label": "Changes of the last ten minutes", "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0", "aria-valuetext": "",
      onclick: (event) => this.#choose(this.#near(event)), onpointermove: (event) => this.#point(this.#near(event)), onpointerleave: () => this.#point(undefined), onblur: () => this.#point(undefined), onkeydown: (event) => this.#key(event) });
    this.#text = h("span", { class: "more" });
    this.#resize = new ResizeObserver(() => this.draw());
    this.#resize.observe(this.#canvas);
    this.#pause = h("button", { type: "button", class: "link", "aria-pressed": "false", onclick: () => controller.pause(!controller.now.paused) }, "Pause");
    this.element = h("div", { class: "timeline", part: "timeline" }, this.#text, this.#canvas, this.#pause);
  }

  add(journal) {
    if (journal.length === 0 && this.#timer) return;
    for (const entry of journal) this.#entries.push(entry);
    this.#any ||= journal.length > 0;
    if (this.#entries.length > 12_000) this.#entries.splice(0, this.#entries.length - 10_000);
    this.#tell();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.draw();
    }, 250);
  }

  clear() {
    this.#entries = [];
    this.#any = false;
    this.#picked = undefined;
    this.element.hidden = Boolean(this.#controller.options?.snapshot);
    this.#tell();
    this.draw();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#resize.disconnect();
  }

  waiting(changes) { this.#text.textContent = `${changes} changes waiting`; }

  update() {
    const { paused } = this.#controller.now;
    this.#pause.textContent = paused ? "Go on" : "Pause";
    this.#pause.setAttribute("aria-pressed", String(paused));
  }

  #say({ at, what, key, health, was }) {
    const [, , resource, ns, ...name] = key.split("/");
    const verb = what === "+" ? "came" : what === "-" ? "went" : health !== was ? `${was} → ${health}` : "changed";
    return `${new Date(at).toLocaleTimeString()} ${verb}: ${resource} ${ns ? `${ns}/` : ""}${name.join("/")}`;
  }

  // Says what is pointed at, or what came last.
  #tell() {
    const entries = this.#entries;
    const entry = this.#picked ?? entries.at(-1);
    const text = entry ? this.#say(entry) : this.#any ? "No change in the last 10 minutes" : "No change yet";
    this.#text.textContent = text;
    const set = (name, value) => this.#canvas.setAttribute(`aria-value${name}`, String(value));
    set("max", Math.max(0, entries.length - 1));
    set("now", Math.max(0, entry ? entries.lastIndexOf(entry) : 0));
    set("text", text);
  }

  draw() {
    const canvas = this.#canvas;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const { theme } = this.#controller.map;
    const now = Date.now();
    this.#entries = this.#entries.filter((entry) => now - entry.at < span);
    if (this.#entries.length === 0) this.#tell();
    const counts = Array.from({ length: buckets }, () => [0, 0, 0, 0]);
    for (const { at, what, health, was } of this.#entries) {
      const bucket = counts[Math.min(buckets - 1, Math.max(0, Math.floor((1 - (now - at) / span) * buckets)))];
      bucket[what === "+" ? 0 : what === "~" ? 1 : 2]++;
      if ((rank[health] ?? 0) > (rank[was] ?? 0) && what !== "-" && (rank[health] ?? 0) === 2) bucket[3]++;
    }
    this.#ruler(context, theme, width, height);
    const most = Math.max(6, ...counts.map(([a, b, c]) => a + b + c));
    const w = (width - 2 * side) / buckets;
    counts.forEach((bucket, i) => {
      let y = height - 5;
      [theme.accent, theme.line, theme.faint].forEach((colour, part) => {
        if (bucket[part] === 0) return;
        const tall = Math.max(2, (Math.sqrt(bucket[part] / most)) * (height - 12) * 0.8);
        context.fillStyle = colour;
        context.fillRect(side + i * w, y - tall, Math.max(1.5, w - 1), tall);
        y -= tall;
      });
      if (bucket[3] === 0) return;
      context.fillStyle = theme.bad;
      context.beginPath();
      context.arc(side + (i + 0.5) * w, Math.max(5, y - 5), 3, 0, 7);
      context.fill();
    });
    if (!this.#picked) return;
    context.fillStyle = theme.accent;
    context.fillRect(side + (1 - (now - this.#picked.at) / span) * (width - 2 * side) - 1, 0, 2, height - 4);
  }

  // A line with a stroke for each minute, and how long ago the first was.
  #ruler(context, theme, width, height) {
    context.fillStyle = theme["place-edge"];
    context.fillRect(side, height - 4, width - 2 * side, 1);
    for (let minute = 0; minute <= 10; minute++) context.fillRect(Math.round(side + (minute / 10) * (width - 2 * side - 1)), height - 7, 1, 3);
    if (this.#entries.length > 0 || width < 200) return;
    forgetFont();
    setFont(context, 400, 10.5, theme.font);
    context.fillStyle = theme.soft;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText("10 minutes ago", side, height - 17);
    context.textAlign = "right";
    context.fillText("now", width - side, height - 17);
  }

  #near(event) {
    const { clientWidth: width } = this.#canvas;
    const at = Date.now() - (1 - (event.offsetX - side) / (width - 2 * side)) * span;
    let best;
    for (const entry of this.#entries) if (!best || Math.abs(entry.at - at) < Math.abs(best.at - at)) best = entry;
    return best && Math.abs(best.at - at) < 8000 ? best : undefined;
  }

  #point(entry) {
    if (entry === this.#picked) return;
    this.#picked = entry;
    this.#tell();
    this.draw();
    this.#controller.point(entry?.key);
  }

  #choose(entry) { if (entry) this.#controller.select(entry.key, { reveal: true }); }

  #key(event) {
    const entries = this.#entries;
    const at = this.#picked ? entries.lastIndexOf(this.#picked) : entries.length;
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - 10, PageUp: at + 10, Home: 0, End: entries.length - 1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (to === undefined && event.key !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    if (to === undefined) this.#choose(this.#picked);
    else this.#point(entries[Math.max(0, Math.min(entries.length - 1, to))]);
  }
}
