// Makes elements. Text is text: there is no way to pass markup.

/** An element with properties, attributes, listeners (on…) and children. */
export function h(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && !key.startsWith("aria") && key !== "role") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) if ((child ?? false) !== false) made.append(child);
  return made;
}

/**
* Replaces the children of an element. Equal children stay, and with them focus, text
* selection and scroll position. A control stays if its data-id is equal, so its handler must
* depend on nothing else.
*/
export function patch(parent, children) {
  let at = parent.firstChild;
  for (const child of children) {
    let same = at;
    while (same && !same.isEqualNode(child)) same = same.nextSibling;
    if (same) {
      for (; at !== same; at = removed(at));
      at = at.nextSibling;
    } else if (at && isAlike(at, child)) {
      for (const { name } of [...at.attributes]) if (!child.hasAttribute(name)) at.removeAttribute(name);
      for (const { name, value } of child.attributes) if (at.getAttribute(name) !== value) at.setAttribute(name, value);
      patch(at, [...child.childNodes]);
      at = at.nextSibling;
    } else parent.insertBefore(child, at);
  }
  while (at) at = removed(at);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

const controls = new Set(["BUTTON", "INPUT", "A"]);

function isAlike(a, b) {
  if (a.nodeType !== Node.ELEMENT_NODE || a.nodeName !== b.nodeName || a.className !== b.className || a.dataset.id !== b.dataset.id) return false;
  return a.dataset.id !== undefined || !controls.has(a.nodeName);
}

const svgNamespace = "http://www.w3.org/2000/svg";

/** An icon from a path of a 20 x 20 square. */
export function icon(path, className = "") {
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  if (className) svg.setAttribute("class", className);
  const shape = document.createElementNS(svgNamespace, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}
