// What changed lately: the object itself and the objects that it leads to.
import { DateLabel } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import Typography from "@mui/material/Typography";
import type { Change, GraphChanges } from "../../js/graphview.js";
import { ObjectLink } from "./links";
import { Part, type Where } from "./references";

/** A change in words, without the object. */
export function wordsOf({ type, health, paths = [], morePaths = 0, ref, times }: Change): string {
  const words = () => {
    switch (type) {
      case "health": return `${health?.from ?? "unknown"} → ${health?.to ?? "unknown"}${health?.why ? `: ${health.why}` : ""}`;
      case "content": return [...paths.map(({ p, op, b, a }) => b !== undefined || a !== undefined ? `${p}: ${b ?? "–"} → ${a ?? "–"}` : `${p} ${op}`), ...(morePaths ? [`${morePaths} more`] : [])].join(", ");
      case "reference": return `${(ref?.w ?? ref?.f ?? []).join(", ")} ${ref?.k ?? ref?.d.r}/${ref?.d.n}: ${ref?.change}`;
      default: return health?.to && type === "added" ? `${type}, ${health.to}` : type;
    }
  };
  return words() + (times && times > 1 ? ` (${times} times)` : "");
}

export function Changes({ changes, cluster, home }: Where & { changes: GraphChanges }) {
  const columns = [
    { label: "When", getter: ({ t }: Change) => <DateLabel date={t} format="mini" />, gridTemplate: "min-content" },
    { label: "Object", getter: ({ vx, k, type }: Change) => <ObjectLink object={vx} kind={k} cluster={cluster} home={home} missing={type === "removed"} />, gridTemplate: "1fr" },
    { label: "Change", getter: wordsOf, gridTemplate: "2fr" },
  ];
  return (
    <>
      <Part title="What changed in 24 hours" rows={changes.changes} none="Neither this object nor what it leads to." columns={columns} />
      {[...(changes.gaps ?? []).map(({ from, until, why }) => `${from} to ${until}: ${why}`), ...(changes.leftOut ?? [])].map((line) => (
        <Typography key={line} variant="body2" color="text.secondary">{line}</Typography>
      ))}
    </>
  );
}
