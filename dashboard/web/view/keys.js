// Keyboard shortcuts of the element. Input fields keep their own keys.

const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Listens to the keys that are pressed in an element, or in the whole document. Returns what ends it. */
export function listenToKeys(target, controller) {
  const pressed = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.composedPath()[0];
    if (at instanceof HTMLInputElement && at.type !== "checkbox") return;
    if (at instanceof HTMLSelectElement) return;
    const onMap = at === controller.map.element || at === document.body;
    if (onMap && steps[event.key] && move(controller, event)) return event.preventDefault();
    if ((event.key === "Enter" || event.key === " ") && !onMap) return undefined; // it is a button's
    const act = action(controller, event.key, onMap);
    if (!act) return undefined;
    event.preventDefault();
    act();
    return undefined;
  };
  target.addEventListener("keydown", pressed);
  return () => target.removeEventListener("keydown", pressed);
}

function move(controller, { key, shiftKey }) {
  const [dx, dy] = steps[key];
  const { map } = controller;
  if (shiftKey) {
    map.pan(-80 * dx, -80 * dy);
    return true;
  }
  const next = map.scene.next(map.selected, dx, dy);
  if (next) choose(controller, next);
  return true;
}

function choose(controller, key) {
  const found = controller.map.scene.cards.get(key);
  if (!found) return;
  controller.select(found.card.id, { card: key }).then(() => controller.map.reveal(key));
}

function along(controller, forward) {
  const { map } = controller;
  const [next] = map.scene.linked(map.selected, forward);
  if (next) choose(controller, next);
}

function action(controller, key, onMap) {
  const { map, now, toolbar } = controller;
  const { focus } = now;
  switch (key) {
    case "+": case "=": return () => map.zoom(1.35);
    case "-": case "_": return () => map.zoom(1 / 1.35);
    case "0": return () => map.fit();
    case "1": case "2": case "3": case "4": case "5":
      if (focus) return () => controller.focus({ ...focus, depth: Number(key) });
      return key === "1" ? () => map.actualSize() : undefined;
    case "/": return () => toolbar.focusSearch();
    case "?": return () => toolbar.help();
    case "t": case "T": return () => controller.outline.toggle();
    case "n": case "N": return () => controller.problem(1);
    case "p": case "P": return () => controller.problem(-1);
    case "e": return map.selected ? () => controller.toggle(map.selected) : undefined;
    case "E": return map.selected ? () => controller.toggleBox(map.selected) : undefined;
    case "f": case "F": return now.selected ? () => controller.focus({ key: now.selected, depth: focus?.depth ?? 1, up: true, down: true }) : undefined;
    case "u": case "U": return focus ? () => controller.focus({ ...focus, up: true, down: false }) : undefined;
    case "d": case "D": return focus ? () => controller.focus({ ...focus, up: false, down: true }) : undefined;
    case "b": case "B": return focus ? () => controller.focus({ ...focus, up: true, down: true }) : undefined;
    case ",": return () => controller.timeline?.step(-1);
    case ".": return () => controller.timeline?.step(1);
    case "[": return () => along(controller, false);
    case "]": return () => along(controller, true);
    case "Enter": return onMap && now.selected ? () => controller.details.element.querySelector("button[data-id]")?.focus() : undefined;
    case " ": return onMap ? () => controller.pause(!now.paused) : undefined;
    case "Escape": return () => back(controller, toolbar);
    default: return undefined;
  }
}

function back(controller, toolbar) {
  if (toolbar.closePopups()) return;
  const { now, map } = controller;
  if (now.search) controller.endSearch();
  else if (now.at) controller.showAt(undefined);
  else if (now.focus) controller.focus(undefined);
  else if (now.selected) controller.select(undefined);
  map.element.focus({ preventScroll: true });
}
