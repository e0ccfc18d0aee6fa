// Paints cards and the lines between them.
import { glyph } from "./icons.js";
import { cardSize } from "./scene.js";
import { ellipsis, measure, setFont } from "./text.js";

const from = { sub: 0.7, text: 0.5, arrow: 0.5 };

/** Cards from afar: what is well a shade, what is not a mark that is always seen. */
export function paintMini({ context, camera, theme, lit, count }, app, x, y) {
  const { k } = camera;
  const [w, h] = [Math.max(2, cardSize.w * k), Math.max(2, cardSize.h * k)];
  const groups = new Map();
  for (const card of app.cards) {
    const fill = card.health === "degraded" || card.health === "missing" ? theme.bad : card.health === "progressing" ? theme.warn : lit?.has(card.key) ? theme.accent : theme.mini;
    if (!groups.has(fill)) groups.set(fill, []);
    groups.get(fill).push(card);
    count.cards++;
  }
  for (const [fill, cards] of groups) {
    const loud = fill !== theme.mini;
    context.fillStyle = fill;
    context.globalAlpha = loud ? 0.9 : 0.75;
    context.beginPath();
    for (const card of cards) {
      const [sx, sy] = camera.toScreen(x + card.x, y + card.y);
      if (loud) context.rect(sx, sy + h / 2 - Math.max(h, 6) / 2, Math.max(w, 6), Math.max(h, 6));
      else context.rect(sx, sy, w, h);
    }
    context.fill();
  }
  context.globalAlpha = 1;
}

const isBad = (card) => card.health === "degraded" || card.health === "missing";

/** A card with its text. */
export function paintCard({ context, scene, camera, theme, selected, hovered, lit, now, count }, card, x, y) {
  const { k } = camera;
  const [sx, sy] = camera.toScreen(x, y);
  const [w, h, r] = [cardSize.w * k, cardSize.h * k, 7 * k];
  const bad = isBad(card);
  const dim = lit && !lit.has(card.key);
  count.cards++;
  context.globalAlpha = dim ? 0.28 : 1;
  if (card.count > 0 || card.uses) {
    context.fillStyle = theme.card;
    context.strokeStyle = theme["card-edge"];
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(sx + 4 * k, sy + 4 * k, w, h, r);
    context.fill();
    context.stroke();
  }
  const mark = scene.marks.get(card.key);
  if (mark) {
    const left = scene.still ? 0.6 : Math.max(0, (mark.until - now) / (mark.what === "+" ? 2000 : 1000));
    context.strokeStyle = theme.accent;
    context.globalAlpha = left * (dim ? 0.28 : 0.8);
    context.lineWidth = 3;
    context.beginPath();
    context.roundRect(sx - 4, sy - 4, w + 8, h + 8, r + 4);
    context.stroke();
    context.globalAlpha = dim ? 0.28 : 1;
  }
  const chosen = card.key === selected;
  context.fillStyle = bad ? theme["bad-soft"] : card.health === "progressing" ? theme["warn-soft"] : chosen ? theme["accent-soft"] : lit && !dim ? theme.lit : theme.card;
  context.strokeStyle = chosen ? theme.accent : bad ? theme.bad : card.health === "progressing" ? theme.warn : card.key === hovered ? theme.accent : theme["card-edge"];
  context.lineWidth = chosen ? 2.5 : bad ? 1.5 : 1;
  if (card.missing) context.setLineDash([5, 3]);
  context.beginPath();
  context.roundRect(sx, sy, w, h, r);
  context.fill();
  context.stroke();
  context.setLineDash([]);
  paintGlyph(context, theme, card, sx + 7 * k, sy + 8 * k, 24 * k, k);
  if (k >= from.text) paintWords({ context, theme, count }, card, sx, sy, w, h, k, bad);
  context.globalAlpha = 1;
}

const paths = new Map();

function paintGlyph(context, theme, card, x, y, size, k) {
  const colour = theme[card.role] ?? theme.other;
  context.fillStyle = colour;
  const alpha = context.globalAlpha;
  context.globalAlpha = alpha * (theme.forced ? 0 : 0.12);
  context.beginPath();
  context.roundRect(x, y, size, size, 6 * k);
  context.fill();
  context.globalAlpha = alpha;
  const path = glyph(card.uses ? "uses" : card.resource);
  if (!path || k < 0.3) {
    if (k < from.text) return;
    setFont(context, 700, Math.max(9, 10 * k), theme.font);
    context.textAlign = "center";
    context.fillText(card.kind.slice(0, 2).toUpperCase(), x + size / 2, y + size / 2 + 0.5);
    return;
  }
  context.strokeStyle = colour;
  if (context.strokePath) {
    context.strokePath(path, x + size * 0.12, y + size * 0.12, (size * 0.76) / 20, 1.5);
    return;
  }
  let made = paths.get(path);
  if (!made) paths.set(path, made = new Path2D(path));
  context.save();
  context.translate(x + size * 0.12, y + size * 0.12);
  context.scale((size * 0.76) / 20, (size * 0.76) / 20);
  context.lineWidth = Math.min(2.2, 1.5 / Math.min(1, k));
  context.lineJoin = context.lineCap = "round";
  context.stroke(made);
  context.restore();
}

function paintWords({ context, theme, count }, card, sx, sy, w, h, k, bad) {
  const two = k >= from.sub;
  const size = Math.max(10.5, Math.min(18, 12.5 * k));
  const left = sx + 38 * k;
  let right = sx + w - 9 * k;
  context.textAlign = "right";
  if (card.bar && card.count > 0) {
    const bar = { w: 30 * k, h: Math.max(3, 4 * k) };
    paintBar(context, theme, card.bar, right - bar.w, sy + (two ? 14 * k : h / 2) - bar.h / 2, bar);
    right -= bar.w + 6 * k;
  }
  const sign = bad ? (card.missing ? "✕" : "▲") : card.health === "progressing" ? "◔" : card.health === "suspended" ? "⏸" : card.health === "terminating" ? "⌫" : "";
  const words = card.badge > 0 ? `${card.badge}` : card.bar ? `×${card.count}` : card.count > 0 && !card.opened ? `+${card.count}` : "";
  if (words) {
    setFont(context, 500, Math.max(9.5, 11 * k), theme.font);
    context.fillStyle = theme.soft;
    context.fillText(words, right, sy + (two ? 14 * k : h / 2));
    right -= measure(context, words) + 5 * k;
    count.texts++;
  }
  if (sign) {
    setFont(context, 700, Math.max(9.5, 10.5 * k), theme.font);
    context.fillStyle = bad ? theme.bad : card.health === "progressing" ? theme.warn : theme.idle;
    context.fillText(sign, right, sy + (two ? 14 * k : h / 2));
    right -= measure(context, sign) + 4 * k;
  }
  context.textAlign = "left";
  setFont(context, card.uses ? 500 : 600, size, theme.font);
  context.fillStyle = bad && card.missing ? theme.bad : theme.text;
  context.fillText(ellipsis(context, card.name, right - left - 2), left, sy + (two ? 14 * k : h / 2));
  count.texts++;
  if (!two) return;
  setFont(context, bad ? 600 : 400, Math.max(9.5, 10.5 * k), theme.font);
  context.fillStyle = bad ? theme.bad : card.health === "progressing" ? theme.warn : theme.soft;
  context.fillText(ellipsis(context, card.sub, sx + w - 8 * k - left), left, sy + 28.5 * k);
  count.texts++;
}

function paintBar(context, theme, parts, x, y, { w, h }) {
  const all = parts[0] + parts[1] + parts[2];
  let at = x;
  [theme.good, theme.warn, theme.bad].forEach((colour, i) => {
    if (parts[i] === 0) return;
    const part = (w * parts[i]) / all;
    context.fillStyle = colour;
    context.fillRect(at, y, Math.max(1, part - (i < 2 && parts[2] + (i < 1 ? parts[1] : 0) > 0 ? 1 : 0)), h);
    at += part;
  });
}

/** A line between two cards, past those in between. */
export function paintLine({ context, camera, theme, selected, hovered, lit, count }, app, line, x, y) {
  const [a, b] = [app.cards[line.a], app.cards[line.b]];
  const { k } = camera;
  const back = b.x <= a.x;
  const start = { x: x + a.x + (back ? 0 : cardSize.w), y: y + a.y + cardSize.h / 2 + (back ? 8 : 0) };
  const end = { x: x + b.x + (back ? cardSize.w : 0), y: y + b.y + cardSize.h / 2 + (back ? 8 : 0) };
  let [top, bottom] = start.y < end.y ? [start.y, end.y] : [end.y, start.y];
  for (const point of line.way) {
    top = Math.min(top, y + point.y);
    bottom = Math.max(bottom, y + point.y);
  }
  const left = Math.min(start.x, end.x);
  if (!camera.sees(left, top, Math.max(start.x, end.x) - left, bottom - top, cardSize.w)) return;
  count.lines++;
  const related = a.key === selected || b.key === selected || a.key === hovered || b.key === hovered;
  context.globalAlpha = lit && !(lit.has(a.key) && lit.has(b.key)) ? 0.2 : 1;
  context.strokeStyle = line.missing ? theme.bad : related ? theme.accent : line.type === "or" ? theme.owns : theme.line;
  context.lineWidth = related ? 2 : line.type === "or" ? 1.8 : line.missing ? 1.5 : 1.1;
  if (line.missing) context.setLineDash([5, 3]);
  else if (line.type === "t") context.setLineDash([1.5, 3]);
  const points = [start, ...line.way.map((point) => ({ x: x + point.x, y: y + point.y })), end];
  context.beginPath();
  let [px, py] = camera.toScreen(points[0].x, points[0].y);
  context.moveTo(px, py);
  for (let i = 1; i < points.length; i++) {
    const [qx, qy] = camera.toScreen(points[i].x, points[i].y);
    if (Math.abs(qy - py) < 0.5) context.lineTo(qx, qy);
    else context.bezierCurveTo(px + (qx - px) / 2, py, qx - (qx - px) / 2, qy, qx, qy);
    [px, py] = [qx, qy];
  }
  context.stroke();
  context.setLineDash([]);
  if (k >= from.arrow) {
    const way = back ? 1 : -1;
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.moveTo(px, py);
    context.lineTo(px + way * 6 * Math.min(1, k), py - 3.2 * Math.min(1, k));
    context.lineTo(px + way * 6 * Math.min(1, k), py + 3.2 * Math.min(1, k));
    context.fill();
  }
  context.globalAlpha = 1;
}
