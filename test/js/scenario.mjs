// A scenario for clients that runs in Node.js and in a page. WebSocket and fetch are given or
// global.
import { Graph, GraphView } from "../../client/js/graphview.js";

// Bounds what is waited for; it is no expectation. On a slow machine it is stretched, as in package patience.
const within = 90_000 * Number(globalThis.process?.env.GRAPHVIEW_PATIENCE || 1);

/** Polls until check returns "", and throws what it last returned. */
export async function eventually(check) {
  const deadline = Date.now() + within;
  for (;;) {
    const why = await check();
    if (why === "") return;
    if (Date.now() > deadline) throw new Error(`after ${within} ms: ${why}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Fetches again where a follower beside this one has had the connection cut. */
async function persistently(url, options) {
  for (let tries = 0; ; tries++) {
    try {
      return await fetch(url, options);
    } catch (error) {
      if (!["UND_ERR_SOCKET", "ECONNRESET"].includes(error.cause?.code) || tries === 5) throw error;
    }
  }
}

/** Makes the front do something. */
export async function control(url, what, body) {
  const response = await persistently(`${url}/control/${what}`, { method: "POST", body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${what}: ${text}`);
  return text;
}

/** The graph as a get has it. */
export async function snapshot({ base, token, namespace, name }) {
  const response = await persistently(`${base}/apis/stream.graphview.dev/v1alpha1/namespaces/${namespace}/graphs/${name}`,
    { headers: { Authorization: `Bearer ${token}` } });
  const message = await response.json();
  if (!response.ok) throw new Error(`snapshot: ${message.message}`);
  const graph = new Graph();
  graph.apply(message);
  return graph;
}

/** How two graphs differ; "" if they do not. */
export function difference(want, got) {
  for (const part of ["vertices", "arcs", "warnings"]) {
    for (const [key, value] of want[part]) {
      if (!got[part].has(key)) return `${part}: ${key} is missing`;
      // A get has no tags of contents.
      const [wanted, gotten] = [value, got[part].get(key)].map(({ c, ...rest }) => JSON.stringify(rest));
      if (wanted !== gotten) return `${part}: ${key} is ${gotten}, want ${wanted}`;
    }
    for (const key of got[part].keys()) if (!want[part].has(key)) return `${part}: ${key} should not be there`;
  }
  return "";
}

/**
 * Follows a view that changes over connections that are cut again and again, and
 * once through a restart of the server, until the graph is that of a get. A
 * second graph is put together from what listeners are told.
 */
export async function follow({ url, cuts = 5, restart = false, ...options }) {
  const told = new Graph();
  const counts = { connections: 0, revs: 0, resets: 0, errors: 0, closed: 0 };
  const view = new GraphView({ minDelay: 20, maxDelay: 500, ...options });
  view.addEventListener("synced", () => { counts.connections++; });
  view.addEventListener("rev", ({ detail }) => {
    counts.revs++;
    if (detail.reset) counts.resets++;
    told.apply({ actions: detail.actions, reset: detail.reset });
  });
  view.addEventListener("error", ({ detail }) => {
    counts.errors++;
    if (detail.retryIn === undefined) throw new Error(`gave up: ${detail.code} ${detail.reason} ${detail.message}`);
  });
  view.addEventListener("close", () => { counts.closed++; });
  const connected = (times) => eventually(() => (counts.connections >= times ? "" : `connected ${counts.connections} times, want ${times}`));
  try {
    for (let times = 1; times <= cuts; times++) {
      await connected(times);
      await control(url, "change?n=5");
      if (restart && times === cuts) await control(url, "restart");
      else await control(url, "cut");
      await control(url, "change?n=5");
    }
    await connected(cuts + 1);
    await eventually(async () => {
      const want = await snapshot(options);
      return difference(want, view.graph) || difference({ ...want, warnings: new Map() }, { ...told, warnings: new Map() });
    });
  } finally {
    view.stop();
  }
  return { ...counts, vertices: view.graph.vertices.size, arcs: view.graph.arcs.size };
}

/** Follows what cannot be followed, and returns what was said in the end. */
export function ending(options, during = () => {}) {
  return new Promise((resolve, reject) => {
    const view = new GraphView({ minDelay: 20, maxDelay: 500, ...options });
    const events = [];
    const timer = setTimeout(() => {
      view.stop();
      reject(new Error(`no end: ${JSON.stringify(events)}`));
    }, within);
    view.addEventListener("error", ({ detail }) => events.push(detail));
    view.addEventListener("synced", () => during());
    view.addEventListener("close", ({ detail }) => {
      clearTimeout(timer);
      resolve({ ...detail, errors: events });
    });
  });
}
