// The tooltip: the text of the item under the pointer that the map does not show at its zoom.
import { h } from "./h.js";
import { levels } from "./paint.js";

function wordsOf({ card, app }, { k }) {
  if (card && k >= levels.sketch) return `${card.uses ? "" : `${card.kind} `}${card.name}${card.state ? ` — ${card.state}` : ""}`;
  if (app && k < levels.cards) return `${app.title} — ${app.why || `${app.vertices} objects`}`;
  return "";
}

export class Tip {
  element = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });

  hide() { this.element.hidden = true; }

  /** Shows what is at a point of the map, if there is something to say. */
  show({ x, y, card, app }, camera) {
    const { element } = this;
    const text = wordsOf({ card, app }, camera);
    element.hidden = !text || x === undefined;
    if (element.hidden) return;
    element.textContent = text;
    const left = Math.min(x + 14, camera.w - element.offsetWidth - 8);
    const top = y + 22 + element.offsetHeight > camera.h ? y - element.offsetHeight - 10 : y + 18;
    element.style.setProperty("left", `${Math.max(4, left)}px`);
    element.style.setProperty("top", `${top}px`);
  }
}
