// The map: a canvas, the pointer, and frames, which are drawn only when something
// is different.
import { Camera } from "./camera.js";
import { h } from "./h.js";
import { levels, paint } from "./paint.js";
import { regionsOf, stripsOf } from "./regions.js";
import { Scene } from "./scene.js";
import { readTheme, wantsStillness } from "./theme.js";

// Milliseconds between two frames of moves and fades while the user is idle, and the time
// without input after which the user counts as idle.
const unattended = { moves: 70, fades: 100, after: 1000 };
const reshapes = 0.4; // by which the logarithm of width to height differs
const rests = 200; // milliseconds after which a map that was moved is painted as a whole

export class MapView extends EventTarget {
  scene = new Scene();
  camera = new Camera();
  selected;
  hovered;
  lit;
  past = false; // the graph of a moment is drawn, in which what is not lit can be read, too
  bundles = [];
  painted = {}; // what the last frame of everything had
  frames = 0;
  #root;
  #canvas;
  #context;
  #theme;
  #frame = 0;
  #later; // a frame of what moves or fades
  #acted = 0; // when somebody did something last
  #whole = true; // the next frame paints everything
  #slid = { x: 0, y: 0 }; // how far it was moved since the last frame
  #rest; // a frame of everything, when it is moved no more
  #fitted = false; // the user has moved the camera
  #shape = 0; // width to height of the element when it was laid out last
  #ratio = 1;
  #resize;
  #pointers = new Map();

  constructor(root, host) {
    super();
    this.#root = root;
    this.#canvas = h("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "map", "aria-label": "Map of the graph" });
    this.#context = this.#canvas.getContext("2d", { alpha: false });
    host.prepend(this.#canvas);
    this.#listen();
    this.#resize = new ResizeObserver(() => this.#measure());
    this.#resize.observe(host);
  }

  get element() { return this.#canvas; }

  /** Takes the focus from an element that is about to be hidden, if that has it. */
  takeFocus(from) { if (from.matches(":focus-within")) this.#canvas.focus({ preventScroll: true }); }

  get theme() { return this.#theme ??= readTheme(this.#root); }

  stop() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#later);
    clearTimeout(this.#rest);
    this.#resize.disconnect();
  }

  /** Reads the theme again. */
  retheme() {
    this.#theme = undefined;
    this.scene.still = wantsStillness();
    this.draw();
  }

  apply(message) {
    const sized = this.scene.places.size > 0;
    this.scene.still = wantsStillness();
    this.scene.apply(message, performance.now());
    if (message.whole && (!sized || !this.#fitted)) this.fit({ at: "once" });
    if (this.hovered && !this.scene.cards.has(this.hovered)) this.hovered = undefined;
    this.#whole ||= message.whole;
    this.#ask();
  }

  /** Asks for a frame of everything. */
  draw() {
    this.#whole = true;
    this.attend();
    this.#ask();
  }

  /** Animates smoothly for a while, because the user has acted. */
  attend() { this.#acted = performance.now(); }

  // Asks for a frame of what looks different.
  #ask() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#paint(now));
  }

  fit(/** @type {{ at?: string }} */ { at } = {}) {
    if (at !== "once") this.#fitted = true;
    this.#go(this.camera.fitting(this.scene.bounds()), at === "once");
  }

  /** Shows a card: in the middle if it is out of sight or too small to be read. */
  reveal(key, { always = false, k = 0.9 } = {}) {
    const rect = this.scene.rect(key);
    if (!rect) return;
    const [x, y] = this.camera.toScreen(rect.x, rect.y);
    const seen = x > 10 && y > 10 && x + rect.w * this.camera.k < this.camera.w - 10 && y + rect.h * this.camera.k < this.camera.h - 10;
    if (seen && !always && this.camera.k >= 0.5) return;
    this.#fitted = true;
    this.#go(this.camera.centered(rect, Math.max(this.camera.k, k)));
  }

  view(view) {
    this.#fitted = true;
    this.camera.jump(view);
    this.draw();
  }

  zoom(factor, x = this.camera.w / 2, y = this.camera.h / 2) {
    this.#fitted = true;
    this.camera.zoom(factor, x, y);
    this.#moved();
  }

  pan(dx, dy) {
    this.#fitted = true;
    this.camera.pan(dx, dy);
    this.#slid.x += dx;
    this.#slid.y += dy;
    this.attend();
    this.#ask();
    this.dispatchEvent(new Event("moved"));
  }

  actualSize() {
    const { camera } = this;
    this.zoom(1 / camera.k);
  }

  #moved() {
    this.draw();
    this.dispatchEvent(new Event("moved"));
  }

  #go(view, jump = false) {
    if (jump || this.scene.still) this.camera.jump(view);
    else this.camera.fly(view, performance.now());
    this.#moved();
  }

  #measure() {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    const before = [this.camera.w, this.camera.h];
    this.#ratio = globalThis.devicePixelRatio || 1;
    this.camera.w = clientWidth;
    this.camera.h = clientHeight;
    this.#canvas.width = Math.round(clientWidth * this.#ratio);
    this.#canvas.height = Math.round(clientHeight * this.#ratio);
    this.#reshape();
    if (before[0] <= 1) this.fit({ at: "once" });
    else if (!this.#fitted && !this.selected) this.#go(this.camera.fitting(this.scene.bounds()), true);
    else this.#keepInSight(...before); // the details take their room from the map, and leave it its zoom
    cancelAnimationFrame(this.#frame);
    this.#whole = true; // a canvas that changes its size is empty
    this.#paint(performance.now());
  }

  // A page that has become narrow or wide is laid out again. The details take room from the map alone.
  #reshape() {
    const { clientWidth, clientHeight } = this.#root;
    const shape = clientWidth / Math.max(1, clientHeight);
    if (this.#shape > 0 && Math.abs(Math.log(shape / this.#shape)) < reshapes) return;
    this.#shape = shape;
    this.dispatchEvent(new CustomEvent("reshape", { detail: { w: this.camera.w, h: this.camera.h } }));
  }

  // Keeps a visible selection in view when the map becomes smaller.
  #keepInSight(w, h) {
    const { camera } = this;
    const rect = this.selected && this.scene.rect(this.selected);
    if (!rect || camera.flies) return;
    const [x, y] = camera.toScreen(rect.x, rect.y);
    const [right, bottom] = [x + rect.w * camera.k, y + rect.h * camera.k];
    if (right < 0 || bottom < 0 || x > w || y > h) return;
    camera.pan(Math.min(0, camera.w - right - 16), Math.min(0, camera.h - bottom - 16));
  }

  #paint(now) {
    this.#frame = 0;
    const flying = this.camera.step(now);
    const { dirt, moves, fades } = this.scene.dirt(now, this.camera.k >= levels.cards);
    // Lines to other boxes pass through all that is between.
    const bound = moves && this.bundles.length > 0;
    const strips = this.#whole || flying || bound ? undefined : this.#slide(dirt);
    const regions = strips && regionsOf(dirt, this.camera, this.#ratio)?.concat(strips);
    this.#slid = { x: 0, y: 0 };
    this.#whole = false;
    const context = this.#context;
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    const options = { selected: this.selected, hovered: this.hovered, lit: this.lit, past: this.past, bundles: this.bundles, now };
    if (!regions) this.painted = paint(context, this.scene, this.camera, this.theme, options);
    else for (const region of regions) this.#repaint(region, options);
    if (!regions || regions.length > 0) this.frames++;
    if (flying) this.draw();
    else if (moves && now - this.#acted < unattended.after) this.#ask();
    else if (moves || fades) this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.#ask();
    }, moves ? unattended.moves : this.scene.still ? 500 : unattended.fades);
    if (flying) this.dispatchEvent(new Event("moved"));
  }

  // Moves what is on the canvas as far as the map was moved, and returns the strips that are left to
  // be painted; undefined: everything is.
  #slide(dirt) {
    const { x, y } = this.#slid;
    if (x === 0 && y === 0) return [];
    const [dx, dy] = [x * this.#ratio, y * this.#ratio];
    const strips = stripsOf(dx, dy, this.camera, this.#ratio);
    if (!strips) return undefined;
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.#canvas, Math.round(dx), Math.round(dy));
    // Titles stick to the edge of the view, and words avoid them, so both are painted again.
    const [now, before] = [this.camera.x, this.camera.x + x / this.camera.k];
    for (const title of this.scene.titlesAt(Math.min(now, before), Math.max(now, before))) dirt.push(title);
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#whole = true;
      this.#ask();
    }, rests);
    return strips;
  }

  #repaint({ x, y, w, h: height, window }, options) {
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(x, y, w, height);
    context.clip();
    this.camera.within(window, () => paint(context, this.scene, this.camera, this.theme, options));
    context.restore();
  }

  #at(event) {
    const box = this.#canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #hit(event) {
    const [px, py] = this.#at(event);
    return this.scene.at(...this.camera.toPlane(px, py));
  }

  #tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  #listen() {
    const canvas = this.#canvas;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      if (event.shiftKey) this.pan(-event.deltaY * unit, 0);
      else this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY * unit)) * (event.ctrlKey ? 0.01 : 0.0022)), ...this.#at(event));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, far: 0 });
    });
    canvas.addEventListener("pointermove", (event) => this.#drag(event));
    const up = (event) => {
      const pointer = this.#pointers.get(event.pointerId);
      this.#pointers.delete(event.pointerId);
      canvas.classList.remove("dragging");
      if (pointer && pointer.far < 5 && event.type === "pointerup") this.#tell("pick", this.#hit(event));
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => this.#hover(undefined));
    canvas.addEventListener("dblclick", (event) => this.#tell("enter", this.#hit(event)));
  }

  #drag(event) {
    const pointer = this.#pointers.get(event.pointerId);
    if (!pointer) {
      this.#hover(this.#hit(event), event);
      return;
    }
    const [dx, dy] = [event.clientX - pointer.x, event.clientY - pointer.y];
    if (this.#pointers.size === 2) {
      const [a, b] = [...this.#pointers.values()];
      const before = Math.hypot(a.x - b.x, a.y - b.y);
      Object.assign(pointer, { x: event.clientX, y: event.clientY, far: 99 });
      const box = this.#canvas.getBoundingClientRect();
      this.zoom(Math.hypot(a.x - b.x, a.y - b.y) / Math.max(1, before), (a.x + b.x) / 2 - box.left, (a.y + b.y) / 2 - box.top);
      return;
    }
    pointer.far += Math.abs(dx) + Math.abs(dy);
    Object.assign(pointer, { x: event.clientX, y: event.clientY });
    if (pointer.far < 5) return;
    this.#canvas.classList.add("dragging");
    this.pan(dx, dy);
  }

  #hover(hit, event) {
    const key = hit?.card && this.camera.k >= levels.sketch ? hit.card.key : undefined;
    this.#canvas.classList.toggle("over", Boolean(hit?.app));
    this.#tell("hover", { ...hit, x: event?.offsetX, y: event?.offsetY });
    if (key === this.hovered) return;
    this.hovered = key;
    this.draw();
  }
}
