// The language of the search field: words that the name contains, and qualifiers, which must
// all match: kind:secret ns:shop app:cart is:degraded is:missing has:changed. Quotes allow
// spaces, and a minus negates.

const recently = 5 * 60_000;

const qualifiers = {
  kind: (v, value) => v.kind.toLowerCase() === value || v.r === value || v.short === value || (value === "po" && v.r === "pods") || (value.length > 3 && v.kind.toLowerCase().startsWith(value)),
  ns: (v, value) => v.ns.toLowerCase() === value || (value.endsWith("*") && v.ns.toLowerCase().startsWith(value.slice(0, -1))),
  app: (v, value) => v.app.toLowerCase() === value,
  name: (v, value) => v.n.toLowerCase() === value,
  group: (v, value) => v.g.toLowerCase() === value,
  is: (v, value, now) => {
    switch (value) {
      case "root": return v.root;
      case "problem": return v.health === "degraded" || v.health === "missing";
      case "changed": return now - v.changedAt < recently;
      default: return v.health === value;
    }
  },
  has: (v, value, now) => {
    switch (value) {
      case "changed": return now - v.changedAt < recently;
      case "users": return v.in.some((arc) => arc.t !== "or");
      case "owner": return v.out.some((arc) => arc.t === "or");
      default: return v.why.toLowerCase().includes(value);
    }
  },
};

/** The parts of a query: {not, qualifier, value}. */
export function parse(text) {
  const parts = [];
  for (const [, minus, qualifier, quoted, word] of text.toLowerCase().matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g)) {
    const value = quoted ?? word ?? "";
    if (value === "" && !qualifier) continue;
    if (qualifier && !(qualifier in qualifiers)) parts.push({ not: minus === "-", qualifier: "", value: `${qualifier}:${value}` });
    else parts.push({ not: minus === "-", qualifier: qualifier ?? "", value });
  }
  return parts;
}

/** A query as a predicate on vertices, and on the time that it is. */
export function compile(text) {
  const parts = parse(text);
  const fits = ({ qualifier, value }, v, now) => {
    if (qualifier) return qualifiers[qualifier](v, value, now);
    return v.n.toLowerCase().includes(value) || v.kind.toLowerCase() === value || v.why.toLowerCase().includes(value) || `${v.kind}/${v.n}`.toLowerCase() === value;
  };
  return (v, now) => parts.every((part) => fits(part, v, now) !== part.not);
}
