// Paints cards: with text, without, and as shades.
import { glyph } from "./icons.js";
import { cardSize } from "./scene.js";
import { ellipsis, measure, setFont } from "./text.js";

const bar = 9; // width of what shows a card's role where there is no glyph

const isBad = ({ health, common }) => !common && (health === "degraded" || health === "missing");
const isLoud = (card) => isBad(card) || card.health === "progressing";

/** Paints cards as rectangles: healthy ones pale; problems and search results in a colour that is visible at every zoom. */
export function paintCardsFromAfar({ context, camera, theme, lit, past, count }, app, x, y, from) {
  if (from === Infinity && !lit) return;
  const { k } = camera;
  const [w, h] = [Math.max(2, cardSize.w * k), Math.max(2, cardSize.h * k)];
  for (const shade of ["mini", "warn", "bad", "accent"]) {
    const small = shade === "mini" ? 0 : 6;
    let any = false;
    for (const card of app.cards) {
      const is = lit?.has(card.key) ? "accent" : isBad(card) ? "bad" : card.health === "progressing" ? "warn" : "mini";
      // Where the name is, and where cards are too small, the colour or the edge of the box says enough.
      if (is !== shade || ((shade !== "accent" || past) && card.y < from)) continue;
      if (!any) context.beginPath();
      any = true;
      const [sx, sy] = camera.toScreen(x + card.x, y + card.y);
      context.rect(sx, sy + h / 2 - Math.max(h, small) / 2, Math.max(w, small), Math.max(h, small));
      count.cards++;
    }
    if (!any) continue;
    context.fillStyle = theme[shade];
    context.fill();
  }
}

/** Cards of one line: a bar in the colour of the role, kind and name; what is not well is in its colour. */
export function paintSketch(drawing, app, x, y) {
  const { context, scene, camera, theme, selected, lit, past, now, count } = drawing;
  const pale = past ? 0.6 : 0.4;
  const { k } = camera;
  const [h, r] = [cardSize.h * k, 2.5];
  const seen = [];
  for (const card of app.cards) {
    const off = scene.offset(card, now);
    const [cx, cy] = [x + card.x + (off?.x ?? 0), y + card.y + (off?.y ?? 0)];
    if (!camera.sees(cx, cy, card.w ?? cardSize.w, cardSize.h, 8)) continue;
    const [sx, sy] = camera.toScreen(cx, cy);
    seen.push({ card, sx, sy });
  }
  count.cards += seen.length;
  const box = ({ card, sx, sy }) => context.roundRect(sx, sy, (card.w ?? cardSize.w) * k, h, r);
  const plain = seen.filter(({ card }) => !isLoud(card) && card.key !== selected && !lit?.has(card.key));
  context.globalAlpha = lit ? pale : 1;
  context.fillStyle = theme.card;
  context.strokeStyle = theme["card-edge"];
  context.lineWidth = 1;
  context.beginPath();
  for (const each of plain) box(each);
  context.fill();
  context.stroke();
  for (const role of new Set(plain.map(({ card }) => card.role))) {
    context.fillStyle = theme[role] ?? theme.other;
    context.beginPath();
    for (const { card, sx, sy } of plain) if (card.role === role) context.rect(sx, sy, bar * k, h);
    context.fill();
  }
  for (const each of seen) {
    const { card } = each;
    const [loud, chosen, found] = [isLoud(card), card.key === selected, lit?.has(card.key)];
    if (!loud && !chosen && !found) continue;
    const how = isBad(card) ? "bad" : loud ? "warn" : "accent";
    context.globalAlpha = lit && !found ? pale : 1;
    // Problems are filled, so that they are found among thousands.
    context.fillStyle = how === "accent" ? theme[!found ? "accent-soft" : past ? "card" : "lit"] : card.missing ? theme["bad-soft"] : theme[how];
    context.strokeStyle = chosen || found ? theme.accent : theme[how];
    context.lineWidth = chosen ? 2.5 : 1.5;
    if (card.missing) context.setLineDash([4, 3]);
    context.beginPath();
    box(each);
    context.fill();
    context.stroke();
    context.setLineDash([]);
  }
  paintNames(drawing, app, seen, h);
  for (const { card, sx, sy } of seen) if (card.differs) paintDifference(drawing, card, sx + (card.w ?? cardSize.w) * k, sy);
  context.globalAlpha = 1;
}

// Kind and name in one line: as much of the name as there is room for, without what the title of the box says already.
function lineOf(context, { uses, rest, name, short, state }, title, room) {
  if (rest) return measure(context, `${name}: ${state}`) <= room ? `${name}: ${state}` : ellipsis(context, short, room);
  if (measure(context, uses ? name : `${short} ${name}`) <= room) return uses ? name : `${short} ${name}`;
  if (uses) return ellipsis(context, measure(context, short) <= room ? short : short.replaceAll(/\d+ /g, ""), room);
  const own = name === title ? "" : name.startsWith(`${title}-`) ? name.slice(title.length) : name;
  const cut = ellipsis(context, own, room - measure(context, `${short} `));
  return cut === own || cut.length > 3 ? `${short} ${cut}` : ellipsis(context, short, room);
}

// Problems and search results have their name on their own colour; other cards beside their bar.
function paintNames({ context, camera, theme, lit, past, count }, app, seen, h) {
  const left = bar * camera.k + 3;
  context.textAlign = "left";
  for (const loud of [false, true]) {
    setFont(context, loud ? 700 : 500, Math.max(9, Math.min(11, 27 * camera.k)), theme.font);
    for (const { card, sx, sy } of seen) {
      if (isLoud(card) !== loud) continue;
      const w = (card.w ?? cardSize.w) * camera.k;
      const [begin, room] = loud ? [5, w - 10] : [left, w - left - 3];
      const text = lineOf(context, card, app.title, room);
      context.globalAlpha = lit && !lit.has(card.key) ? (past ? 0.6 : 0.4) : 1;
      context.fillStyle = !loud ? theme.soft : card.missing ? theme.bad : theme.bg;
      context.fillText(text, sx + begin, sy + h / 2 + 0.5);
      count.texts++;
    }
  }
}

/** A card with its text. */
export function paintCard(drawing, card, x, y) {
  const { context, camera, theme, selected, hovered, lit, past, count } = drawing;
  const { k } = camera;
  const [sx, sy] = camera.toScreen(x, y);
  const [w, h, r] = [(card.w ?? cardSize.w) * k, cardSize.h * k, 7 * k];
  const bad = isBad(card);
  const dim = lit && !lit.has(card.key);
  const pale = past ? 0.62 : 0.28;
  count.cards++;
  context.globalAlpha = dim ? pale : 1;
  if (card.count > 0 || card.uses) {
    context.fillStyle = theme.card;
    context.strokeStyle = theme["card-edge"];
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(sx + 4 * k, sy + 4 * k, w, h, r);
    context.fill();
    context.stroke();
  }
  const chosen = card.key === selected;
  context.fillStyle = bad ? theme["bad-soft"] : card.health === "progressing" ? theme["warn-soft"] : chosen ? theme["accent-soft"] : lit && !dim && !past ? theme.lit : theme.card;
  context.strokeStyle = chosen ? theme.accent : bad ? theme.bad : card.health === "progressing" ? theme.warn : card.key === hovered ? theme.accent : theme["card-edge"];
  context.lineWidth = chosen ? 2.5 : bad ? 1.5 : 1;
  if (card.missing) context.setLineDash([5, 3]);
  context.beginPath();
  context.roundRect(sx, sy, w, h, r);
  context.fill();
  context.stroke();
  context.setLineDash([]);
  if (card.differs) paintDifference(drawing, card, sx + w, sy);
  else paintMark(drawing, card, sx + w, sy, dim);
  context.globalAlpha = dim ? pale : 1;
  paintGlyph(context, theme, card, sx + 7 * k, sy + 8 * k, 24 * k, k);
  paintWords({ context, theme, count }, card, sx, sy, w, h, k, bad);
  context.globalAlpha = 1;
}

// A card that has come or changed has a dot at its corner for a while: a ring would look like a selection.
function paintMark({ context, scene, camera, theme, now }, card, right, top, dim) {
  const mark = scene.marks.get(card.key);
  if (!mark) return;
  const left = scene.still ? 1 : Math.max(0, (mark.until - now) / (mark.what === "+" ? 2000 : 1000));
  context.globalAlpha = Math.min(1, 2 * left) * (dim ? 0.28 : 1);
  context.fillStyle = mark.what === "+" ? theme.good : theme.soft;
  context.beginPath();
  context.arc(right - 2, top + 2, Math.max(3, Math.min(5, 5 * camera.k)), 0, 7);
  context.fill();
  context.globalAlpha = dim ? 0.28 : 1;
}

const differences = { "+": ["+", "good"], "-": ["−", "bad"], "~": ["~", "accent"] };

// How a card of the past differs from the same one now.
function paintDifference({ context, camera, theme, count }, { differs }, right, top) {
  const [sign, colour] = differences[differs];
  const r = Math.max(5.5, Math.min(9, 9 * camera.k));
  context.globalAlpha = 1;
  context.fillStyle = theme[colour];
  context.beginPath();
  context.arc(right - 3, top + 3, r, 0, 7);
  context.fill();
  context.fillStyle = theme.bg;
  context.textAlign = "center";
  setFont(context, 700, Math.max(9, 1.5 * r), theme.font);
  context.fillText(sign, right - 3, top + 3.5);
  count.texts++;
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
  if (!path) {
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

const ready = /(\d+) of (\d+) ready/;

// The second line of a card: kind and state, with short words where there is no room for long
// ones. If these do not fit either, the end is cut.
function secondLine(context, { uses, kind, short, state }, room) {
  if (uses) return ellipsis(context, state, room);
  const brief = state.replace(ready, "$1/$2");
  const texts = state ? [`${kind} · ${state}`, `${short} · ${state}`, `${short} · ${brief}`] : [kind, short];
  const fits = texts.find((text) => measure(context, text) <= room);
  if (fits) return fits;
  if (!state) return ellipsis(context, short, room);
  return ellipsis(context, `${short} · ${brief}`, room);
}

function paintWords({ context, theme, count }, card, sx, sy, w, h, k, bad) {
  const size = Math.max(10, Math.min(18, 12.5 * k));
  // Small cards have their lines as far apart as there is room.
  const near = Math.min(1, Math.max(0, (k - 0.5) / 0.2));
  const [first, second] = [sy + h * (0.29 + 0.06 * near), sy + h * (0.75 - 0.04 * near)];
  const left = sx + 38 * k;
  let right = sx + w - 9 * k;
  context.textAlign = "right";
  const roomy = k >= 0.7; // below, the second line says as much as the bar
  if (roomy && card.bar && card.count > 0) {
    const bar = { w: 30 * k, h: Math.max(3, 4 * k) };
    paintBar(context, theme, card.bar, right - bar.w, first - bar.h / 2, bar);
    right -= bar.w + 6 * k;
  }
  const sign = bad ? (card.missing ? "✕" : "▲") : card.health === "progressing" ? "◔" : card.health === "suspended" ? "‖" : card.health === "terminating" ? "⌫" : "";
  const words = card.badge > 0 ? `${card.badge}` : card.bar ? roomy && `×${card.count}` : card.count > 0 && !card.opened ? `+${card.count}` : "";
  if (words) {
    setFont(context, 500, Math.max(9.5, 11 * k), theme.font);
    context.fillStyle = theme.soft;
    context.fillText(words, right, first);
    right -= measure(context, words) + 5 * k;
    count.texts++;
  }
  if (sign) {
    setFont(context, 700, Math.max(9.5, 10.5 * k), theme.font);
    context.fillStyle = bad ? theme.bad : card.health === "progressing" ? theme.warn : theme.idle;
    context.fillText(sign, right, first);
    right -= measure(context, sign) + 4 * k;
  }
  context.textAlign = "left";
  setFont(context, card.uses ? 500 : 600, size, theme.font);
  context.fillStyle = bad && card.missing ? theme.bad : theme.text;
  const room = right - left - 2;
  context.fillText(ellipsis(context, card.uses && measure(context, card.name) > room ? card.short : card.name, room), left, first);
  count.texts++;
  setFont(context, bad ? 600 : 400, Math.max(9, 10.5 * k), theme.font);
  context.fillStyle = bad ? theme.bad : card.health === "progressing" || card.common ? theme.warn : theme.soft;
  context.fillText(secondLine(context, card, sx + w - 8 * k - left), left, second);
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
