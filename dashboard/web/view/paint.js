// Paints a scene as a camera sees it: what is too small to be read is left out or
// drawn as less. It needs of a context what a canvas has, so that the SVG of an
// export comes from the same lines. Text is never smaller than 9 pixels.
import { paintCard, paintLine, paintMini } from "./card.js";
import { ellipsis, forgetFont, measure, setFont } from "./text.js";
import { cardSize } from "./scene.js";

export const levels = { tiles: 0.075, titles: 0.4, cards: 0.56, subs: 0.7 };

/** Paints everything. Options: selected, hovered (card keys), lit (set of card keys), bundles, now. */
export function paint(context, scene, camera, theme, options = {}) {
  const drawing = { context, scene, camera, theme, now: options.now ?? 0, ...options, count: { places: 0, apps: 0, cards: 0, lines: 0, texts: 0 } };
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, camera.w, camera.h);
  context.textBaseline = "middle";
  forgetFont();
  for (const place of scene.places.values()) paintPlace(drawing, place);
  paintBundles(drawing);
  paintGhosts(drawing);
  return drawing.count;
}

function paintPlace(drawing, place) {
  const { context, scene, camera, theme, now } = drawing;
  const moved = scene.offset(place, now);
  const [x, y] = [place.x + (moved?.x ?? 0), place.y + (moved?.y ?? 0)];
  if (!camera.sees(x, y, place.w, place.h)) return;
  drawing.count.places++;
  const { k } = camera;
  const [sx, sy] = camera.toScreen(x, y);
  const [w, h] = [place.w * k, place.h * k];
  if (place.name !== "focus") {
    context.fillStyle = theme.place;
    context.strokeStyle = theme["place-edge"];
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(sx, sy, w, h, Math.min(14, 18 * k + 4));
    context.fill();
    context.stroke();
  }
  for (const app of place.apps) paintApp(drawing, app, x, y);
  if (place.name !== "focus") paintPlaceTitle(drawing, place, sx, sy, w);
}

// The title of a place is as large as its band; it stays in sight while its place is.
function paintPlaceTitle(drawing, place, sx, sy, w) {
  const { context, camera, theme } = drawing;
  const band = place.title * camera.k;
  if (w < 30 || band < 10) return;
  const size = Math.max(11, Math.min(26, band * 0.42));
  let problems = 0;
  for (const app of place.apps) problems += app.problems;
  const left = Math.max(sx, -1) + Math.min(18, Math.max(5, 16 * camera.k));
  const y = sy + band / 2;
  setFont(context, 650, size, theme.font);
  context.fillStyle = theme.text;
  context.textAlign = "left";
  const room = sx + w - left - 8;
  const title = ellipsis(context, place.name || "cluster-scoped", Math.min(room, w * 0.8));
  context.fillText(title, left, y);
  drawing.count.texts++;
  const used = measure(context, title) + 10;
  const count = problems > 0 ? `${problems} need${problems === 1 ? "s" : ""} attention` : apps(place);
  const small = Math.max(10.5, size * 0.62);
  setFont(context, problems > 0 ? 600 : 400, small, theme.font);
  const short = problems > 0 && measure(context, count) > room - used ? `▲ ${problems}` : count;
  if (measure(context, short) > room - used) return;
  context.fillStyle = problems > 0 ? theme.bad : theme.soft;
  context.fillText(short, left + used, y + size * 0.06);
  drawing.count.texts++;
}

function apps(place) {
  const number = place.apps.filter((app) => app.key !== "shared" && app.key !== "loose").length;
  return number === 0 ? "" : `${number} app${number === 1 ? "" : "s"}`;
}

function paintApp(drawing, app, px, py) {
  const { context, scene, camera, theme, now } = drawing;
  const moved = scene.offset(app, now);
  const [x, y] = [px + app.x + (moved?.x ?? 0), py + app.y + (moved?.y ?? 0)];
  if (!camera.sees(x, y, app.w, app.h, 8)) return;
  drawing.count.apps++;
  const { k } = camera;
  const [sx, sy] = camera.toScreen(x, y);
  const [w, h] = [app.w * k, app.h * k];
  const bad = app.problems > 0;
  const warns = !bad && app.health === "progressing";
  const quiet = app.key === "shared" || app.key === "loose";
  const far = k < levels.titles;
  context.fillStyle = far && bad ? theme["bad-soft"] : far && warns ? theme["warn-soft"] : quiet ? theme.place : theme.box;
  context.strokeStyle = bad ? theme.bad : warns ? theme.warn : theme["box-edge"];
  context.lineWidth = bad || warns ? 1.5 : 1;
  if (quiet && !bad) context.setLineDash([4, 3]);
  context.beginPath();
  context.roundRect(sx, sy, w, h, Math.min(9, 10 * k + 2));
  context.fill();
  context.stroke();
  context.setLineDash([]);
  if (k < levels.tiles) return paintTile(drawing, app, sx, sy, w, h, bad, warns);
  if (far) {
    paintMini(drawing, app, x, y);
    return paintTile(drawing, app, sx, sy, w, h, bad, warns);
  }
  for (const line of app.lines) paintLine(drawing, app, line, x, y);
  for (const card of app.cards) {
    const off = scene.offset(card, now);
    const [cx, cy] = [x + card.x + (off?.x ?? 0), y + card.y + (off?.y ?? 0)];
    if (camera.sees(cx, cy, cardSize.w, cardSize.h, 8)) paintCard(drawing, card, cx, cy);
  }
  paintAppTitle(drawing, app, sx, sy, w, bad, warns);
  return undefined;
}

function paintAppTitle({ context, theme, camera, count }, app, sx, sy, w, bad, warns) {
  const size = Math.max(11, Math.min(15, 13 * camera.k));
  context.textAlign = "left";
  setFont(context, 650, size, theme.font);
  context.fillStyle = bad ? theme.bad : warns ? theme.warn : app.key === "shared" || app.key === "loose" ? theme.soft : theme.text;
  const left = sx + 14 * camera.k;
  const title = ellipsis(context, app.title, w - 28 * camera.k);
  const y = sy + 18 * camera.k;
  context.fillText(title, left, y);
  count.texts++;
  if (!bad) return;
  const used = measure(context, title) + 8;
  setFont(context, 400, Math.max(10, size - 1.5), theme.font);
  const words = `${app.problems} of ${app.vertices} need${app.problems === 1 ? "s" : ""} attention`;
  if (measure(context, words) > w - used - 28 * camera.k) return;
  context.fillText(words, left + used, y);
  count.texts++;
}

// A box from afar: its name, and in a second line what is wrong, if there is room.
function paintTile({ context, theme, count }, app, sx, sy, w, h, bad, warns) {
  const quiet = app.key === "shared" || app.key === "loose";
  if (w < 34 || h < 13 || (quiet && (w < 56 || h < 20))) {
    if (bad) mark(context, theme, sx + w / 2, sy + h / 2, Math.max(3.2, Math.min(w, h) / 4));
    return;
  }
  const size = Math.max(10, Math.min(14, Math.min(h * 0.4, w * 0.12)));
  setFont(context, quiet ? 500 : 650, size, theme.font);
  context.textAlign = "left";
  const title = ellipsis(context, app.title, w - 10);
  const width = measure(context, title);
  const y = Math.min(sy + h / 2, sy + size * 0.9 + 3);
  // What is behind a name must not make it hard to read.
  context.fillStyle = bad ? theme["bad-soft"] : warns ? theme["warn-soft"] : quiet ? theme.place : theme.box;
  context.globalAlpha = 0.88;
  context.fillRect(sx + 2, y - size * 0.72, Math.min(width + 7, w - 4), size * 1.44);
  context.globalAlpha = 1;
  context.fillStyle = bad ? theme.bad : warns ? theme.warn : quiet ? theme.soft : theme.text;
  context.fillText(title, sx + 5, y);
  count.texts++;
  if (!bad || h < size * 2 + 16) return;
  setFont(context, 500, Math.max(9.5, size - 2), theme.font);
  const words = ellipsis(context, `${app.problems} of ${app.vertices}`, w - 10);
  const below = y + size * 1.35;
  const used = measure(context, words);
  context.globalAlpha = 0.88;
  context.fillStyle = theme["bad-soft"];
  context.fillRect(sx + 2, below - size * 0.6, used + 7, size * 1.2);
  context.globalAlpha = 1;
  context.fillStyle = theme.bad;
  context.fillText(words, sx + 5, below);
  count.texts++;
}

function mark(context, theme, x, y, r) {
  context.fillStyle = theme.bad;
  context.beginPath();
  context.moveTo(x, y - r);
  context.lineTo(x + r, y + r * 0.8);
  context.lineTo(x - r, y + r * 0.8);
  context.fill();
}

// What the selected card has to do with other boxes.
function paintBundles({ context, scene, camera, theme, bundles, count }) {
  if (!bundles?.length) return;
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.2;
  context.globalAlpha = 0.45;
  context.beginPath();
  for (const { from, to } of bundles) {
    const [a, b] = [scene.rect(from), scene.rect(to)];
    if (!a || !b) continue;
    // From the side that looks at the other, so that nothing turns around.
    const side = b.x >= a.x ? 1 : 0;
    const [ax, ay] = camera.toScreen(a.x + a.w * side, a.y + a.h / 2);
    const [bx, by] = camera.toScreen(b.x + b.w * (1 - side), b.y + b.h / 2);
    const bend = Math.abs(bx - ax) * 0.4 * (side ? 1 : -1);
    context.moveTo(ax, ay);
    context.bezierCurveTo(ax + bend, ay, bx - bend, by, bx, by);
    count.lines++;
  }
  context.stroke();
  context.globalAlpha = 1;
}

function paintGhosts({ context, scene, camera, theme, now }) {
  if (camera.k < levels.titles) return;
  for (const ghost of scene.ghosts) {
    if (!camera.sees(ghost.x, ghost.y, cardSize.w, cardSize.h)) continue;
    const [x, y] = camera.toScreen(ghost.x, ghost.y);
    const [w, h] = [cardSize.w * camera.k, cardSize.h * camera.k];
    context.globalAlpha = scene.still ? 0.6 : Math.max(0, Math.min(0.7, (ghost.until - now) / 3000));
    context.strokeStyle = theme.faint;
    context.setLineDash([3, 4]);
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(x, y, w, h, 7 * camera.k);
    context.moveTo(x + 8, y + h / 2);
    context.lineTo(x + w - 8, y + h / 2);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
}
