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
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return made;
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
