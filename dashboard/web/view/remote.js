// What an object refers to in other clusters, and a view there that may have it.
import { clusterOf } from "../model/clusters.js";
import { plural } from "../model/kinds.js";

const patience = "?timeout=5s";

/** Returns the ends of references to other clusters, for a list. */
export async function remoteEnds({ remote, ns: at }, controller) {
  const cluster = clusterOf(at) ?? controller.options.cluster;
  const answer = await controller.fetch(undefined, "/clusters").then((response) => (response.ok ? response.json() : {})).catch(() => ({}));
  return remote.map(({ d, k, ns, n }, i) => {
    const alias = cluster ? `${cluster}/${d}` : d;
    const links = (answer.items ?? []).filter(({ aliases }) => aliases?.includes(alias));
    const link = links.length === 1 ? links[0].metadata.name : undefined;
    const place = [link, ns, n].filter(Boolean).join("/");
    return {
      key: `remote ${i}`, kind: k ?? "cluster", resource: k && plural(k).toLowerCase(), role: "other", name: place || d, present: true, words: [], why: link || !k ? "" : `in ${d}`,
      act: () => (link ? follow(controller, link, ns, n) : controller.speaker.say(`No ClusterLink that you may list has the alias ${alias}.`)),
    };
  });
}

// Shows a view of the cluster: of the object's namespace, if there is one.
async function follow(controller, cluster, namespace, name = "") {
  if (controller.options.views?.some((place) => place.cluster === cluster)) { // it is in the picture
    controller.toolbar.setSearch(name || cluster);
    controller.search(name || cluster);
    return;
  }
  const response = await controller.fetch(cluster, `/graphs${patience}`).catch(() => undefined);
  const { items = [] } = response?.ok ? await response.json() : {};
  const { metadata } = items.find((item) => item.metadata.namespace === namespace) ?? items[0] ?? {};
  if (metadata) controller.follow(`${cluster}:${metadata.namespace}/${metadata.name}`, name);
  else controller.speaker.say(response?.ok ? `There is no view in ${cluster}.` : response?.status === 403 ? `You may not list the views of ${cluster}.` : `${cluster} does not answer.`);
}
