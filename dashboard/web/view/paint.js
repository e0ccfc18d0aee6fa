// Paints a scene as a camera sees it: what is too small to be read is left out or
// drawn as less. It needs of a context what a canvas has, so that the SVG of an
// export comes from the same lines. Text is never smaller than 9 pixels.
import { problems as wordsOf } from "../model/causes.js";
import { counted } from "../model/kinds.js";
import { paintCard, paintCardsFromAfar, paintSketch } from "./card.js";
import { paintLine, paintLines, paintWords } from "./lines.js";
import { ellipsis, forgetFont, measure, setFont } from "./text.js";
import { cardSize, problemsIn } from "./scene.js";

/**
 * From which zoom on what is painted: boxes with edges and names, cards as shades, cards of one line with kind and
 * name, and cards of two lines. Below, a box is a shade.
 */
export const levels = { boxes: 0.06, shades: 0.14, sketch: 0.26, cards: 0.5 };

/** Paints everything. Options: selected, hovered (card keys), lit (set of card keys), bundles, now. */
export function paint(context, scene, camera, theme, /** @type {any} */ options = {}) {
  const drawing = { context, scene, camera, theme, now: options.now ?? 0, ...options, count: { places: 0, apps: 0, cards: 0, lines: 0, texts: 0 } };
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, camera.w, camera.h);
  context.textBaseline = "middle";
  forgetFont();
  const clusters = scene.clusters();
  for (const box of clusters) paintCluster(drawing, box);
  const seen = [];
  for (const place of scene.places.values()) {
    const at = seenAt(drawing, place, 0, 0, 0);
    if (at) seen.push({ place, ...at });
  }
  for (const { place, x, y } of seen) paintGround(drawing, place, x, y);
  // Lines to other boxes are painted behind cards.
  paintBundles(drawing);
  for (const { place, x, y } of seen) paintPlace(drawing, place, x, y);
  paintGhosts(drawing);
  for (const box of clusters) if (box.state) paintAway(drawing, box);
  return drawing.count;
}

// The outermost boxes, if there are several clusters.
function paintCluster(drawing, box) {
  const { context, camera, theme } = drawing;
  const [x, y] = camera.toScreen(box.x, box.y);
  const { k } = camera;
  context.strokeStyle = theme.faint;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(x, y, box.w * k, box.h * k, Math.min(18, 22 * k + 4));
  context.stroke();
  paintClusterTitle(drawing, box, x, y);
}

function paintClusterTitle({ context, camera, theme, count }, { cluster, state, title, w }, x, y) {
  const band = title * camera.k;
  if (band < 10) return;
  const room = w * camera.k - 24;
  const texts = state ? [`${cluster} · ${state}`, cluster] : [cluster];
  const largest = Math.max(12, Math.min(26, band * 0.6));
  // Rather small than cut, and rather without the state, which the details say, than without the name.
  const fits = texts.flatMap((text) => [largest, Math.max(12, largest * 0.7)].map((size) => ({ text, size }))).find(({ text, size }) => {
    setFont(context, 700, size, theme.font);
    return measure(context, text) <= room;
  });
  context.textAlign = "left";
  context.fillStyle = state ? theme.soft : theme.text;
  context.fillText(fits ? fits.text : ellipsis(context, cluster, room), x + 12, y + band / 2 + 4);
  count.texts++;
}

// What is shown of a cluster that is away is as it was.
function paintAway(drawing, box) {
  const { context, camera, theme } = drawing;
  const [x, y] = camera.toScreen(box.x, box.y);
  context.globalAlpha = 0.65;
  context.fillStyle = theme.bg;
  context.fillRect(x, y, box.w * camera.k, box.h * camera.k);
  context.globalAlpha = 1;
  paintClusterTitle(drawing, box, x, y);
}

// Where a place or an app of it is, if it is seen.
function seenAt({ scene, camera, now }, box, px, py, margin) {
  const moved = scene.offset(box, now);
  const [x, y] = [px + box.x + (moved?.x ?? 0), py + box.y + (moved?.y ?? 0)];
  return camera.sees(x, y, box.w, box.h, margin) ? { x, y } : undefined;
}

// The boxes, and the lines in them.
function paintGround(drawing, place, x, y) {
  const { context, camera, theme } = drawing;
  const { k } = camera;
  drawing.count.places++;
  if (place.name !== "focus") {
    const [sx, sy] = camera.toScreen(x, y);
    context.fillStyle = theme.place;
    context.strokeStyle = theme["place-edge"];
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(sx, sy, place.w * k, place.h * k, Math.min(14, 18 * k + 4));
    context.fill();
    context.stroke();
  }
  const calm = []; // boxes that are painted at once, since there may be thousands
  for (const app of place.apps) {
    const at = seenAt(drawing, app, x, y, 8);
    if (!at) continue;
    drawing.count.apps++;
    if (k < levels.shades && !tone(app) && !isQuiet(app) && !differs(drawing, app)) {
      calm.push({ app, at });
      continue;
    }
    paintBox(drawing, app, at);
    if (k < levels.sketch) paintTile(drawing, app, at);
    else if (k < levels.cards) paintLines(drawing, app, at.x, at.y);
    else for (const line of app.lines) paintLine(drawing, app, line, at.x, at.y);
  }
  paintCalm(drawing, calm);
}

function paintCalm(drawing, calm) {
  if (calm.length === 0) return;
  const { context, camera, theme } = drawing;
  const { k } = camera;
  const edged = k >= levels.boxes;
  context.fillStyle = edged ? theme.box : theme.mini;
  context.strokeStyle = theme["box-edge"];
  context.lineWidth = 1;
  context.beginPath();
  for (const { app, at } of calm) {
    const [sx, sy] = camera.toScreen(at.x, at.y);
    if (edged) context.roundRect(sx, sy, app.w * k, app.h * k, Math.min(9, 10 * k + 2));
    else context.rect(sx, sy, app.w * k, app.h * k);
  }
  context.fill();
  if (edged) context.stroke();
  for (const { app, at } of calm) paintTile(drawing, app, at);
}

// Paints cards, words and titles, in front of the lines.
function paintPlace(drawing, place, x, y) {
  const { k } = drawing.camera;
  if (k >= levels.sketch) {
    for (const app of place.apps) {
      const at = seenAt(drawing, app, x, y, 8);
      if (at) paintApp(drawing, app, at, place.name === "focus");
    }
  }
  if (place.name !== "focus") paintPlaceTitle(drawing, place, x, y);
}

const isQuiet = ({ key }) => ["shared", "loose", "given", "rest"].includes(key);

/** How an app is as a whole: "bad", "warn" or "". */
const tone = (app) => (app.problems > 0 ? "bad" : app.health === "progressing" ? "warn" : "");

// Whether a box of the past has cards that differ now.
const differs = ({ past }, app) => past && app.cards.some((card) => card.differs);

function paintBox(drawing, app, { x, y }) {
  const { context, camera, theme } = drawing;
  const { k } = camera;
  const [sx, sy] = camera.toScreen(x, y);
  const how = tone(app);
  const quiet = isQuiet(app);
  context.fillStyle = how && k < levels.cards ? theme[`${how}-soft`] : quiet ? theme.place : theme.box;
  context.strokeStyle = how ? theme[how] : theme["box-edge"];
  context.lineWidth = how ? 1.5 : 1;
  if (k < levels.cards && differs(drawing, app)) {
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
  }
  if (quiet && how !== "bad") context.setLineDash([4, 3]);
  context.beginPath();
  context.roundRect(sx, sy, app.w * k, app.h * k, Math.min(9, 10 * k + 2));
  context.fill();
  context.stroke();
  context.setLineDash([]);
}

function paintApp(drawing, app, { x, y }, whole) {
  const { scene, camera, now } = drawing;
  if (camera.k < levels.cards) paintSketch(drawing, app, x, y);
  else {
    for (const card of app.cards) {
      const off = scene.offset(card, now);
      const [cx, cy] = [x + card.x + (off?.x ?? 0), y + card.y + (off?.y ?? 0)];
      if (camera.sees(cx, cy, card.w ?? cardSize.w, cardSize.h, 8)) paintCard(drawing, card, cx, cy);
    }
    paintWords(drawing, app, x, y, whole);
  }
  paintAppTitle(drawing, app, x, y);
}

// The title of a place is as large as its band; it stays in sight while its place is.
function paintPlaceTitle(drawing, place, x, y) {
  const { context, camera, theme } = drawing;
  const [sx, sy] = camera.toScreen(x, y);
  const w = place.w * camera.k;
  const band = place.title * camera.k;
  if (w < 30 || band < 10) return;
  let size = Math.max(11, Math.min(22, band * 0.52));
  const problems = problemsIn(place);
  const left = Math.max(sx, -1) + Math.min(18, Math.max(5, 16 * camera.k));
  const middle = sy + band / 2;
  const room = sx + w - left - 3;
  setFont(context, 700, size, theme.font);
  if (measure(context, nameOf(place)) > room) setFont(context, 700, size = 9, theme.font); // rather small than cut
  context.fillStyle = theme.text;
  context.textAlign = "left";
  const title = ellipsis(context, nameOf(place), room);
  context.fillText(title, left, middle);
  drawing.count.texts++;
  const used = measure(context, title) + 10;
  const count = problems > 0 ? wordsOf(problems) : apps(place);
  const small = Math.max(10.5, size * 0.62);
  setFont(context, problems > 0 ? 600 : 400, small, theme.font);
  const short = problems > 0 && measure(context, count) > room - used ? `▲ ${problems}` : count;
  if (measure(context, short) > room - used) return;
  context.fillStyle = problems > 0 ? theme.bad : theme.soft;
  context.fillText(short, left + used, middle + size * 0.06);
  drawing.count.texts++;
}

const nameOf = ({ name }) => name.slice(name.indexOf(":") + 1) || "cluster-scoped"; // without its cluster

function apps(place) {
  const number = place.apps.filter((app) => !isQuiet(app) && !app.rest).length;
  return number === 0 ? "" : counted(number, "app");
}

// What is wrong in a box, as far as there is room; "" where that says nothing.
function trouble({ context }, app, room) {
  const text = ellipsis(context, app.why, room);
  return text === app.why || text.length > readable ? text : "";
}

function paintAppTitle(drawing, app, x, y) {
  if (app.key === "rest") return; // its card says it
  const { context, theme, camera, count } = drawing;
  const { k } = camera;
  const [sx, sy] = camera.toScreen(x, y);
  const [w, how] = [app.w * k, tone(app)];
  const size = Math.max(9, Math.min(15, 13 * k + 5.5, Math.max(12, 13 * k)));
  context.textAlign = "left";
  setFont(context, how ? 700 : 600, size, theme.font);
  context.fillStyle = how ? theme[how] : isQuiet(app) ? theme.soft : theme.text;
  const side = Math.max(5, 14 * k);
  const title = ellipsis(context, app.title, w - 2 * side);
  const middle = sy + 21 * k;
  context.fillText(title, sx + side, middle);
  count.texts++;
  if (how !== "bad") return;
  const used = measure(context, title) + 8;
  setFont(context, 400, Math.max(9.5, size - 1.5), theme.font);
  const words = trouble(drawing, app, w - used - 2 * side);
  if (!words) return;
  context.fillText(words, sx + side + used, middle);
  count.texts++;
}

const least = 5; // letters of a name that was cut; fewer tell nothing
const readable = 8; // letters of a reason that was cut

// A box from afar: its name, in a second line what is wrong or how much is in it, and
// its cards as shades, as far as there is room.
function paintTile(drawing, app, { x, y }) {
  const { context, camera, theme, count } = drawing;
  const { k } = camera;
  const [sx, sy] = camera.toScreen(x, y);
  const [w, h, how] = [app.w * k, app.h * k, tone(app)];
  const size = Math.max(10, Math.min(13, h * 0.4, w * 0.12));
  const sign = how === "bad" && w > 70 ? 1 : 0;
  const begin = 5 + sign * (size * 0.72 + 4);
  let named = w >= 34 && h >= 13 && (!isQuiet(app) || (w >= 56 && (h >= 20 || app.key === "rest")));
  let text = app.title;
  if (named) {
    setFont(context, how ? 700 : isQuiet(app) ? 400 : 500, size, theme.font);
    const cut = ellipsis(context, text, w - 5 - begin);
    named = cut === text || cut.length > least;
    text = cut;
  }
  const two = named && !isQuiet(app) && h >= 2 * size + 14;
  const below = named ? size * (two ? 2.7 : 1.45) + 4 : how === "bad" ? Infinity : 0; // a mark has no shades behind it
  paintCardsFromAfar(drawing, app, x, y, k < levels.shades || app.key === "rest" ? Infinity : below / k);
  if (!named) {
    if (how === "bad") mark(context, theme, sx + w / 2, sy + h / 2, Math.max(3.2, Math.min(6, w / 4, h / 4)));
    else if (how && h > 10) {
      setFont(context, 700, Math.min(14, h - 1), theme.font);
      context.fillStyle = theme.warn;
      context.textAlign = "center";
      context.fillText("◔", sx + w / 2, sy + h / 2);
      count.texts++;
    }
    return;
  }
  context.textAlign = "left";
  context.fillStyle = how ? theme[how] : isQuiet(app) ? theme.soft : theme.text;
  const middle = Math.min(sy + h / 2, sy + size * 0.9 + 3);
  if (sign) mark(context, theme, sx + 5 + size * 0.36, middle, size * 0.36);
  context.fillText(text, sx + begin, middle);
  count.texts++;
  if (!two) return;
  setFont(context, 400, Math.max(9.5, size - 2), theme.font);
  context.fillStyle = how ? theme[how] : theme.soft;
  const texts = [counted(app.vertices, "object"), String(app.vertices)];
  const words = how === "bad" ? trouble(drawing, app, w - 10) : texts.find((text) => measure(context, text) <= w - 10);
  if (!words) return;
  context.fillText(words, sx + 5, middle + size * 1.3);
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

// Paints the selected card's references to other boxes, and to the targets of its owner's lines.
function paintBundles({ context, scene, camera, theme, bundles, count }) {
  for (const missing of [false, true]) {
    const some = bundles?.filter((bundle) => bundle.missing === missing) ?? [];
    if (some.length === 0) continue;
    context.strokeStyle = missing ? theme.bad : theme.accent;
    context.lineWidth = 1.4;
    context.globalAlpha = missing ? 0.8 : 0.5;
    if (missing) context.setLineDash([5, 3]);
    context.beginPath();
    for (const { from, to } of some) {
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
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
}

function paintGhosts({ context, scene, camera, theme, now }) {
  if (camera.k < levels.cards) return;
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
