// Packs boxes into a larger one, without holes where that can be had, and finds a
// place for one more box without moving the others.
import { grown } from "./links.js";

const shapes = [0.85, 0.92, 1, 1.08, 1.16, 1.26, 1.4]; // widths that are tried, to the width of what is full
const searched = 400; // boxes that are looked at for one that fits
const fewBoxes = 60; // so few that they are also tried in another order
const manyBoxes = 2000; // so many that one width is tried

/**
 * Packs sizes [{w, h}] onto a skyline. It returns places and the size. So many further orders are
 * tried, which are the same each time. Ordered: their own order is better than one that takes a fifth less.
 */
export function pack(sizes, gap, aspect = 1.7, { further = 0, ordered = false } = {}) {
  if (sizes.length === 0) return { places: [], w: 0, h: 0 };
  if (sizes.length === 1) return { places: [{ x: 0, y: 0 }], w: sizes[0].w, h: sizes[0].h };
  let [area, widest] = [0, 0];
  for (const { w, h } of sizes) {
    area += (w + gap) * (h + gap);
    widest = Math.max(widest, w);
  }
  const wanted = Math.sqrt(area * aspect);
  const given = sizes.map((_, i) => i);
  const orders = [[...given].sort((a, b) => step(sizes[b].h) - step(sizes[a].h) || a - b)];
  if (ordered) orders.unshift(given);
  if (sizes.length <= fewBoxes) orders.push(sizes.map((_, i) => i).sort((a, b) => sizes[b].w * sizes[b].h - sizes[a].w * sizes[a].h || a - b));
  for (let i = 0; i < further; i++) orders.push(shuffled(orders[1], i + 1));
  let best;
  let before = 0;
  // The order and the width whose result is fullest and best shaped win.
  for (const factor of sizes.length > manyBoxes ? [1] : shapes) {
    const width = Math.max(widest, wanted * factor);
    if (width === before) continue; // the widest box decides
    before = width;
    for (const order of orders) {
      const tried = skyline(sizes, order, width, gap, best ? best.cost * area : Infinity);
      if (!tried) continue;
      const ratio = tried.w / tried.h / aspect;
      const cost = (tried.w * tried.h) / area * (1 + 0.35 * Math.abs(Math.log(ratio))) * (ordered && order !== given ? 1.25 : 1);
      if (!best || cost < best.cost - 1e-9) best = { ...tried, cost, places: placesOf(sizes.length) };
    }
  }
  return best;
}

// Heights that differ by less than a fifth count as one, so that such boxes stay in their order.
const step = (h) => Math.round(Math.log2(h) * 4);

// The same list in another order, by a generator of Lehmer's.
function shuffled(list, seed) {
  const made = [...list];
  let state = seed * 7919;
  for (let i = made.length - 1; i > 0; i--) {
    state = (state * 48_271) % 2_147_483_647;
    const j = state % (i + 1);
    [made[i], made[j]] = [made[j], made[i]];
  }
  return made;
}

function placesOf(n) {
  const places = [];
  for (let i = 0; i < n; i++) places.push({ x: boxX[i], y: boxY[i] });
  return places;
}

// Where the boxes are, the skyline's parts from left to right, and the boxes that are
// left, as a list.
let boxX = new Float64Array(64);
let boxY = new Float64Array(64);
let partX = new Float64Array(64);
let partY = new Float64Array(64);
let partW = new Float64Array(64);
let next = new Int32Array(64);

// Packs boxes in an order, unless that takes a larger area than the limit.
function skyline(sizes, order, width, gap, limit) {
  const n = sizes.length;
  [boxX, boxY, next] = [grown(boxX, n), grown(boxY, n), grown(next, n + 1)];
  [partX, partY, partW] = [grown(partX, n + 2), grown(partY, n + 2), grown(partW, n + 2)];
  let [right, bottom, parts] = [0, 0, 1];
  partX[0] = partY[0] = 0;
  partW[0] = width + gap;
  for (let i = 0; i < n; i++) next[i] = i + 1;
  next[n] = 0; // the first that is left, of those in order; n: none
  while (next[n] < n) {
    // The lowest gap of the skyline takes the first box that fits it.
    let low = 0;
    for (let part = 1; part < parts; part++) if (partY[part] < partY[low]) low = part;
    let previous = n;
    for (let tries = 0; next[previous] < n && sizes[order[next[previous]]].w + gap > partW[low] + 1e-6; previous = next[previous]) {
      if (++tries <= searched) continue;
      previous = -1;
      break;
    }
    if (previous < 0 || next[previous] === n) {
      parts = raise(low, parts);
      continue;
    }
    const chosen = order[next[previous]];
    next[previous] = next[next[previous]];
    const { w, h } = sizes[chosen];
    boxX[chosen] = partX[low];
    boxY[chosen] = partY[low];
    right = Math.max(right, partX[low] + w);
    bottom = Math.max(bottom, partY[low] + h);
    if (right * bottom > limit) return undefined;
    const rest = partW[low] - w - gap;
    if (rest > 1e-6) {
      shift(low + 1, 1, parts);
      parts++;
      partX[low + 1] = partX[low] + w + gap;
      partY[low + 1] = partY[low];
      partW[low + 1] = rest;
      partW[low] = w + gap;
    }
    partY[low] += h + gap;
  }
  return { w: right, h: bottom };
}

// Moves parts from one on to the right or to the left.
function shift(from, by, parts) {
  partX.copyWithin(from + by, from, parts);
  partY.copyWithin(from + by, from, parts);
  partW.copyWithin(from + by, from, parts);
}

// A gap that nothing fits is filled up to its lower neighbour, with which it is one part.
function raise(low, parts) {
  const left = low > 0 ? partY[low - 1] : Infinity;
  const right = low + 1 < parts ? partY[low + 1] : Infinity;
  partY[low] = Math.min(left, right);
  if (Math.abs(right - partY[low]) < 1e-6) {
    partW[low] += partW[low + 1];
    shift(low + 2, -1, parts--);
  }
  if (Math.abs(left - partY[low]) < 1e-6) {
    partW[low - 1] += partW[low];
    shift(low + 1, -1, parts--);
  }
  return parts;
}

const overlaps = (a, b, gap) => a.x < b.x + b.w + gap && b.x < a.x + a.w + gap && a.y < b.y + b.h + gap && b.y < a.y + a.h + gap;

/** Whether a box is clear of all others. */
export const isFree = (box, others, gap) => others.every((other) => other === box || !overlaps(box, other, gap));

// Returns whether a box is clear of all others, which are looked for at its height alone: there may be thousands.
function clearOf(others, gap) {
  const band = Math.max(1, others.reduce((sum, { h }) => sum + h + gap, 0) / others.length); // as high as most boxes
  const bands = {};
  const bandsOf = ({ y, h }) => {
    const all = [];
    for (let at = Math.floor((y - gap) / band); at <= (y + h + gap) / band; at++) all.push(bands[at] ??= []);
    return all;
  };
  for (const other of others) for (const those of bandsOf(other)) those.push(other);
  return (box) => bandsOf(box).every((those) => !those.some((other) => overlaps(box, other, gap)));
}

/** Returns how far boxes reach. There may be more than a call takes arguments. */
export function extentOf(boxes) {
  let [w, h] = [0, 0];
  for (const box of boxes) {
    w = Math.max(w, box.x + box.w);
    h = Math.max(h, box.y + box.h);
  }
  return { w, h };
}

/** A place for one more box: the first hole within, else where the whole grows least. */
export function findPlace(size, others, gap) {
  const bounds = extentOf(others);
  const candidates = [{ x: 0, y: 0 }];
  for (const o of others) candidates.push({ x: o.x + o.w + gap, y: o.y }, { x: o.x, y: o.y + o.h + gap }, { x: 0, y: o.y + o.h + gap }, { x: o.x + o.w + gap, y: 0 });
  const isClear = clearOf(others, gap);
  let best;
  let least = Infinity;
  for (const { x, y } of candidates) {
    const [w, h] = [Math.max(bounds.w, x + size.w), Math.max(bounds.h, y + size.h)];
    const cost = w * h - bounds.w * bounds.h + 1e-3 * (x + y) + 0.2 * Math.abs(w - 1.7 * h) ** 2 * (w > bounds.w || h > bounds.h ? 1 : 0);
    if (cost < least && isClear({ x, y, w: size.w, h: size.h })) [best, least] = [{ x, y }, cost];
  }
  return best;
}
