// The fields of the menu of filters, with the number of objects for each value.
import { typeNames } from "../model/store.js";
import { h } from "./h.js";

const most = 30;

export async function filterFields(controller) {
  const facets = await controller.link.ask("facets");
  const { filters } = controller.now;
  const fieldset = (name, legend, naming = (value) => value) => {
    const values = facets[name].slice(0, most);
    for (const value of filters[name]) if (!values.some(([v]) => v === value)) values.push([value, 0]);
    if (values.length === 0) return "";
    return h("fieldset", {}, h("legend", {}, legend), ...values.map(([value, count]) => h("label", {},
      h("input", { type: "checkbox", checked: filters[name].includes(value), onchange: (event) => {
        const list = controller.now.filters[name];
        controller.filter({ [name]: event.target.checked ? [...list, value] : list.filter((v) => v !== value) });
      } }), h("span", {}, naming(value)), h("small", {}, count.toLocaleString("en")))),
    facets[name].length > most ? h("div", { class: "more" }, `and ${facets[name].length - most} more: search ${name === "kinds" ? "kind:" : name === "apps" ? "app:" : "ns:"}`) : "");
  };
  const check = (name, text) => h("label", {}, h("input", { type: "checkbox", checked: filters[name], onchange: (event) => controller.filter({ [name]: event.target.checked }) }), h("span", {}, text));
  return h("div", { class: "facets" },
    h("fieldset", {}, h("legend", {}, "only"), check("problems", "what needs attention"), controller.options?.snapshot ? "" : check("recent", "changed in the last 5 minutes")),
    fieldset("health", "health"), fieldset("kinds", "kind"), fieldset("namespaces", "namespace"), fieldset("apps", "app"), fieldset("types", "references", (t) => typeNames[t]));
}
