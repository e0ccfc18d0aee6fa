// A whole graph with React Flow, which renders only the visible elements.
import "@xyflow/react/dist/style.css";
import { ReactFlow, useReactFlow, ReactFlowProvider } from "@xyflow/react";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";

const { nodes, edges } = await globalThis.graph;

function Handles() {
  const flow = useReactFlow();
  useEffect(() => {
    globalThis.move = (dx, dy) => {
      const { x, y, zoom } = flow.getViewport();
      flow.setViewport({ x: x + dx, y: y + dy, zoom });
    };
    globalThis.near = () => flow.setViewport({ x: 0, y: 0, zoom: 1 });
  }, [flow]);
  return null;
}

createRoot(document.querySelector("#root")).render(
  <ReactFlowProvider>
    <ReactFlow defaultNodes={nodes.map(({ id, label, x, y }) => ({ id, position: { x, y }, width: 208, height: 40, data: { label } }))} defaultEdges={edges}
      fitView minZoom={0.01} onlyRenderVisibleElements nodesDraggable={false} nodesFocusable={false} edgesFocusable={false} onInit={globalThis.drawn}>
      <Handles />
    </ReactFlow>
  </ReactFlowProvider>,
);
