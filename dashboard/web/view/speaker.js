// Says to screen readers what others see: the selection at once, changes at most
// every ten seconds and as counts.
import { h } from "./h.js";

const pause = 10_000;

/** "312 objects, 1,204 references, 3 need attention" */
export const summaryOf = (stats) => `${stats.vertices.toLocaleString("en")} objects, ${stats.arcs.toLocaleString("en")} references, ${stats.problems.toLocaleString("en")} ${stats.problems === 1 ? "needs" : "need"} attention`;

export class Speaker {
  element = h("div", { class: "sr", role: "status", "aria-live": "polite" });
  #counts = { "+": 0, "~": 0, "-": 0 };
  #timer;

  say(text) { this.element.textContent = text; }

  status({ state, reason, retryIn }) {
    if (state === "reconnecting") this.say(`Connection lost: ${reason}. Trying again in ${Math.ceil(retryIn / 1000)} seconds.`);
    else if (state === "ended") this.say(`The stream has ended: ${reason}.`);
    else if (state === "live") this.say("Live.");
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
