// A tab of Backstage, or of any page in React, that shows a graph.
import "graph-view"; // bin/graph-view.js, of make dashboard-bundle
import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

const actionsOf = ({ kind, name }) => [{ label: `Open ${kind}`, act() { document.title = name; } }];

function GraphTab({ view }) {
  const element = useRef(null);
  const [selected, setSelected] = useState("");
  useEffect(() => {
    const { current } = element;
    const listen = ({ detail }) => setSelected(detail.key ?? "");
    current.addEventListener("select", listen);
    return () => current.removeEventListener("select", listen);
  }, []);
  return (
    <>
      <graph-view ref={element} view={view} actions={actionsOf} base={`${location.origin}/api/proxy/graphview`} transport="events" style={{ display: "block", height: "70vh" }} />
      <p id="selected">{selected}</p>
    </>
  );
}

function Page() {
  const [view, setView] = useState("busy/view");
  return (
    <>
      <button onClick={() => setView("large/view")}>large</button>
      <button onClick={() => setView("")}>none</button>
      {view && <GraphTab view={view} />}
    </>
  );
}

createRoot(document.getElementById("root")).render(<Page />);
