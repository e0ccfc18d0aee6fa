// Light, dark, or as the system has it: a button of the page, whose choice the browser
// remembers.
import { h } from "./h.js";

const name = "graphview-theme";
const next = { "": "light", light: "dark", dark: "" };
const words = { "": "as the system has it", light: "light", dark: "dark" };

// Where storage is forbidden, the choice is as long as the page.
function remembered() {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

function remember(theme) {
  try {
    if (theme) localStorage.setItem(name, theme);
    else localStorage.removeItem(name);
  } catch { /* it is not remembered */ }
}

/** A button that changes the theme of a page and of the element in it; the page's address may wish for one (?theme=dark). */
export function themeButton(element) {
  const wish = new URLSearchParams(location.search).get("theme");
  let theme = Object.hasOwn(words, wish) ? wish : remembered();
  if (!Object.hasOwn(words, theme)) theme = "";
  const button = h("button", { type: "button", class: "theme", onclick: () => {
    theme = next[theme];
    remember(theme);
    show();
  } }, "◐");
  const show = () => {
    button.title = `Colours: ${words[theme]}`;
    button.setAttribute("aria-label", button.title);
    for (const [target, attribute] of [[element, "theme"], [document.documentElement, "data-theme"]]) {
      if (theme) target.setAttribute(attribute, theme);
      else target.removeAttribute(attribute);
    }
  };
  show();
  return button;
}
