// Packs boxes into a larger one, without holes where that can be had, and finds a
// place for one more box without moving the others.

/** Packs sizes [{w, h}] onto a skyline, tallest first. It returns places and the size. */
export function pack(sizes, gap, aspect = 1.7) {
  if (sizes.length === 0) return { places: [], w: 0, h: 0 };
  const area = sizes.reduce((sum, s) => sum + (s.w + gap) * (s.h + gap), 0);
  const widest = Math.max(...sizes.map((s) => s.w));
  const wanted = Math.sqrt(area * aspect);
  let best;
  const order = sizes.map((_, i) => i).sort((a, b) => sizes[b].h - sizes[a].h || sizes[b].w - sizes[a].w || a - b);
  // Several widths are tried: the one whose result is fullest and best shaped wins.
  for (const factor of [0.85, 0.92, 1, 1.08, 1.16, 1.26, 1.4]) {
    const tried = skyline(sizes, order, Math.max(widest, wanted * factor), gap);
    const ratio = tried.w / tried.h / aspect;
    const cost = (tried.w * tried.h) / area * (1 + 0.35 * Math.abs(Math.log(ratio)));
    if (!best || cost < best.cost - 1e-9) best = { ...tried, cost };
    if (sizes.length > 2000) break;
  }
  return best;
}

function skyline(sizes, order, width, gap) {
  let line = [{ x: 0, y: 0, w: width + gap }];
  const places = new Array(sizes.length);
  let [right, bottom] = [0, 0];
  const left = new Set(order);
  while (left.size > 0) {
    // The lowest gap of the skyline takes the tallest box that fits it; the
    // first few candidates are enough.
    let low = line[0];
    for (const part of line) if (part.y < low.y) low = part;
    let chosen = -1;
    let tries = 0;
    for (const i of left) {
      if (sizes[i].w + gap <= low.w + 1e-6) {
        chosen = i;
        break;
      }
      if (++tries > 400) break;
    }
    if (chosen < 0) {
      line = raise(line, low);
      continue;
    }
    left.delete(chosen);
    const s = sizes[chosen];
    places[chosen] = { x: low.x, y: low.y };
    right = Math.max(right, low.x + s.w);
    bottom = Math.max(bottom, low.y + s.h);
    const at = line.indexOf(low);
    const put = { x: low.x, y: low.y + s.h + gap, w: s.w + gap };
    const rest = { x: low.x + put.w, y: low.y, w: low.w - put.w };
    line.splice(at, 1, put, ...(rest.w > 1e-6 ? [rest] : []));
  }
  return { places, w: right, h: bottom };
}

// A gap that nothing fits is filled up to its lower neighbour.
function raise(line, low) {
  const at = line.indexOf(low);
  const neighbours = [line[at - 1], line[at + 1]].filter(Boolean);
  const y = neighbours.length > 0 ? Math.min(...neighbours.map((part) => part.y)) : low.y;
  low.y = y;
  const merged = [];
  for (const part of line) {
    const last = merged[merged.length - 1];
    if (last && Math.abs(last.y - part.y) < 1e-6) last.w += part.w;
    else merged.push(part);
  }
  return merged;
}

const overlaps = (a, b, gap) => a.x < b.x + b.w + gap && b.x < a.x + a.w + gap && a.y < b.y + b.h + gap && b.y < a.y + a.h + gap;

/** Whether a box is clear of all others. */
export const isFree = (box, others, gap) => others.every((other) => other === box || !overlaps(box, other, gap));

/** A place for one more box: the first hole within, else where the whole grows least. */
export function findPlace(size, others, gap, bounds) {
  const candidates = [{ x: 0, y: 0 }];
  for (const o of others) candidates.push({ x: o.x + o.w + gap, y: o.y }, { x: o.x, y: o.y + o.h + gap }, { x: 0, y: o.y + o.h + gap }, { x: o.x + o.w + gap, y: 0 });
  let best;
  for (const { x, y } of candidates) {
    const box = { x, y, w: size.w, h: size.h };
    const [w, h] = [Math.max(bounds.w, x + size.w), Math.max(bounds.h, y + size.h)];
    const cost = w * h - bounds.w * bounds.h + 1e-3 * (x + y) + 0.2 * Math.abs(w - 1.7 * h) ** 2 * (w > bounds.w || h > bounds.h ? 1 : 0);
    if (best && cost >= best.cost) continue;
    if (others.every((other) => !overlaps(box, other, gap))) best = { x, y, cost };
  }
  return { x: best.x, y: best.y };
}
