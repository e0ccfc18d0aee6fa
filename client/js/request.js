// Requests: where graphs are, what is asked of them, and who asks.

import { Graph, excludeInferred } from "./graph.js";

const group = "/apis/stream.graphview.dev/v1alpha1";
const bearerSubprotocol = "base64url.bearer.authorization.k8s.io.";

/** The name of an object as a root: RESOURCE.GROUP/NAMESPACE/NAME. */
export const rootName = (k) => typeof k === "string" ? k : `${k.r}${k.g && "." + k.g}/${k.ns ? k.ns + "/" : ""}${k.n}`;

export const addPart = (query, { content, roots, direction, depth }) => {
  if (content) query.set("content", content);
  for (const root of roots ?? []) query.append("root", rootName(root));
  if (direction) query.set("direction", direction);
  if (depth) query.set("depth", String(depth));
};

/** Why a request was refused: code is HTTP's, or 1006 if there was no answer; reason is the Status'. */
export class GraphViewError extends Error {
  constructor(code, reason, message) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

// In a page, a base such as /graphview is one of the page's host.
const absolute = (base) => (globalThis.location ? new URL(base, globalThis.location.href).href : base);

/**
 * Where the graphs of a server are, or those of a cluster of its fleet.
 * @type {(at: { base: string, cluster?: string }) => string}
 */
export const httpBase = ({ base, cluster }) =>
  absolute(base).replace(/\/+$/, "").replace(/^ws/, "http") + group + (cluster ? `/clusters/${encodeURIComponent(cluster)}/proxy${group}` : "");

/** @type {(options: any, path: string) => Promise<any>} */
const ask = async ({ base = globalThis.location?.origin, cluster, token, fetch = globalThis.fetch, signal }, path) => {
  if (!base) throw new TypeError("base is required");
  const secret = typeof token === "function" ? await token() : token;
  const response = await fetch(httpBase({ base, cluster }) + path, { headers: { ...headers(secret), Accept: "application/json" }, signal });
  if (response.ok) return response.json();
  const status = await response.json().catch(() => undefined);
  throw new GraphViewError(response.status, status?.reason ?? "", status?.message ?? response.statusText);
};

/** @type {(graph: any) => string} */
export const graphPath = ({ namespace, name }) => `/namespaces/${encodeURIComponent(namespace)}/graphs/${encodeURIComponent(name)}`;

/** The graphs of a namespace, or of all: namespace, name, vertices, arcs, roots, subscribers, synced. */
export async function listGraphs(/** @type {any} */ options = {}) {
  const { namespace } = options;
  const list = await ask(options, (namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "") + "/graphs");
  return (list.items ?? []).map(({ metadata, vertices, arcs, roots, subscribers, synced = false }) =>
    ({ namespace: metadata.namespace, name: metadata.name, vertices, arcs, roots, subscribers, synced }));
}

// A time is a Date, milliseconds since 1970, or as the server takes it: RFC 3339, or a duration before now such as 2h.
const timeOf = (time) => (typeof time === "string" ? time : new Date(time).toISOString());

/** One graph as it is now, of whose objects content is there: "object", "summary" or "none"; or, with summaries, as it was at a time. */
export async function getGraph(options) {
  const graph = new Graph();
  graph.apply(await getMessage(options));
  return graph;
}

/** Returns the message that has the graph of getGraph. */
export async function getMessage(options) {
  const query = new URLSearchParams();
  addPart(query, options);
  if (options.at !== undefined) query.set("at", timeOf(options.at));
  const message = await ask(options, graphPath(options) + (query.size ? `?${query}` : ""));
  return options.inferred === false ? excludeInferred(message) : message;
}

/** Returns one object of a graph, with its summary and its arcs. The code is 404 also for an object that the user may not see. */
export async function getObject({ key, ...options }) {
  const query = new URLSearchParams({ group: key.g, version: key.v ?? "", resource: key.r, namespace: key.ns ?? "", name: key.n });
  return ask(options, `${graphPath(options)}/object?${query}`);
}

/**
 * Returns the effect of an object's deletion on the other objects of a graph. The policy is that of DeleteOptions:
 * Background (default), Foreground or Orphan. The code is 404 also for an object that the user may not see.
 */
export async function getImpact({ key, policy, inferred, ...options }) {
  const query = new URLSearchParams({ impact: rootName(key) });
  if (policy) query.set("propagationPolicy", policy);
  if (inferred === false) query.set("inferred", "false");
  return ask(options, `${graphPath(options)}?${query}`);
}

/**
 * Returns the changes of a graph, the newest first, or those of an object and, unless alone, of all objects that it leads to. The code
 * is 404 also where the server records no changes.
 */
export async function getChanges({ key, since, until, alone, limit, ...options }) {
  const query = new URLSearchParams({ changes: key ? rootName(key) : "" });
  if (since !== undefined) query.set("since", timeOf(since));
  if (until !== undefined) query.set("until", timeOf(until));
  if (alone) query.set("alone", "true");
  if (limit) query.set("limit", String(limit));
  const answer = await ask(options, `${graphPath(options)}?${query}`);
  if (!answer.changes) throw new GraphViewError(404, "NotFound", "the server is of a version without a history"); // and sent its graph
  return answer;
}

export const headers = (token) => (token ? { Authorization: `Bearer ${token}` } : {});

export const bearerProtocols = (protocol, token) => (token ? [protocol, bearerSubprotocol + base64url(token)] : [protocol]);

const base64url = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
