// Converts the state to the query of a URL and back. It contains no secrets.
import { emptyFilters } from "../model/scope.js";

const lists = ["kinds", "namespaces", "apps", "health", "types"];

export const defaultState = () => ({
  selected: undefined, card: undefined, focus: undefined, filters: emptyFilters(), search: "", toggled: new Map(), outline: false, paused: false, view: undefined, at: undefined, before: undefined,
});

export function writeState(state, camera) {
  const query = new URLSearchParams();
  if (state.selected) query.set("sel", state.selected);
  if (state.focus) {
    query.set("focus", state.focus.key);
    query.set("depth", String(state.focus.depth));
    query.set("dir", state.focus.up && state.focus.down ? "both" : state.focus.up ? "up" : "down");
  }
  for (const name of lists) if (state.filters[name].length > 0) query.set(name, state.filters[name].join(","));
  if (state.filters.problems) query.set("problems", "1");
  if (state.filters.recent) query.set("recent", "1");
  if (state.filters.text) query.set("only", state.filters.text);
  if (state.search) query.set("q", state.search);
  for (const [key, open] of state.toggled) query.append(open ? "open" : "shut", key);
  if (state.outline) query.set("outline", "1");
  if (state.at) query.set("at", state.at);
  query.set("z", [camera.x, camera.y].map((n) => n.toFixed(0)).join(",") + `,${camera.k.toFixed(3)}`);
  return query.toString();
}

export function parseState(text) {
  const query = new URLSearchParams(text);
  const state = defaultState();
  state.selected = query.get("sel") ?? undefined;
  if (query.has("focus")) {
    const dir = query.get("dir") ?? "both";
    const depth = Number.parseInt(query.get("depth") ?? "1", 10);
    state.focus = { key: query.get("focus"), depth: Math.min(5, Math.max(1, depth || 1)), up: dir !== "down", down: dir !== "up" };
  }
  for (const name of lists) if (query.get(name)) state.filters[name] = query.get(name).split(",");
  state.filters.problems = query.get("problems") === "1";
  state.filters.recent = query.get("recent") === "1";
  state.filters.text = query.get("only");
  state.search = query.get("q") ?? "";
  for (const key of query.getAll("open")) state.toggled.set(key, true);
  for (const key of query.getAll("shut")) state.toggled.set(key, false);
  state.outline = query.get("outline") === "1";
  state.at = Number.isNaN(Date.parse(query.get("at") ?? "")) ? undefined : query.get("at");
  const [x, y, k] = (query.get("z") ?? "").split(",").map(Number);
  if (Number.isFinite(x) && Number.isFinite(y) && k > 0) state.view = { x, y, k };
  return state;
}
