// Follows the graph of a GraphView, in browsers and in Node.js, without
// dependencies. The protocol is described in docs/stream.md, the types in
// graphview.d.ts.

const group = "/apis/stream.graphview.dev/v1alpha1";
const subprotocol = "graphview.v1";
const bearerSubprotocol = "base64url.bearer.authorization.k8s.io.";

/** The identity of a vertex, as a string. No two vertices have the same. */
export const vertexKey = (v) => JSON.stringify([v.g, v.v, v.r, v.ns ?? "", v.n]);

/** The identity of an arc, as a string. */
export const arcKey = (a) => JSON.stringify([vertexKey(a.s), a.t, vertexKey(a.d)]);

/** The identity of a warning, as a string. */
export const warningKey = (w) => JSON.stringify([w.t, sorted(w.a ?? {})]);

/** The name of an object as a root: RESOURCE.GROUP/NAMESPACE/NAME. */
const rootName = (k) => typeof k === "string" ? k : `${k.r}${k.g && "." + k.g}/${k.ns ? k.ns + "/" : ""}${k.n}`;

const addPart = (query, { content, roots, direction, depth }) => {
  if (content) query.set("content", content);
  for (const root of roots ?? []) query.append("root", rootName(root));
  if (direction) query.set("direction", direction);
  if (depth) query.set("depth", String(depth));
};

const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.keys(value).sort().map((key) => [key, sorted(value[key])]);
};

/** A graph that is kept up to date by the messages of a stream. */
export class Graph {
  vertices = new Map(); // by vertexKey: {vx, o} or {vx, j} or {vx}
  arcs = new Map(); // by arcKey: {s, d, t, a}
  warnings = new Map(); // by warningKey: {t, m, a}
  rev = "";
  synced = false;
  #kinds = new Map(); // by group and resource
  #ends; // by vertexKey: the arcs that begin and end there, by arcKey; made when asked for

  /** Carries out one message, or takes in the answer to a get. */
  apply(message) {
    if (message.reset) this.forget();
    for (const { svx, dvx, sarc, darc } of message.actions ?? []) {
      if (svx) this.vertices.set(vertexKey(svx.vx), svx);
      else if (dvx) this.vertices.delete(vertexKey(dvx.vx));
      else if (sarc) this.#setArc(arcKey(sarc), sarc);
      else if (darc) this.#deleteArc(arcKey(darc), darc);
    }
    for (const w of message.cleared ?? []) this.warnings.delete(warningKey(w));
    for (const w of message.warnings ?? []) this.warnings.set(warningKey(w), w);
    for (const { g, r, k } of message.kinds ?? []) this.#kinds.set(`${g}/${r}`, k);
    if (message.synced) this.synced = true;
    if (message.rev) this.rev = message.rev;
  }

  /** The kind of a vertex, or of what an arc leads to; undefined where the server does not say. */
  kind({ g, r }) {
    return this.#kinds.get(`${g}/${r}`);
  }

  /** The arcs that begin at a vertex. */
  out(key) {
    return [...(this.#endsOf(key)?.out.values() ?? [])];
  }

  /** The arcs that end at a vertex. */
  in(key) {
    return [...(this.#endsOf(key)?.in.values() ?? [])];
  }

  #setArc(key, arc) {
    this.arcs.set(key, arc);
    this.#index(key, arc);
  }

  #deleteArc(key, { s, d }) {
    this.arcs.delete(key);
    for (const [vertex, side] of [[s, "out"], [d, "in"]]) {
      const ends = this.#ends?.get(vertexKey(vertex));
      ends?.[side].delete(key);
      if (ends && ends.out.size + ends.in.size === 0) this.#ends.delete(vertexKey(vertex));
    }
  }

  #endsOf(key) {
    if (!this.#ends) {
      this.#ends = new Map();
      for (const [name, arc] of this.arcs) this.#index(name, arc);
    }
    return this.#ends.get(typeof key === "string" ? key : vertexKey(key));
  }

  #index(key, arc) {
    if (!this.#ends) return;
    for (const [vertex, side] of [[arc.s, "out"], [arc.d, "in"]]) {
      const name = vertexKey(vertex);
      if (!this.#ends.has(name)) this.#ends.set(name, { out: new Map(), in: new Map() });
      this.#ends.get(name)[side].set(key, arc);
    }
  }

  /** Forgets everything. */
  forget() {
    this.vertices.clear();
    this.arcs.clear();
    this.#ends = undefined;
    this.reconnected();
    this.rev = "";
  }

  /** Prepares for a new connection, which sends all live warnings and synced again. */
  reconnected() {
    this.warnings.clear();
    this.synced = false;
  }
}

/** What the listeners of a GraphView get: detail says what happened. */
export class GraphViewEvent extends Event {
  constructor(type, detail) {
    super(type);
    this.detail = detail;
  }
}

/** Why a request was refused: code is HTTP's, or 1006 if there was no answer; reason is the Status'. */
export class GraphViewError extends Error {
  constructor(code, reason, message) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

const httpBase = (base) => base.replace(/\/+$/, "").replace(/^ws/, "http") + group;

const ask = async ({ base = globalThis.location?.origin, token, fetch = globalThis.fetch, signal }, path) => {
  if (!base) throw new TypeError("base is required");
  const secret = typeof token === "function" ? await token() : token;
  const response = await fetch(httpBase(base) + path, { headers: { ...headers(secret), Accept: "application/json" }, signal });
  if (response.ok) return response.json();
  const status = await response.json().catch(() => undefined);
  throw new GraphViewError(response.status, status?.reason ?? "", status?.message ?? response.statusText);
};

/** The graphs of a namespace, or of all: namespace, name, vertices, arcs, roots, subscribers, synced. */
export async function listGraphs(options = {}) {
  const { namespace } = options;
  const list = await ask(options, (namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "") + "/graphs");
  return (list.items ?? []).map(({ metadata, vertices, arcs, roots, subscribers, synced = false }) =>
    ({ namespace: metadata.namespace, name: metadata.name, vertices, arcs, roots, subscribers, synced }));
}

/** One graph as it is now, of whose objects content is there: "object", "summary" or "none". */
export async function getGraph(options) {
  const { namespace, name } = options;
  const graph = new Graph();
  const query = new URLSearchParams();
  addPart(query, options);
  graph.apply(await ask(options, `/namespaces/${encodeURIComponent(namespace)}/graphs/${encodeURIComponent(name)}${query.size ? `?${query}` : ""}`));
  return graph;
}

/** One object of a graph, with its summary and its arcs. A code of 404 is also for what may not be seen. */
export async function getObject({ key, ...options }) {
  const { namespace, name } = options;
  const query = new URLSearchParams({ group: key.g, version: key.v ?? "", resource: key.r, namespace: key.ns ?? "", name: key.n });
  return ask(options, `/namespaces/${encodeURIComponent(namespace)}/graphs/${encodeURIComponent(name)}/object?${query}`);
}

// Where WebSockets do not get through, by base, and since when: in something between here and there, which
// will be the same for the next view, and on the next page.
const withoutSockets = new Map();
const again = 600_000; // ms after which they are tried once more
const stored = (base) => `graphview without sockets ${base}`;

const socketsFail = (base) => {
  withoutSockets.set(base, Date.now());
  try { globalThis.sessionStorage?.setItem(stored(base), String(Date.now())); } catch { /* not on this page */ }
};

const socketsFailed = (base) => {
  let since = withoutSockets.get(base) ?? 0;
  try { since = Math.max(since, Number(globalThis.sessionStorage?.getItem(stored(base)) ?? 0)); } catch { /* not on this page */ }
  return Date.now() - since < again;
};

// Ends after which nothing changes unless somebody acts. Of a request that is
// refused, the same in HTTP's codes.
const final = new Set([1000, 1007, 1008, 400, 401, 403, 404, 405, 406, 422]);
// Those that a new token may mend. In front of the operator there may be others, with words of their own.
const aboutToken = (code, reason) => reason === "Unauthorized" || code === 401;
// Of a limit, or of who has been let in before and is not now: they take their time.
const patient = new Set([1013, 429, 503, 401, 403]);
// What a server says that is starting or whose own server is away, of somebody who has been let in before.
const passes = new Set([401, 403]);
// A socket on which there have been heartbeats, every 20 s of silence, and then nothing, is dead.
const silentFor = 90_000;

/** Follows one view until it is stopped or the server says that there is no more. */
export class GraphView extends EventTarget {
  /** The graph. At a `rev` event, and only then, it is that of the view at one instant. */
  graph = new Graph();

  #options;
  #ended = false;
  #delay;
  #timer;
  #disconnect = () => {};
  #actions = []; // since the last rev
  #reset = false; // they begin with nothing
  #welcome = true; // there was a rev since a token was refused
  #known = false; // there was one at all

  /** Begins at the end of the present turn, so that listeners can be added. */
  constructor(options) {
    super();
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    this.#options = {
      base: globalThis.location?.origin, minDelay: 500, maxDelay: 30_000, random: Math.random,
      WebSocket: globalThis.WebSocket, fetch: globalThis.fetch?.bind(globalThis), ...given,
    };
    const { base, namespace, name, request, connection } = this.#options;
    if (request && !connection) throw new TypeError("a request needs a connection");
    if (!request && (!namespace || !name)) throw new TypeError("namespace and name are required");
    if (!connection) {
      if (!base) throw new TypeError("base is required");
      new URL(this.#url(false)); // throws now rather than later
    }
    this.#delay = this.#options.minDelay;
    queueMicrotask(() => this.#connect());
  }

  /** The graph is that of the view at one instant, as it is at a `rev` event. */
  get whole() {
    return this.graph.rev !== "" && !this.#reset && this.#actions.length === 0;
  }

  /** Ends the stream for good. The graph stays as it is. */
  stop() {
    this.#end(1000, "Stopped", "stopped");
  }

  #end(code, reason, message) {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#disconnect();
    this.#emit("close", { code, reason, message });
  }

  #emit(type, detail) {
    if (this.#ended && type !== "close") return; // a listener stopped it
    this.dispatchEvent(new GraphViewEvent(type, detail));
  }

  #url(watch, heartbeats) {
    const { base, namespace, name } = this.#options;
    const path = `/namespaces/${encodeURIComponent(namespace)}/graphs/${encodeURIComponent(name)}`;
    const query = new URLSearchParams();
    if (heartbeats) query.set("heartbeats", "1");
    addPart(query, this.#options);
    if (watch && this.graph.rev) query.set("since", this.graph.rev);
    return httpBase(base) + (watch ? "/watch" : "") + path + (query.size ? `?${query}` : "");
  }

  async #connect() {
    if (this.#ended) return;
    if (!this.graph.rev || this.#options.request) this.graph.forget(); // there is nothing to continue, and what came before the first rev is worth nothing
    this.graph.reconnected();
    this.#actions = [];
    this.#reset = !this.graph.rev;
    let said; // the error of the stream's last message
    let lost = false; // only once, whoever sees it first
    const lose = (code, text, reason = "", at) => {
      if (lost || this.#ended) return;
      lost = true;
      this.#disconnect();
      this.#lost(said?.code ?? code, said?.reason ?? reason, said?.message ?? text, at);
    };
    const message = (text) => {
      if (lost || this.#ended) return;
      const parsed = typeof text === "string" ? JSON.parse(text) : text;
      said = parsed.error;
      this.#apply(parsed);
    };
    try {
      const { base, token, transport, connection } = this.#options;
      if (connection) return this.#openChannel(connection, message, lose);
      const secret = typeof token === "function" ? await token() : token;
      if (this.#ended) return;
      // Something in between may not let WebSockets through, or the server not this page's.
      const events = transport === "events" || (!transport && (!this.#options.WebSocket || socketsFailed(base)));
      if (events) await this.#openEvents(secret, message, lose);
      else this.#openSocket(secret, message, lose);
    } catch (error) {
      lose(1006, error.message);
    }
  }

  #apply(message) {
    if (message.reset) {
      this.#reset = true;
      this.#actions = [];
    }
    this.graph.apply(message);
    for (const action of message.actions ?? []) this.#actions.push(action);
    const { warnings = [], cleared = [], rev, synced } = message;
    if (warnings.length + cleared.length > 0) this.#emit("warning", { warnings, cleared });
    if (rev) {
      this.#delay = this.#options.minDelay;
      this.#welcome = this.#known = true;
      const detail = { rev, reset: this.#reset, actions: this.#actions };
      this.#actions = [];
      this.#reset = false;
      this.#emit("rev", detail);
    }
    if (synced) this.#emit("synced", { rev: this.graph.rev });
  }

  // A connection was lost: another one, at once if at is 0, or the end.
  #lost(code, reason, message, at) {
    const { token, minDelay, maxDelay, random } = this.#options;
    const renewed = aboutToken(code, reason);
    const again = renewed && (typeof token === "function" || this.#options.connection) && this.#welcome;
    if (renewed) this.#welcome = false;
    // Who has been let in may be let in again: with a new token, or when the server has started.
    const waits = this.#known && (passes.has(code) || (renewed && typeof token === "function"));
    if (final.has(code) && !again && !waits) {
      if (code !== 1000) this.#emit("error", { code, reason, message });
      this.#end(code, reason, message);
      return;
    }
    const retryIn = at ?? (again && this.#known ? 0 : this.#delay * (0.5 + random()));
    this.#delay = Math.min(2 * this.#delay, patient.has(code) || renewed ? 4 * maxDelay : Math.max(minDelay, maxDelay));
    this.#timer = setTimeout(() => this.#connect(), retryIn);
    this.#emit("error", { code, reason, message, retryIn });
  }

  #openChannel(connection, message, lose) {
    const { namespace, name, request, content, roots, direction, depth } = this.#options;
    const since = this.graph.rev || undefined;
    this.#disconnect = () => { this.#disconnect = () => {}; };
    const leave = connection.subscribe(request ? { request, content } : { namespace, name, since, content, roots: roots?.map(rootName), direction, depth }, { message, lose });
    this.#disconnect = () => {
      this.#disconnect = () => {};
      leave();
    };
  }

  #openSocket(token, message, lose) {
    const protocols = bearerProtocols(subprotocol, token);
    const socket = new this.#options.WebSocket(this.#url(true, true).replace(/^http/, "ws"), protocols);
    let watchdog;
    this.#disconnect = () => {
      this.#disconnect = () => {};
      clearTimeout(watchdog);
      socket.close();
    };
    let opened = false;
    let over = false;
    const closed = async (code, text) => {
      if (over) return;
      over = true;
      // A handshake that was refused is not explained to a socket.
      const refused = opened || this.#ended ? undefined : await this.#refused(token);
      const { base, transport } = this.#options;
      const falls = refused?.served && !transport; // events get through
      if (falls) socketsFail(base);
      lose(refused?.code ?? code, refused?.message ?? text, refused?.reason, falls ? 0 : undefined);
    };
    socket.onopen = () => {
      opened = true;
      withoutSockets.delete(this.#options.base);
    };
    socket.onmessage = (event) => {
      if (event.data === "{}" || watchdog) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => closed(1006, "nothing came for a while"), silentFor);
      }
      try {
        message(event.data);
      } catch (error) {
        closed(1006, error.message);
      }
    };
    socket.onclose = (event) => closed(event.code, event.reason || "the connection was lost");
    // Not every runtime has a close event for a connection that never was.
    socket.onerror = () => { if (!opened) closed(1006, "the connection failed"); };
  }

  // Asks for the graph, only to learn why it is refused, or that it is not.
  async #refused(token) {
    const abort = new AbortController();
    try {
      const response = await this.#options.fetch(this.#url(false), { headers: headers(token), signal: abort.signal });
      return response.ok ? { served: true } : await response.json();
    } catch {
      return undefined;
    } finally {
      abort.abort();
    }
  }

  async #openEvents(token, message, lose) {
    const abort = new AbortController();
    // After 20 s of silence there is a comment; where there is none, nobody is there.
    let watchdog;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), 60_000);
    };
    this.#disconnect = () => {
      this.#disconnect = () => {};
      clearTimeout(watchdog);
      abort.abort();
    };
    try {
      alive();
      const response = await this.#options.fetch(this.#url(true), {
        headers: { ...headers(token), Accept: "text/event-stream" }, signal: abort.signal, cache: "no-store",
      });
      if (!response.ok) {
        const status = await response.json().catch(() => undefined);
        lose(response.status, status?.message ?? response.statusText, status?.reason);
        return;
      }
      const text = new TextDecoder();
      const reader = response.body.getReader();
      let rest = ""; // of an event that is not whole
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        alive();
        let from = Math.max(0, rest.length - 1);
        rest += text.decode(part.value, { stream: true });
        for (let end; (end = rest.indexOf("\n\n", from)) >= 0; from = 0) {
          const data = rest.slice(0, end).split("\n").find((line) => line.startsWith("data: "));
          if (data) message(data.slice("data: ".length));
          rest = rest.slice(end + 2);
        }
      }
      lose(1006, "the connection was lost");
    } finally {
      clearTimeout(watchdog);
    }
  }
}

const headers = (token) => (token ? { Authorization: `Bearer ${token}` } : {});

const bearerProtocols = (protocol, token) => (token ? [protocol, bearerSubprotocol + base64url(token)] : [protocol]);

const base64url = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** For the other modules here alone. */
export const internals = { bearerProtocols, headers, httpBase };
