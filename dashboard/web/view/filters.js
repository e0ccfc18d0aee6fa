// The menu of filters, with the number of objects for each value.
import { h } from "./h.js";
import { Popup } from "./popup.js";

const most = 30;
const typeNames = { or: "owner", r: "uses", t: "names" };

export class FilterPopup extends Popup {
  #controller;

  constructor(controller, onchange) {
    super({ role: "dialog", label: "Filter", onchange });
    this.#controller = controller;
  }

  async show(anchor, focus) {
    const facets = await this.#controller.link.ask("facets");
    const { filters } = this.#controller.now;
    const fieldset = (name, legend, naming = (value) => value) => {
      const values = facets[name].slice(0, most);
      for (const value of filters[name]) if (!values.some(([v]) => v === value)) values.push([value, 0]);
      if (values.length === 0) return "";
      return h("fieldset", {}, h("legend", {}, legend), ...values.map(([value, count]) => h("label", {},
        h("input", { type: "checkbox", checked: filters[name].includes(value), onchange: (event) => {
          const list = this.#controller.now.filters[name];
          this.#controller.filter({ [name]: event.target.checked ? [...list, value] : list.filter((v) => v !== value) });
        } }), h("span", {}, naming(value)), h("small", {}, count.toLocaleString("en")))),
      facets[name].length > most ? h("div", { class: "more" }, `and ${facets[name].length - most} more: search ${name === "kinds" ? "kind:" : name === "apps" ? "app:" : "ns:"}`) : "");
    };
    const check = (name, text) => h("label", {}, h("input", { type: "checkbox", checked: filters[name], onchange: (event) => this.#controller.filter({ [name]: event.target.checked }) }), h("span", {}, text));
    this.fill([h("div", { class: "facets" },
      h("fieldset", {}, h("legend", {}, "only"), check("problems", "what needs attention"), this.#controller.options?.snapshot ? "" : check("recent", "changed in the last 5 minutes")),
      fieldset("health", "health"), fieldset("kinds", "kind"), fieldset("namespaces", "namespace"), fieldset("apps", "app"), fieldset("types", "references", (t) => typeNames[t]))]);
    for (const name of ["width", "max-width"]) this.element.style.setProperty(name, "min(720px, 92vw)");
    super.show(anchor, focus);
  }
}
