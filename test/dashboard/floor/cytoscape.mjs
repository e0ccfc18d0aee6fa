// All of a graph with cytoscape.js, drawn on a canvas.
import cytoscape from "cytoscape";

const { nodes, edges } = await globalThis.graph;
const graph = cytoscape({
  container: document.querySelector("#root"), layout: { name: "preset" },
  elements: [...nodes.map(({ id, label, x, y }) => ({ data: { id, label }, position: { x, y } })), ...edges.map((data) => ({ data }))],
  style: [{ selector: "node", style: { shape: "round-rectangle", width: 208, height: 40, label: "data(label)", "text-valign": "center", "background-color": "#fff", "border-width": 1 } },
    { selector: "edge", style: { width: 1, "curve-style": "bezier", "target-arrow-shape": "triangle" } }],
});
graph.fit();
globalThis.move = (dx, dy) => graph.panBy({ x: dx, y: dy });
globalThis.near = () => graph.zoom(1);
graph.one("render", globalThis.drawn);
