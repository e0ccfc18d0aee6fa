// Says to screen readers what others see: the selection at once, changes at most
// every ten seconds and as counts.
import { readyOf } from "../model/card.js";
import { problems } from "../model/causes.js";
import { endOf } from "./ends.js";
import { h } from "./h.js";

const pause = 10_000;

/** "312 objects, 1,204 references, 3 problems" */
export const summaryOf = (stats) => `${stats.vertices.toLocaleString("en")} objects, ${stats.arcs.toLocaleString("en")} references, ${problems(stats.problems)}`;

/** "Deployment cart, degraded, CrashLoopBackOff, 2 of 3 ready; refers to 3, referred to by 2; cart in shop" */
export function selectionOf(v) {
  const ready = readyOf({ r: v.resource, rd: v.ready });
  const state = [v.present ? v.health : v.absent, v.why === ready ? "" : v.why, ready].filter((word) => word && word !== "unknown");
  return `${[`${v.kind} ${v.name}`, ...state].join(", ")}; refers to ${v.uses.length}, referred to by ${v.usedBy.length}${v.box ? `; ${v.box} in ${v.ns || "no namespace"}` : ""}`;
}

export class Speaker {
  element = h("div", { class: "sr", role: "status", "aria-live": "polite" });
  #counts = { "+": 0, "~": 0, "-": 0 };
  #timer;

  say(text) { this.element.textContent = text; }

  /** Says what was selected: an object, or a card of several that one uses. */
  select(about, card) { this.say(card?.uses ? `${card.name}: ${card.state}; referred to by ${about.kind} ${about.name}` : selectionOf(about)); }

  status(status) {
    const { state, retryIn } = status;
    if (state === "live") this.say("Live.");
    if (state !== "reconnecting" && state !== "ended") return;
    const { title, message, remedy } = endOf(status);
    this.say(`${title} ${message} ${state === "ended" ? remedy : `Trying again in ${Math.ceil(retryIn / 1000)} seconds.`}`);
  }

  changes({ journal, whole }, stats) {
    if (whole) return;
    for (const { what } of journal) this.#counts[what]++;
    if (this.#timer !== undefined || journal.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const { "+": added, "~": changed, "-": removed } = this.#counts;
      this.#counts = { "+": 0, "~": 0, "-": 0 };
      this.say(`${added} added, ${changed} changed, ${removed} removed. ${summaryOf(stats)}.`);
    }, pause);
  }

  stop() { clearTimeout(this.#timer); }
}
