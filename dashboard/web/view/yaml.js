// An object as YAML, for reading. Texts that YAML would take for something else
// are quoted as in JSON.

const plain = /^[A-Za-z_/][\w./ ()@-]*$/;
const special = /^(true|false|yes|no|on|off|null|y|n|~)$/i;

function scalar(value, indent) {
  if (typeof value !== "string") return JSON.stringify(value);
  if (value.includes("\n") && !/[\x00-\x08\x0b-\x1f]/.test(value) && !/^\s/.test(value)) {
    return `|${value.endsWith("\n") ? "" : "-"}\n${value.replace(/\n$/, "").split("\n").map((line) => (line ? indent + line : "")).join("\n")}`;
  }
  return plain.test(value) && !special.test(value) && !value.endsWith(" ") ? value : JSON.stringify(value);
}

function write(value, depth) {
  const indent = "  ".repeat(depth);
  if (Array.isArray(value)) {
    return value.map((item) => {
      if (item === null || typeof item !== "object" || Object.keys(item).length === 0) return `${indent}- ${short(item, indent + "  ")}`;
      return `${indent}- ${write(item, depth + 1).slice(indent.length + 2)}`;
    }).join("\n");
  }
  return Object.entries(value).map(([key, item]) => {
    const name = plain.test(key) && !special.test(key) ? key : JSON.stringify(key);
    if (item === null || typeof item !== "object" || Object.keys(item).length === 0) return `${indent}${name}: ${short(item, indent + "  ")}`;
    return `${indent}${name}:\n${write(item, Array.isArray(item) ? depth : depth + 1)}`;
  }).join("\n");
}

const short = (value, indent) => (Array.isArray(value) ? "[]" : value !== null && typeof value === "object" ? "{}" : scalar(value, indent));

/** Returns an object or a list as YAML, without managedFields and the like. */
export function toYAML(object) {
  const { metadata, ...rest } = object;
  if (!metadata || Array.isArray(object)) return write(object, 0);
  const { managedFields, ...kept } = metadata;
  const { apiVersion, kind, ...others } = rest;
  return write({ apiVersion, kind, metadata: kept, ...others }, 0);
}
