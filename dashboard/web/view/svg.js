// As much of a canvas' context as the painter needs, which writes SVG.

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => String(text).replace(/[&<>"']/g, (c) => escapes[c]).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
const round = (n) => Math.round(n * 100) / 100;

export class SVGContext {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign = "left";
  textBaseline = "middle";
  #parts = [];
  #path = "";
  #dash = [];
  #w;
  #h;
  #ruler = globalThis.document?.createElement("canvas").getContext("2d");

  constructor(w, h) {
    this.#w = w;
    this.#h = h;
  }

  measureText(text) {
    if (!this.#ruler) return { width: text.length * 7 };
    this.#ruler.font = this.font;
    return this.#ruler.measureText(text);
  }

  setLineDash(dash) { this.#dash = dash; }

  beginPath() { this.#path = ""; }

  moveTo(x, y) { this.#path += `M${round(x)} ${round(y)}`; }

  lineTo(x, y) { this.#path += `L${round(x)} ${round(y)}`; }

  bezierCurveTo(...points) { this.#path += `C${points.map(round).join(" ")}`; }

  rect(x, y, w, h) { this.#path += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`; }

  arc(x, y, r) { this.#path += `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`; }

  roundRect(x, y, w, h, radius) {
    const r = round(Math.min(radius, w / 2, h / 2));
    const [a, b] = [round(w - 2 * r), round(h - 2 * r)];
    this.#path += `M${round(x + r)} ${round(y)}h${a}a${r} ${r} 0 0 1 ${r} ${r}v${b}a${r} ${r} 0 0 1 ${-r} ${r}h${-a}a${r} ${r} 0 0 1 ${-r} ${-r}v${-b}a${r} ${r} 0 0 1 ${r} ${-r}z`;
  }

  #alpha() { return this.globalAlpha === 1 ? "" : ` opacity="${round(this.globalAlpha)}"`; }

  fill() { this.#parts.push(`<path d="${this.#path}" fill="${escape(this.fillStyle)}"${this.#alpha()}/>`); }

  stroke() {
    const dash = this.#dash.length > 0 ? ` stroke-dasharray="${this.#dash.join(" ")}"` : "";
    this.#parts.push(`<path d="${this.#path}" fill="none" stroke="${escape(this.strokeStyle)}" stroke-width="${round(this.lineWidth)}"${dash}${this.#alpha()}/>`);
  }

  /** A glyph's path at a place and scale. */
  strokePath(path, x, y, scale, width) {
    this.#parts.push(`<path d="${path}" transform="translate(${round(x)} ${round(y)}) scale(${scale.toFixed(4)})" fill="none" stroke="${escape(this.strokeStyle)}" stroke-width="${width}" stroke-linejoin="round" stroke-linecap="round"${this.#alpha()}/>`);
  }

  fillRect(x, y, w, h) { this.#parts.push(`<path d="M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z" fill="${escape(this.fillStyle)}"${this.#alpha()}/>`); }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [undefined, "400", "12", "sans-serif"];
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    this.#parts.push(`<text x="${round(x)}" y="${round(y)}" font-family="${escape(family)}" font-size="${round(Number(size))}" font-weight="${weight ?? 400}" text-anchor="${anchor}" dominant-baseline="central" fill="${escape(this.fillStyle)}"${this.#alpha()}>${escape(text)}</text>`);
  }

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(this.#w)}" height="${Math.ceil(this.#h)}" viewBox="0 0 ${Math.ceil(this.#w)} ${Math.ceil(this.#h)}">${this.#parts.join("")}</svg>`;
  }
}
