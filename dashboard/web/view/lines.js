// Paints the lines between cards, and the words on them.
import { cardSize } from "./scene.js";
import { measure, setFont } from "./text.js";

const arrows = 0.5; // from this zoom on, lines have heads
const words = 0.62; // and words

// The ends of a line on the plane, and on which side of the cards they are.
function endsOf(app, line, x, y) {
  const [a, b] = [app.cards[line.a], app.cards[line.b]];
  const back = b.x <= a.x;
  return {
    a, b, back,
    start: { x: x + a.x + (back ? 0 : cardSize.w), y: y + a.y + cardSize.h / 2 + (back ? 8 : 0) },
    end: { x: x + b.x + (back ? cardSize.w : 0), y: y + b.y + cardSize.h / 2 + (back ? 8 : 0) },
  };
}

function isSeen(camera, line, { start, end }, y) {
  let [top, bottom] = start.y < end.y ? [start.y, end.y] : [end.y, start.y];
  for (const point of line.way) {
    top = Math.min(top, y + point.y);
    bottom = Math.max(bottom, y + point.y);
  }
  const left = Math.min(start.x, end.x);
  return camera.sees(left, top, Math.max(start.x, end.x) - left, bottom - top, cardSize.w);
}

// Goes along a line, past the cards in between. It returns where it ends.
function trace(context, camera, line, { start, end }, x, y) {
  let [px, py] = camera.toScreen(start.x, start.y);
  context.moveTo(px, py);
  const to = (point) => {
    const [qx, qy] = camera.toScreen(point.x, point.y);
    if (Math.abs(qy - py) < 0.5) context.lineTo(qx, qy);
    else context.bezierCurveTo(px + (qx - px) / 2, py, qx - (qx - px) / 2, qy, qx, qy);
    [px, py] = [qx, qy];
  };
  for (const point of line.way) to({ x: x + point.x, y: y + point.y });
  to(end);
  return [px, py];
}

const isRelated = ({ a, b }, { selected, hovered }) => a.key === selected || b.key === selected || a.key === hovered || b.key === hovered;

/** Paints the lines of an app without arrow heads; lines of the same style in one call. */
export function paintLines(drawing, app, x, y) {
  const { context, camera, theme, lit, count } = drawing;
  const special = [];
  context.globalAlpha = lit ? 0.2 : 1;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const line of app.lines) {
    const ends = endsOf(app, line, x, y);
    if (!isSeen(camera, line, ends, y)) continue;
    if (line.missing || lit || isRelated(ends, drawing)) special.push(line);
    else {
      trace(context, camera, line, ends, x, y);
      count.lines++;
    }
  }
  context.stroke();
  context.globalAlpha = 1;
  for (const line of special) paintLine(drawing, app, line, x, y);
}

/** A line between two cards. */
export function paintLine(drawing, app, line, x, y) {
  const { context, camera, theme, lit, count } = drawing;
  const ends = endsOf(app, line, x, y);
  if (!isSeen(camera, line, ends, y)) return;
  const { k } = camera;
  count.lines++;
  const related = isRelated(ends, drawing);
  context.globalAlpha = lit && !(lit.has(ends.a.key) && lit.has(ends.b.key)) ? 0.2 : 1;
  context.strokeStyle = line.missing ? theme.bad : related ? theme.accent : line.type === "or" ? theme.owns : theme.line;
  context.lineWidth = related ? 2 : line.type === "or" ? 1.8 : line.missing ? 1.5 : 1.1;
  if (line.missing) context.setLineDash([5, 3]);
  else if (line.type === "t") context.setLineDash([1.5, 3]);
  context.beginPath();
  const [px, py] = trace(context, camera, line, ends, x, y);
  context.stroke();
  context.setLineDash([]);
  if (k >= arrows) {
    const [way, size] = [ends.back ? 1 : -1, Math.min(1, k)];
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.moveTo(px, py);
    context.lineTo(px + way * 6 * size, py - 3.2 * size);
    context.lineTo(px + way * 6 * size, py + 3.2 * size);
    context.fill();
  }
  context.globalAlpha = 1;
}

/**
 * Says on lines what they mean: on those of the card that is selected or under the
 * pointer, or on all of an app. A word that finds no room between the cards, or beside
 * another one, is left out; the details have it.
 */
export function paintWords(drawing, app, x, y, all) {
  const { context, camera, theme, lit, count } = drawing;
  const { k } = camera;
  if (k < words || lit) return;
  const size = Math.max(9, Math.min(12, 9.5 * k));
  const taken = [];
  for (const line of app.lines) {
    if (!line.words) continue;
    const ends = endsOf(app, line, x, y);
    const related = isRelated(ends, drawing);
    if (!(all || related) || ends.back || !isOnCanvas(camera, ends)) continue;
    setFont(context, 500, size, theme.font);
    const w = measure(context, line.words) + 6;
    const spot = spotOf(camera, app, line, ends, x, y, w);
    if (!spot) continue;
    const rect = { x: spot.x, y: spot.y - size * 0.75, w, h: size * 1.5 };
    if (taken.some((other) => rect.x < other.x + other.w && other.x < rect.x + rect.w && rect.y < other.y + other.h && other.y < rect.y + rect.h)) continue;
    taken.push(rect);
    // The background keeps the word readable.
    context.fillStyle = theme.box;
    context.beginPath();
    context.roundRect(rect.x, rect.y, rect.w, rect.h, 4);
    context.fill();
    context.textAlign = "left";
    context.fillStyle = line.missing ? theme.bad : related ? theme.accent : theme.soft;
    context.fillText(line.words, spot.x + 3, spot.y);
    count.texts++;
  }
}

// Not only in the part that is painted: a word makes way for the others in any case.
function isOnCanvas(camera, { start, end }) {
  const [sx, sy] = camera.toScreen(start.x, start.y);
  const [ex, ey] = camera.toScreen(end.x, end.y);
  return ex > 0 && sx < camera.w && Math.max(sy, ey) > 0 && Math.min(sy, ey) < camera.h;
}

// Where a word of that width is: at the end that no other line of its app has, else in
// the middle of the line's last part.
function spotOf(camera, app, line, { start, end }, x, y, w) {
  const { k } = camera;
  const [sx, sy] = camera.toScreen(start.x, start.y);
  const [ex, ey] = camera.toScreen(end.x, end.y);
  const first = line.way.length > 0 ? camera.toScreen(x + line.way[0].x, y + line.way[0].y) : [ex, ey];
  const last = line.way.length > 0 ? camera.toScreen(x + line.way.at(-1).x, y + line.way.at(-1).y) : [sx, sy];
  const near = 7 * k;
  if (line.word === "end") return ex - last[0] >= w + 2 * near ? { x: ex - near - 4 - w, y: ey } : undefined;
  if (line.word === "start") return first[0] - sx >= w + 2 * near ? { x: sx + near, y: sy } : undefined;
  return ex - last[0] >= w + near ? { x: (last[0] + ex - w) / 2, y: (last[1] + ey) / 2 } : undefined;
}
