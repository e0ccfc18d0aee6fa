// The outline: the graph as a treegrid. Only visible rows exist. The focus stays on the grid,
// so that rows can be added and removed.
import { h, icon } from "./h.js";
import { glyph, signs } from "./icons.js";

const rowHeight = 26;
const spare = 6; // rows beyond what is seen

export class OutlineView {
  #controller;
  #grid;
  #space;
  #rows = new Map(); // index: element
  #window = { from: 0, rows: [], total: 0 };
  #active = 0; // index of the row that the keys are about
  #activeKey;
  #turn = 0;
  #resize;

  constructor(controller) {
    this.#controller = controller;
    this.#space = h("div", { role: "presentation" });
    this.#grid = h("div", { class: "grid", role: "treegrid", tabIndex: 0, "aria-label": "Outline of the graph", "aria-colcount": "4", onscroll: () => this.#ask(), onkeydown: (event) => this.#key(event) }, this.#space);
    const all = (label, open) => h("button", { type: "button", class: "link", onclick: async () => {
      await controller.link.ask("expand", { all: true, open });
      this.refresh();
    } }, label);
    this.element = h("section", { class: "outline", part: "outline", hidden: true, "aria-label": "Outline" },
      h("div", { class: "strip-head" }, h("h2", {}, "Outline"), h("span", { class: "grow" }), all("open all", true), all("fold all", false),
        h("button", { type: "button", class: "icon", "aria-label": "Close the outline", onclick: () => this.toggle(false) }, icon(signs.close))),
      h("div", { class: "grid-head", "aria-hidden": "true" }, h("span", {}, "name"), h("span", {}, "state"), h("span", { title: "refers to" }, "to"), h("span", { title: "referred to by" }, "by")), this.#grid);
    this.#resize = new ResizeObserver(() => this.#ask());
    this.#resize.observe(this.#grid);
  }

  get shown() { return !this.element.hidden; }

  stop() { this.#resize.disconnect(); }

  toggle(open = !this.shown) {
    if (!open) this.#controller.map.takeFocus(this.element);
    this.element.hidden = !open;
    this.#controller.now.outline = open;
    this.#controller.toolbar.update();
    if (!open) return;
    this.refresh();
    if (this.#controller.now.selected) this.mark(this.#controller.now.selected);
    this.#grid.focus({ preventScroll: true });
  }

  refresh() { if (this.shown) this.#ask(); }

  /** Shows where an object is, if it was not chosen here. */
  async mark(key) {
    this.#activeKey = key;
    if (!this.shown || !key) return this.#paint();
    const { at } = await this.#controller.link.ask("outline", { key, from: 0, to: 0 });
    if (at < 0) return this.#paint();
    this.#active = at;
    this.#scrollTo(at);
    return this.#ask();
  }

  #scrollTo(index) {
    const top = index * rowHeight;
    const { scrollTop, clientHeight } = this.#grid;
    if (top < scrollTop) this.#grid.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) this.#grid.scrollTop = top + rowHeight - clientHeight;
  }

  async #ask() {
    const turn = ++this.#turn;
    const from = Math.max(0, Math.floor(this.#grid.scrollTop / rowHeight) - spare);
    const to = from + Math.ceil(this.#grid.clientHeight / rowHeight) + 2 * spare;
    const answer = await this.#controller.link.ask("outline", { from, to });
    if (turn !== this.#turn) return;
    this.#window = answer;
    this.#active = Math.max(0, Math.min(this.#active, answer.total - 1));
    // The row that is chosen may have moved.
    const chosen = answer.rows.findIndex((row) => row.key === this.#activeKey);
    if (chosen >= 0) this.#active = from + chosen;
    this.#paint();
  }

  #paint() {
    const { from, rows, total } = this.#window;
    this.#grid.setAttribute("aria-rowcount", String(total));
    this.#space.style.setProperty("height", `${total * rowHeight}px`);
    const wanted = new Set(rows.map((_, i) => from + i));
    for (const [index, element] of this.#rows) {
      if (wanted.has(index)) continue;
      element.remove();
      this.#rows.delete(index);
    }
    rows.forEach((row, i) => this.#patch(from + i, row));
    const active = this.#rows.get(this.#active);
    if (active) this.#grid.setAttribute("aria-activedescendant", active.id);
    else this.#grid.removeAttribute("aria-activedescendant");
  }

  #patch(index, row) {
    let element = this.#rows.get(index);
    if (!element) {
      element = h("div", { role: "row", id: `row-${index}`, onclick: (event) => this.#click(index, event), ondblclick: () => this.#expand(index) },
        h("div", { role: "gridcell", class: "first" }, h("span", { class: "twist", "aria-hidden": "true" }), h("span", { class: "pic" }), h("span", { class: "label" }), h("span", { class: "kindname" })),
        h("div", { role: "gridcell" }), h("div", { role: "gridcell", class: "num" }), h("div", { role: "gridcell", class: "num" }));
      element.style.setProperty("top", `${index * rowHeight}px`);
      this.#rows.set(index, element);
      this.#grid.append(element);
    }
    const on = index === this.#active;
    const said = JSON.stringify([row, on]);
    if (element.said === said) return;
    element.said = said;
    element.className = `grid-row ${row.group ? "group" : ""} ${on ? "on" : ""}`;
    const set = (name, value) => (value === undefined ? element.removeAttribute(name) : element.setAttribute(name, String(value)));
    set("aria-rowindex", index + 1);
    set("aria-level", row.level);
    set("aria-posinset", row.pos);
    set("aria-setsize", row.size);
    set("aria-expanded", row.expanded);
    set("aria-selected", on);
    const [first, state, uses, users] = element.children;
    first.style.setProperty("padding-inline-start", `${(row.level - 1) * 14}px`);
    const [twist, picture, label, kind] = first.children;
    twist.textContent = row.expanded === undefined ? "" : row.expanded ? "▾" : "▸";
    picture.replaceChildren(...(row.group ? [] : [icon(glyph(row.resource) ?? glyph("uses"), `glyph ${row.role}`)]));
    label.textContent = row.name;
    label.title = row.name;
    kind.textContent = row.kind;
    state.className = `st ${row.health}`;
    state.textContent = row.state;
    state.title = row.state;
    for (const [cell, number, what] of [[uses, row.uses, "refers to"], [users, row.usedBy, "referred to by"]]) {
      cell.textContent = number || "";
      cell.setAttribute("aria-label", `${what} ${number ?? 0}`); // the heads of the columns are not said
    }
  }

  #row(index) { return this.#window.rows[index - this.#window.from]; }

  async #click(index, event) {
    const row = this.#row(index);
    if (!row) return;
    this.#active = index;
    this.#activeKey = row.key;
    this.#paint();
    if (event.target.closest(".twist")) await this.#expand(index);
    else if (!row.group) this.#controller.select(row.key, { reveal: true });
  }

  async #expand(index, open) {
    const row = this.#row(index);
    if (!row || row.expanded === undefined || row.expanded === open) return;
    await this.#controller.link.ask("expand", { key: row.key, open: !row.expanded });
    await this.#ask();
  }

  async #move(to) {
    this.#active = Math.max(0, Math.min(this.#window.total - 1, to));
    this.#activeKey = undefined;
    this.#scrollTo(this.#active);
    if (!this.#row(this.#active)) await this.#ask();
    this.#activeKey = this.#row(this.#active)?.key;
    this.#paint();
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.#grid.clientHeight / rowHeight) - 1);
    const row = this.#row(this.#active);
    const act = {
      ArrowDown: () => this.#move(this.#active + 1), ArrowUp: () => this.#move(this.#active - 1), PageDown: () => this.#move(this.#active + page), PageUp: () => this.#move(this.#active - page),
      Home: () => this.#move(0), End: () => this.#move(this.#window.total - 1),
      ArrowRight: () => (row?.expanded === false ? this.#expand(this.#active, true) : this.#move(this.#active + 1)),
      ArrowLeft: () => (row?.expanded ? this.#expand(this.#active, false) : this.#parent()),
      Enter: () => (row && !row.group ? this.#controller.select(row.key, { reveal: true }) : this.#expand(this.#active)),
      " ": () => this.#expand(this.#active),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #parent() {
    const row = this.#row(this.#active);
    if (!row) return undefined;
    for (let at = this.#active - 1; at >= this.#window.from; at--) if (this.#row(at)?.level < row.level) return this.#move(at);
    return this.#move(this.#active - 1);
  }
}
