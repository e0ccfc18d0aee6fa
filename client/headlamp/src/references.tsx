// The references of an object, in three tables.
import { SimpleTable, StatusLabel } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import Typography from "@mui/material/Typography";
import type { ReactNode } from "react";
import { healthAt, vertexKey, type Arc, type Key, type Summary } from "../../js/graphview.js";
import type { Snapshot } from "../../js/store.js";
import { ObjectLink } from "./links";

export interface Reference {
  object: Key;
  words: string;
  /** Why the object may not be there, "" if it is. */
  absent: string;
  summary?: Summary;
}

export interface AllReferences {
  uses: Reference[];
  usedBy: Reference[];
  missing: Reference[];
}

/** How an object is found, and what it is called. */
export interface Where {
  cluster: string;
  /** The namespace of the page, which links do not repeat. */
  home?: string;
  kindOf(key: Key): string;
}

// The words of an arc read from its source to its destination.
const wordsOf = ({ t, a }: Arc, forward: boolean) => {
  return (t === "or" ? "owned by" : (a?.w ?? a?.f ?? []).join(", ")) + (forward ? "" : " this");
};

const absences = { outside: "outside the view", unknown: "not read by the view" };

/** Divides the arcs of an object. A reference is missing if its destination does not exist; an optional one is then among those that are used. */
export function referencesOf(object: Key, { arcs, vertices }: Snapshot): AllReferences {
  const all: AllReferences = { uses: [], usedBy: [], missing: [] };
  const self = vertexKey(object);
  for (const arc of arcs.values()) {
    const { e, x, o } = arc.a ?? {};
    if (vertexKey(arc.s) === self) {
      const absent = !e ? "" : x ? absences[x] : o ? "does not exist, optional" : "missing";
      const reference = { object: arc.d, words: wordsOf(arc, true), absent, summary: vertices.get(vertexKey(arc.d))?.m };
      (absent === "missing" ? all.missing : all.uses).push(reference);
    } else if (vertexKey(arc.d) === self) {
      all.usedBy.push({ object: arc.s, words: wordsOf(arc, false), absent: "", summary: vertices.get(vertexKey(arc.s))?.m });
    }
  }
  const order = (a: Reference, b: Reference) => a.words.localeCompare(b.words) || a.object.n.localeCompare(b.object.n, undefined, { numeric: true });
  for (const part of Object.values(all)) part.sort(order);
  return all;
}

const status = { ok: "success", suspended: "", unknown: "", terminating: "warning", progressing: "warning", degraded: "error" } as const;

/** The health of an object, or why there is none. */
export function Health({ summary, absent }: Pick<Reference, "summary" | "absent">) {
  if (absent) return <StatusLabel status={absent === "missing" ? "error" : ""}>{absent}</StatusLabel>;
  if (!summary) return null;
  const { health, why } = healthAt(summary, Date.now());
  return health === "unknown" ? null : <StatusLabel status={status[health]}>{why && health !== "ok" ? `${health}: ${why}` : health}</StatusLabel>;
}

/** A table with a title, or a sentence in its place. */
export function Part({ title, rows, none, columns }: { title: string; rows: unknown[]; none: string; columns: { label: string; getter: (row: any) => ReactNode; gridTemplate?: string }[] }) {
  return (
    <section aria-label={title} style={{ marginBottom: "1.5rem" }}>
      <Typography variant="h6" component="h3">{title}{rows.length > 0 ? ` (${rows.length})` : ""}</Typography>
      {rows.length > 0 ? <SimpleTable columns={columns} data={rows as object[]} rowsPerPage={[15, 50, 200]} showPagination={rows.length > 15} /> : <Typography color="text.secondary">{none}</Typography>}
    </section>
  );
}

export function References({ uses, usedBy, missing, ...where }: AllReferences & Where) {
  const columns = [
    { label: "How", getter: ({ words }: Reference) => words, gridTemplate: "1fr" },
    { label: "Object", getter: ({ object, absent }: Reference) => <ObjectLink object={object} kind={where.kindOf(object)} cluster={where.cluster} home={where.home} missing={absent === "missing" || absent.endsWith("optional")} />, gridTemplate: "2fr" },
    { label: "Health", getter: (reference: Reference) => <Health {...reference} />, gridTemplate: "1fr" },
  ];
  return (
    <>
      {missing.length > 0 && <Part title="Missing" rows={missing} none="" columns={columns} />}
      <Part title="Uses" rows={uses} none="It refers to no other object." columns={columns} />
      <Part title="Used by" rows={usedBy} none="No object that you may see refers to it." columns={[columns[1], columns[0], columns[2]]} />
    </>
  );
}
