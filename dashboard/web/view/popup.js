// Something that opens below a control and closes when one is elsewhere.
import { h } from "./h.js";

export class Popup {
  #anchor;
  #away = (event) => {
    const path = event.composedPath();
    if (!path.includes(this.element) && !path.includes(this.#anchor)) this.hide();
  };

  constructor({ role, label }) {
    this.element = h("div", { class: "popup", role, "aria-label": label, hidden: true });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.hide();
      this.#anchor?.focus();
    });
  }

  get shown() { return !this.element.hidden; }

  fill(children) { this.element.replaceChildren(...children); }

  toggle(anchor) {
    if (this.shown) this.hide();
    else this.show(anchor, true);
  }

  show(anchor, focus = false) {
    this.#anchor = anchor;
    this.element.hidden = false;
    const bar = anchor.closest(".bar") ?? anchor.parentElement;
    const [a, b] = [anchor.getBoundingClientRect(), bar.getBoundingClientRect()];
    const parent = this.element.offsetParent?.getBoundingClientRect() ?? b;
    const root = anchor.closest(".root");
    const panel = root?.querySelector(".panel:not([hidden])")?.getBoundingClientRect();
    // Beside the details, if there is room.
    const right = panel && panel.left - b.left > 400 ? panel.left : b.right;
    this.element.style.setProperty("max-width", `${Math.min(820, right - b.left - 16)}px`);
    if (root) this.element.style.setProperty("max-height", `${Math.max(160, root.getBoundingClientRect().bottom - a.bottom - 14)}px`);
    const width = Math.min(parent.width, this.element.offsetWidth);
    const left = Math.max(4, Math.min(a.left - parent.left, right - parent.left - width - 8));
    this.element.style.setProperty("left", `${left}px`);
    this.element.style.setProperty("top", `${a.bottom - parent.top + 6}px`);
    anchor.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", this.#away, true);
    if (focus) (this.element.querySelector("button, input") ?? this.element).focus();
  }

  hide() {
    if (!this.shown) return;
    this.element.hidden = true;
    this.#anchor?.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", this.#away, true);
  }
}
