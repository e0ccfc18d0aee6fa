// Which parts of the canvas are painted again: rectangles of the plane as whole
// pixels, without those out of sight, and merged where they meet.

const margin = 10; // pixels that strokes and marks reach beyond what they are of
const reach = 12; // pixels from which something outside may reach into a part
const most = 48; // parts, from which on everything is painted
const share = 0.5; // of the canvas, the same

/**
 * The parts of the canvas that rectangles of the plane cover, in its pixels, each
 * with a window: what of the plane has to be painted there. Undefined: all of it.
 */
export function regionsOf(rects, camera, ratio) {
  const parts = [];
  for (const rect of rects) {
    const [x, y] = camera.toScreen(rect.x, rect.y);
    const left = Math.max(0, Math.floor((x - margin) * ratio));
    const top = Math.max(0, Math.floor((y - margin) * ratio));
    const right = Math.min(Math.ceil(camera.w * ratio), Math.ceil((x + rect.w * camera.k + margin) * ratio));
    const bottom = Math.min(Math.ceil(camera.h * ratio), Math.ceil((y + rect.h * camera.k + margin) * ratio));
    if (right > left && bottom > top) add(parts, { left, top, right, bottom });
    if (parts.length > most) return undefined;
  }
  let area = 0;
  for (const part of parts) area += areaOf(part);
  if (area > share * camera.w * camera.h * ratio * ratio) return undefined;
  return parts.map((part) => regionOf(part, camera, ratio));
}

function regionOf({ left, top, right, bottom }, camera, ratio) {
  const [x, y, w, h] = [left / ratio, top / ratio, (right - left) / ratio, (bottom - top) / ratio];
  const [px, py] = camera.toPlane(x - reach, y - reach);
  return { x, y, w, h, window: { x: px, y: py, w: (w + 2 * reach) / camera.k, h: (h + 2 * reach) / camera.k } };
}

/**
 * The strips of a canvas that come into sight when all that is on it moves by dx and dy, in its
 * pixels. Undefined: what is there is of no use, since the pixels do not fall on pixels.
 */
export function stripsOf(dx, dy, camera, ratio) {
  const [w, h] = [Math.round(camera.w * ratio), Math.round(camera.h * ratio)];
  const whole = (n) => Math.abs(n - Math.round(n)) < 1e-6;
  if (!whole(dx) || !whole(dy) || Math.abs(dx) > w / 2 || Math.abs(dy) > h / 2) return undefined;
  const parts = [];
  if (dx !== 0) parts.push({ left: dx > 0 ? 0 : w + dx, right: dx > 0 ? dx : w, top: 0, bottom: h });
  if (dy !== 0) parts.push({ left: 0, right: w, top: dy > 0 ? 0 : h + dy, bottom: dy > 0 ? dy : h });
  return parts.map((part) => regionOf(part, camera, ratio));
}

const areaOf = ({ left, top, right, bottom }) => (right - left) * (bottom - top);

// Two parts are one where that is hardly more to paint; the union may meet others.
function add(parts, part) {
  for (let i = 0; i < parts.length; i++) {
    const other = parts[i];
    const union = {
      left: Math.min(part.left, other.left), top: Math.min(part.top, other.top),
      right: Math.max(part.right, other.right), bottom: Math.max(part.bottom, other.bottom),
    };
    if (areaOf(union) > 1.2 * (areaOf(part) + areaOf(other))) continue;
    parts.splice(i, 1);
    add(parts, union);
    return;
  }
  parts.push(part);
}
