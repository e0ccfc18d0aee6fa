// Positions: cards in apps, apps in places (namespaces), places on the plane. Existing items
// keep their position; new or larger ones go into gaps.
import { card as cardSize, grid, layered } from "./layers.js";
import { clusterOf } from "./clusters.js";
import { natural } from "./natural.js";
import { extentOf, findPlace, isFree, pack } from "./pack.js";

export const inset = { side: 14, title: 40, bottom: 14, rest: 5, place: 18, appGap: 16, placeGap: 44, cluster: 30 };

const fewPlaces = 12;
const widest = 5 * cardSize.w; // of the line that says what the rest is

/** Brings an app's cards and lines into the order in which they are laid out. */
export function arrange(app) {
  app.cards.sort((a, b) => a.anchor.rank - b.anchor.rank || (a.uses ? 1 : 0) - (b.uses ? 1 : 0) || natural(a.name, b.name) || (a.key < b.key ? -1 : 1));
  app.cards.forEach((card, i) => { card.index = i; });
  app.lines.sort((l, m) => l.a.index - m.a.index || l.b.index - m.b.index);
}

/** Lays out one app: its cards get x and y, its lines ways, it gets w and h. Gap is the room between columns. */
export function layOutApp(app, gap = cardSize.gapX) {
  const { cards, lines, hints } = app;
  const [dx, dy] = app.key === "rest" ? [inset.rest, inset.rest] : [inset.side, inset.title];
  const drawn = ["shared", "loose", "given"].includes(app.key) ? grid(cards.length) : drawLayers(cards, lines, hints, { gap, dx, dy });
  for (let i = 0; i < cards.length; i++) {
    cards[i].x = drawn.x[i] + dx;
    cards[i].y = drawn.y[i] + dy;
  }
  for (let i = 0; i < lines.length; i++) lines[i].way = drawn.ways[i];
  app.w = Math.max(drawn.width, app.key === "rest" ? 2 * cardSize.w : cardSize.w) + 2 * dx;
  app.h = Math.max(drawn.height, cardSize.h) + dy + (app.key === "rest" ? dy : inset.bottom);
}

function drawLayers(cards, lines, hints, options) {
  const [ranks, from, to] = [[], [], []];
  for (const card of cards) ranks.push(card.anchor.rank);
  for (const { a, b } of lines) {
    from.push(a.index);
    to.push(b.index);
  }
  for (const [a, b] of hints) {
    from.push(a.index);
    to.push(b.index);
  }
  return layered(ranks, from, to, lines.length, options);
}

/** Whether an app is drawn as it was: the same cards and lines between them, in the same order. */
export function isDrawnAs(app, before) {
  if (app.cards.length !== before.cards.length || app.lines.length !== before.lines.length) return false;
  for (let i = 0; i < app.cards.length; i++) if (app.cards[i].key !== before.cards[i].key) return false;
  for (let i = 0; i < app.lines.length; i++) {
    const [line, known] = [app.lines[i], before.lines[i]];
    if (line.a.index !== known.a.index || line.b.index !== known.b.index) return false;
  }
  return true;
}

/** Takes an unchanged app's drawing over from the one before. */
export function copyDrawing(app, before) {
  for (let i = 0; i < app.cards.length; i++) {
    app.cards[i].x = before.cards[i].x;
    app.cards[i].y = before.cards[i].y;
  }
  for (let i = 0; i < app.lines.length; i++) app.lines[i].way = before.lines[i].way;
  app.w = before.w;
  app.h = before.h;
}

/**
* Places the apps of a place, in a shape of width to height; the rest is below the others. `before` has the previous apps
* by key; their x and y are kept if possible. Without it, all apps are packed again.
*/
export function layOutPlace(place, before, title, aspect) {
  const left = inset.place;
  const top = title;
  if (!before) {
    const own = place.apps.filter(({ rest }) => !rest);
    const rest = place.apps.filter(({ rest }) => rest);
    const first = packInto(own, left, top, aspect);
    for (const app of rest) if (app.key === "rest") app.w = Math.max(app.w, Math.min(first.w, widest));
    packInto(rest, left, own.length > 0 ? top + first.h + inset.appGap : top, own.length > 0 ? 4 * aspect : aspect);
  } else {
    const settled = [];
    const homeless = [];
    for (const app of place.apps) {
      const known = before.get(app.key);
      if (!known) {
        homeless.push(app);
        continue;
      }
      Object.assign(app, { x: known.x, y: known.y });
      settled.push(app);
    }
    const kept = keep(settled, before, homeless);
    const inner = (app) => ({ x: app.x - left, y: app.y - top, w: app.w, h: app.h });
    for (const app of homeless) {
      const others = kept.map(inner);
      const at = findPlace(app, others, inset.appGap);
      app.x = at.x + left;
      app.y = at.y + top;
      kept.push(app);
    }
  }
  const extent = extentOf(place.apps);
  place.w = extent.w + inset.place;
  place.h = extent.h + inset.place;
}

function packInto(apps, left, top, aspect) {
  const packed = pack(apps, inset.appGap, aspect);
  apps.forEach((app, i) => Object.assign(app, { x: packed.places[i].x + left, y: packed.places[i].y + top }));
  return packed;
}

// Where one has outgrown its place, the smaller of two gives way.
function keep(settled, before, homeless) {
  if (!settled.some((app) => grown(app, before))) return settled;
  settled.sort((a, b) => b.w * b.h - a.w * a.h || (a.key < b.key ? -1 : 1));
  const kept = [];
  for (const app of settled) {
    if (isFree(app, kept, inset.appGap - 1)) kept.push(app);
    else homeless.push(app);
  }
  return kept;
}

const grown = (app, before) => {
  const known = before.get(app.key);
  return app.w > known.w || app.h > known.h;
};

// With few boxes it searches longer: gaps between large places are the most visible.
function packBoxes(boxes, gap, aspect) {
  const packed = pack(boxes, gap, aspect, { further: boxes.length <= fewPlaces ? 150 : 0, ordered: true });
  boxes.forEach((box, i) => Object.assign(box, packed.places[i]));
  return packed;
}

// The places with apps first, those that have nothing but their rest below them.
function packWithin(places, aspect) {
  const own = inOrder(places.filter(({ apps }) => apps.some(({ rest }) => !rest)));
  const others = places.filter((place) => !own.includes(place)).sort((a, b) => natural(a.name, b.name));
  const first = packBoxes(own, inset.placeGap, aspect);
  if (others.length === 0) return first;
  if (own.length === 0) return packBoxes(others, inset.placeGap, aspect);
  // As wide as what is above them.
  let area = 0;
  for (const { w, h } of others) area += (w + inset.placeGap) * (h + inset.placeGap);
  const below = packBoxes(others, inset.placeGap, Math.max(aspect, first.w * first.w / area));
  for (const place of others) place.y += first.h + inset.placeGap;
  return { w: Math.max(first.w, below.w), h: first.h + inset.placeGap + below.h };
}

// Brings places into the order in which they are packed: the largest first, or by name where there are many.
function inOrder(places) {
  const size = ({ w, h }) => Math.round(Math.log2(w * h));
  const system = ({ name }) => (name.endsWith("-system") ? 1 : 0);
  return places.sort((a, b) => system(a) - system(b) || (places.length > fewPlaces ? 0 : size(b) - size(a)) || natural(a.name, b.name));
}

/** Packs all places again into a shape of width to height: those of each of several clusters in a box with a title. */
export function packPlaces(places, title, aspect) {
  const clusters = new Map();
  for (const place of places) {
    const cluster = clusterOf(place.name);
    if (!clusters.has(cluster)) clusters.set(cluster, []);
    clusters.get(cluster).push(place);
  }
  const boxes = [...clusters.values()].map((within) => {
    const { w, h } = packWithin(within, aspect);
    return { within, x: 0, y: 0, w: w + 2 * inset.cluster, h: h + 2 * inset.cluster + title };
  });
  if (clusters.size === 0 || clusters.has(undefined)) return;
  packBoxes(boxes, inset.placeGap, aspect);
  for (const { within, x, y } of boxes) for (const place of within) Object.assign(place, { x: place.x + x + inset.cluster, y: place.y + y + inset.cluster + title });
}

/** Finds room for one place that is new or has outgrown its own. */
export function movePlace(place, places) {
  const others = places.filter((other) => other !== place && other.x !== undefined);
  Object.assign(place, findPlace(place, others, inset.placeGap));
}

export const placeIsFree = (place, places) => isFree(place, places.filter((other) => other.x !== undefined), inset.placeGap / 2);
