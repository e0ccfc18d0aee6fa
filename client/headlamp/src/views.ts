// Which graphs a cluster serves, and which of them has an object.
import { GraphViewError, getObject, listGraphs, type Key, type Listed, type Place } from "../../js/graphview.js";

/** The cluster has no operator. */
export class NotInstalled extends Error {}

/** The command that installs the operator. */
export const install = "helm upgrade --install graphview charts/graphview --namespace graphview-system --create-namespace";

const discovery = "/apis/stream.graphview.dev/v1alpha1";
const isCode = (error: unknown, ...codes: number[]) => error instanceof GraphViewError && codes.includes(error.code);

/**
 * Returns the graphs of a cluster that the user may list: all of them, or without that right those of some namespaces. Throws
 * NotInstalled, or the GraphViewError of the last refusal.
 */
export async function listViews(place: Required<Pick<Place, "base" | "fetch">>, namespaces: string[], signal?: AbortSignal): Promise<Listed[]> {
  const views: Listed[] = [];
  let refusal: unknown;
  let answered = false;
  for (const namespace of [undefined, ...namespaces]) {
    try {
      views.push(...await listGraphs({ ...place, namespace, signal }));
      answered = true;
      if (namespace === undefined) break;
    } catch (error) {
      if (isCode(error, 404)) throw new NotInstalled();
      if (!isCode(error, 403)) throw error;
      refusal = error;
    }
  }
  if (answered) return views;
  // The API server also refuses users without rights what is not there. Everybody may ask it for the groups that there are.
  if ((await place.fetch(place.base + discovery, { signal })).status === 404) throw new NotInstalled();
  throw refusal;
}

const fewest = 3; // of other namespaces' views, the largest

/** Returns the largest graph that has an object. Throws what listViews throws. */
export async function findView(place: Required<Pick<Place, "base" | "fetch">>, key: Key, signal?: AbortSignal): Promise<Listed | undefined> {
  const all = (await listViews(place, key.ns ? [key.ns] : [], signal)).sort((a, b) => b.vertices - a.vertices);
  const largest = new Set(all.filter(({ namespace }) => namespace !== key.ns).slice(0, fewest));
  for (const view of all) {
    if (view.namespace !== key.ns && !largest.has(view)) continue;
    try {
      await getObject({ ...place, namespace: view.namespace, name: view.name, key, signal });
      return view;
    } catch (error) {
      if (!isCode(error, 403, 404, 422, 503)) throw error;
    }
  }
  return undefined;
}
