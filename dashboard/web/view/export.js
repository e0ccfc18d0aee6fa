// Writes what is seen, or all of it, into files.
import { Camera } from "./camera.js";
import { h } from "./h.js";
import { paint } from "./paint.js";
import { SVGContext } from "./svg.js";

const largest = 12_000; // pixels of a side

// Formats: label, name at the server, and file extension.
const formats = [["DOT", "dot", "dot"], ["Mermaid", "mermaid", "mmd"], ["GraphML", "graphml", "graphml"]];

export function exportItems(controller) {
  const { options } = controller;
  const name = [options?.namespace, options?.name].filter(Boolean).join("-") || "graph";
  return [
    { label: "Picture of what is seen (PNG)", act: () => savePNG(controller, name, false) },
    { label: "Picture of everything (PNG)", act: () => savePNG(controller, name, true) },
    { label: "Drawing of everything (SVG)", act: () => save(new Blob([toSVG(controller, true)], { type: "image/svg+xml" }), `${name}.svg`) },
    { label: "Table of objects (CSV)", act: async () => save(new Blob([toCSV(await controller.link.ask("table"))], { type: "text/csv" }), `${name}.csv`) },
    ...(options && !options.snapshot ? formats.map(([label, format, extension]) => ({ label: `${label}, from the server`, act: () => saveFormat(controller, format, `${name}.${extension}`) })) : []),
  ];
}

function cameraFor({ map }, whole, k) {
  const camera = new Camera();
  if (!whole) return Object.assign(camera, { x: map.camera.x, y: map.camera.y, k: map.camera.k, w: map.camera.w, h: map.camera.h });
  const bounds = map.scene.bounds();
  const scale = Math.min(k, largest / bounds.w, largest / bounds.h);
  return Object.assign(camera, { k: scale, x: bounds.x - 24 / scale, y: bounds.y - 24 / scale, w: bounds.w * scale + 48, h: bounds.h * scale + 48 });
}

const optionsOf = ({ map }) => ({ selected: map.selected, lit: map.lit, bundles: map.bundles, now: performance.now() });

async function savePNG(controller, name, whole) {
  const { map } = controller;
  const camera = cameraFor(controller, whole, 1);
  const scale = Math.min(2, largest / camera.w, largest / camera.h);
  const canvas = h("canvas", { width: Math.round(camera.w * scale), height: Math.round(camera.h * scale) });
  const context = canvas.getContext("2d", { alpha: false });
  context.scale(scale, scale);
  paint(context, map.scene, camera, map.theme, optionsOf(controller));
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  save(blob, `${name}.png`);
}

/** The drawing as SVG, painted by the same painter. */
export function toSVG(controller, whole) {
  const camera = cameraFor(controller, whole, 1);
  const context = new SVGContext(camera.w, camera.h);
  paint(context, controller.map.scene, camera, controller.map.theme, optionsOf(controller));
  return context.toString();
}

const titles = ["kind", "namespace", "name", "health", "why", "ready", "app", "refers to", "referred to by", "owner"];

/** Rows as CSV. A cell that a spreadsheet would take for a formula is not one. */
export function toCSV(rows) {
  const cell = (value) => {
    const text = String(value ?? "");
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${[titles, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

async function saveFormat(controller, format, file) {
  const response = await controller.request(`?format=${format}`);
  if (response.ok) save(await response.blob(), file);
  else controller.notes.fail(`Export failed: ${response.status}`);
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 30_000);
}
