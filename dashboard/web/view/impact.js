// What the deletion of an object does, as the server computes it.
import { within } from "../model/clusters.js";
import { counted } from "../model/kinds.js";
import { keyOf } from "../model/store.js";
import { h } from "./h.js";

const mostLeftOut = 16;

/** Returns the rows for an answer, {answer} or {error}. list makes those of several objects, and again asks the server again. */
export function impactRows({ answer, error, cluster }, outdated, list, again) {
  if (!answer) return [h("p", {}, error)];
  const { groups, counts, unseen, leftOut = [] } = answer;
  const more = (...parts) => h("p", { class: "more" }, ...parts);
  const button = h("button", { type: "button", onclick: again }, "Ask again");
  button.dataset.id = "impact again";
  return [h("h3", {}, "if it is deleted"),
    outdated ? h("div", { class: "actions" }, more("The graph has changed since."), button) : "",
    ...[...new Set(groups.map(({ verdict }) => verdict))].filter((verdict) => verdict !== "unaffected").flatMap((verdict) => list(verdict, verdict, groups.filter((group) => group.verdict === verdict).flatMap(({ kind, objects, path, holds, again: maker }) =>
      objects.map((o) => ({ key: keyOf(cluster === undefined ? o : within(cluster, o)), kind, resource: o.r, name: o.n, present: true, words: path[0]?.w, why: holds ? "held" : maker && "made again" }))))),
    more(`${counted(counts.unaffected ?? 0, "object")} unaffected in this view${unseen ? `; ${counted(unseen, "referrer")} outside it` : ""}.`),
    ...leftOut.slice(0, mostLeftOut).map((line) => more(line)), leftOut.length > mostLeftOut ? more(`and ${leftOut.length - mostLeftOut} more`) : ""];
}
