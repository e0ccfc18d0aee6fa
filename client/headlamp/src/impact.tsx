// The effect of an object's deletion on others.
import Typography from "@mui/material/Typography";
import { Fragment } from "react";
import type { GraphImpact, ImpactGroup } from "../../js/graphview.js";
import { StatusLabel } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import { ObjectLink } from "./links";
import { Part, type Where } from "./references";

const status: Record<ImpactGroup["verdict"], "error" | "warning" | ""> = {
  "deleted": "error", "breaks now": "error", "probably breaks": "warning", "cannot start again": "warning", "loses an optional reference": "", "unaffected": "",
};

const shown = 10; // objects of a group

export function Impact({ impact, cluster, home }: Where & { impact: GraphImpact }) {
  // The object itself, which has no path, is only told of if it comes again.
  const groups = impact.groups.filter(({ verdict, path, again }) => verdict !== "unaffected" && (path?.length > 0 || again));
  const columns = [
    { label: "Effect", getter: ({ verdict }: ImpactGroup) => <StatusLabel status={status[verdict]}>{verdict}</StatusLabel>, gridTemplate: "1fr" },
    {
      label: "Objects", gridTemplate: "2fr", getter: ({ objects, kind }: ImpactGroup) => (
        <span>
          {objects.slice(0, shown).map((object, i) => (
            <Fragment key={`${object.ns} ${object.n}`}>{i > 0 && ", "}<ObjectLink object={object} kind={kind} cluster={cluster} home={home} /></Fragment>
          ))}
          {objects.length > shown && ` and ${objects.length - shown} more`}
        </span>
      ),
    },
    { label: "Because", getter: ({ path, again }: ImpactGroup) => again ? `${again.r.replace(/s$/, "")} ${again.n} makes it again` : reasonOf(path), gridTemplate: "1fr" },
  ];
  return (
    <>
      <Part title="If this is deleted" rows={groups} none="Nothing that you may see breaks or is deleted with it." columns={columns} />
      {[...(impact.unseen ? [`${impact.unseen} objects outside the view refer to what is deleted.`] : []), ...(impact.leftOut ?? [])].map((line) => (
        <Typography key={line} variant="body2" color="text.secondary">{line}</Typography>
      ))}
    </>
  );
}

// The first step says how the object depends on the next one.
function reasonOf(path: ImpactGroup["path"]) {
  const step = path?.[0];
  if (!step) return "";
  const { d, s, t, w, f, reversed } = step;
  if (t === "or") return `owned by ${reversed ? s.n : d.n}`;
  if (t === "in") return `in ${d.n}`;
  return `${(w ?? f ?? []).join(", ")} ${d.n}`;
}
