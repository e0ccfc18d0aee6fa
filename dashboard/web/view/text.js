// Text that has to fit. Its end is cut: the beginning tells more.

const mostFonts = 100; // each has widths of its own
const mostTexts = 20_000; // in a font

const fonts = new Map(); // font: {widths, cuts}
let current = { context: undefined, font: "", widths: new Map(), cuts: new Map() };

/** Sets the font of what is painted and measured next. A context is slow to be asked for its own. */
export function setFont(context, weight, size, family) {
  // In steps of half a pixel, so that a zoom does not measure every text again.
  const font = `${weight} ${Math.round(size * 2) / 2}px ${family}`;
  if (current.context === context && current.font === font) return;
  context.font = font;
  let known = fonts.get(font);
  if (!known) {
    if (fonts.size >= mostFonts) fonts.clear();
    fonts.set(font, known = { widths: new Map(), cuts: new Map() });
  }
  current = { context, font, ...known };
}

/** Forgets which font a context has: a canvas that changes its size has none. */
export function forgetFont() { current.context = undefined; }

/** How wide a text is in the font that was set. */
export function measure(context, text) {
  const { widths } = current;
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > mostTexts) widths.clear();
    widths.set(text, width = context.measureText(text).width);
  }
  return width;
}

/** The text, or as much of its beginning as fits; "" where that is nothing. */
export function ellipsis(context, text, room) {
  if (room <= 0) return "";
  if (measure(context, text) <= room) return text;
  const { cuts } = current;
  const whole = Math.floor(room);
  const key = `${whole}\n${text}`;
  let cut = cuts.get(key);
  if (cut === undefined) {
    const letters = [...text];
    const joined = (n) => `${letters.slice(0, n).join("").trimEnd()}…`;
    let [low, high] = [0, letters.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(joined(middle)).width <= whole) low = middle;
      else high = middle - 1;
    }
    cut = low > 0 ? joined(low) : "";
    if (cuts.size > mostTexts) cuts.clear();
    cuts.set(key, cut);
  }
  return cut;
}
