// Text that has to fit. Names are cut in the middle: what tells them apart is at
// both ends.

const widths = new Map(); // font and text: width

/** How wide a text is in the context's font. */
export function measure(context, text) {
  const key = `${context.font}\n${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 20_000) widths.clear();
    widths.set(key, width = context.measureText(text).width);
  }
  return width;
}

const cuts = new Map();

/** The text, or as much of both its ends as fits; "" where that is nothing. */
export function ellipsis(context, text, room) {
  if (room <= 0) return "";
  if (measure(context, text) <= room) return text;
  const key = `${context.font}\n${Math.round(room)}\n${text}`;
  let cut = cuts.get(key);
  if (cut === undefined) {
    const letters = [...text];
    const joined = (n) => `${letters.slice(0, Math.ceil(n / 2)).join("")}…${n > 1 ? letters.slice(-Math.floor(n / 2)).join("") : ""}`;
    let [low, high] = [0, letters.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(joined(middle)).width <= room) low = middle;
      else high = middle - 1;
    }
    cut = low > 0 ? joined(low) : "";
    if (cuts.size > 20_000) cuts.clear();
    cuts.set(key, cut);
  }
  return cut;
}
