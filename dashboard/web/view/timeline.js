// The last ten minutes as a strip: what came, changed and went, second by second;
// what got worse is marked. A pause keeps the drawing as it is.
import { h } from "./h.js";

const span = 10 * 60_000;
const buckets = 150;
const rank = { degraded: 2, missing: 2, progressing: 1 };

export class Timeline {
  #controller;
  #entries = [];
  #canvas;
  #text;
  #pause;
  #timer;
  #picked;

  constructor(controller) {
    this.#controller = controller;
    this.#canvas = h("canvas", { class: "strip", role: "img", "aria-label": "Changes of the last ten minutes", onclick: (event) => this.#pick(event), onpointermove: (event) => this.#hover(event) });
    this.#text = h("span", { class: "more" }, "No change in the last 10 minutes");
    this.#pause = h("button", { type: "button", class: "link", "aria-pressed": "false", onclick: () => controller.pause(!controller.now.paused) }, "Pause");
    this.element = h("div", { class: "timeline", part: "timeline" }, this.#text, this.#canvas, this.#pause);
  }

  add(journal) {
    if (journal.length === 0 && this.#timer) return;
    for (const entry of journal) this.#entries.push(entry);
    if (this.#entries.length > 12_000) this.#entries.splice(0, this.#entries.length - 10_000);
    const last = journal.at(-1);
    if (last) this.#text.textContent = this.#say(last);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.draw();
    }, 250);
  }

  clear() {
    this.#entries = [];
    this.element.hidden = Boolean(this.#controller.options?.snapshot);
    this.#text.textContent = "No change yet";
    this.draw();
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
    return `${new Date(at).toLocaleTimeString()}  ${resource} ${ns ? `${ns}/` : ""}${name.join("/")} ${verb}`;
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
    const counts = Array.from({ length: buckets }, () => [0, 0, 0, 0]);
    for (const { at, what, health, was } of this.#entries) {
      const bucket = counts[Math.min(buckets - 1, Math.max(0, Math.floor((1 - (now - at) / span) * buckets)))];
      bucket[what === "+" ? 0 : what === "~" ? 1 : 2]++;
      if ((rank[health] ?? 0) > (rank[was] ?? 0) && what !== "-" && (rank[health] ?? 0) === 2) bucket[3]++;
    }
    const most = Math.max(6, ...counts.map(([a, b, c]) => a + b + c));
    const w = (width - 24) / buckets;
    counts.forEach((bucket, i) => {
      let y = height - 5;
      [theme.accent, theme.line, theme.faint].forEach((colour, part) => {
        if (bucket[part] === 0) return;
        const tall = Math.max(2, (Math.sqrt(bucket[part] / most)) * (height - 12) * 0.8);
        context.fillStyle = colour;
        context.fillRect(12 + i * w, y - tall, Math.max(1.5, w - 1), tall);
        y -= tall;
      });
      if (bucket[3] === 0) return;
      context.fillStyle = theme.bad;
      context.beginPath();
      context.arc(12 + (i + 0.5) * w, Math.max(5, y - 5), 3, 0, 7);
      context.fill();
    });
    context.fillStyle = theme["place-edge"];
    context.fillRect(12, height - 4, width - 24, 1);
  }

  #near(event) {
    const { clientWidth: width } = this.#canvas;
    const at = Date.now() - (1 - (event.offsetX - 12) / (width - 24)) * span;
    let best;
    for (const entry of this.#entries) if (!best || Math.abs(entry.at - at) < Math.abs(best.at - at)) best = entry;
    return best && Math.abs(best.at - at) < 8000 ? best : undefined;
  }

  #hover(event) {
    const entry = this.#near(event);
    if (entry && entry !== this.#picked) this.#text.textContent = this.#say(entry);
    this.#picked = entry;
  }

  #pick(event) {
    const entry = this.#near(event);
    if (entry) this.#controller.select(entry.key, { reveal: true });
  }
}
