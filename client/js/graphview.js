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

  /** Carries out one message, or takes in the answer to a get. */
  apply(message) {
    if (message.reset) this.forget();
    for (const { svx, dvx, sarc, darc } of message.actions ?? []) {
      if (svx) this.vertices.set(vertexKey(svx.vx), svx);
      else if (dvx) this.vertices.delete(vertexKey(dvx.vx));
      else if (sarc) this.arcs.set(arcKey(sarc), sarc);
      else if (darc) this.arcs.delete(arcKey(darc));
    }
    for (const w of message.cleared ?? []) this.warnings.delete(warningKey(w));
    for (const w of message.warnings ?? []) this.warnings.set(warningKey(w), w);
    if (message.synced) this.synced = true;
    if (message.rev) this.rev = message.rev;
  }

  /** Forgets everything. */
  forget() {
    this.vertices.clear();
    this.arcs.clear();
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

// Ends after which nothing changes unless somebody acts. Of a request that is
// refused, the same in HTTP's codes.
const final = new Set([1000, 1007, 1008, 400, 401, 403, 404, 405, 406, 422]);
// Those that a new token may mend. In front of the operator there may be others, with words of their own.
const aboutToken = (code, reason) => reason === "Unauthorized" || code === 401;
// Of a limit, which takes its time.
const patient = new Set([1013, 429, 503]);

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
  #unheard = 0; // WebSockets in a row that did not open though the graph is served

  /** Begins at the end of the present turn, so that listeners can be added. */
  constructor(options) {
    super();
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    this.#options = {
      base: globalThis.location?.origin, minDelay: 500, maxDelay: 30_000, random: Math.random,
      WebSocket: globalThis.WebSocket, fetch: globalThis.fetch?.bind(globalThis), ...given,
    };
    const { base, namespace, name } = this.#options;
    if (!base || !namespace || !name) throw new TypeError("base, namespace and name are required");
    new URL(this.#url(false)); // throws now rather than later
    this.#delay = this.#options.minDelay;
    queueMicrotask(() => this.#connect());
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

  #url(watch) {
    const { base, namespace, name } = this.#options;
    const path = `/namespaces/${encodeURIComponent(namespace)}/graphs/${encodeURIComponent(name)}`;
    const since = watch && this.graph.rev ? `?since=${encodeURIComponent(this.graph.rev)}` : "";
    return base.replace(/\/+$/, "").replace(/^ws/, "http") + group + (watch ? "/watch" : "") + path + since;
  }

  async #connect() {
    if (this.#ended) return;
    if (!this.graph.rev) this.graph.forget(); // what came before the first rev is worth nothing
    this.graph.reconnected();
    this.#actions = [];
    this.#reset = !this.graph.rev;
    let said; // the error of the stream's last message
    let lost = false; // only once, whoever sees it first
    const lose = (code, text, reason = "") => {
      if (lost || this.#ended) return;
      lost = true;
      this.#disconnect();
      this.#lost(said?.code ?? code, said?.reason ?? reason, said?.message ?? text);
    };
    const message = (text) => {
      if (lost || this.#ended) return;
      const parsed = JSON.parse(text);
      said = parsed.error;
      this.#apply(parsed);
    };
    try {
      const { token, transport } = this.#options;
      const secret = typeof token === "function" ? await token() : token;
      if (this.#ended) return;
      // Something in between may not let WebSockets through, or the server not this page's.
      const events = transport === "events" || (!transport && (!this.#options.WebSocket || this.#unheard >= 2));
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
      this.#welcome = true;
      const detail = { rev, reset: this.#reset, actions: this.#actions };
      this.#actions = [];
      this.#reset = false;
      this.#emit("rev", detail);
    }
    if (synced) this.#emit("synced", { rev: this.graph.rev });
  }

  // A connection was lost: another one, or the end.
  #lost(code, reason, message) {
    const { token, minDelay, maxDelay, random } = this.#options;
    const renewed = aboutToken(code, reason);
    const again = renewed && typeof token === "function" && this.#welcome;
    if (renewed) this.#welcome = false;
    if (final.has(code) && !again) {
      if (code !== 1000) this.#emit("error", { code, reason, message });
      this.#end(code, reason, message);
      return;
    }
    const retryIn = this.#delay * (0.5 + random());
    this.#delay = Math.min(2 * this.#delay, patient.has(code) ? 4 * maxDelay : Math.max(minDelay, maxDelay));
    this.#timer = setTimeout(() => this.#connect(), retryIn);
    this.#emit("error", { code, reason, message, retryIn });
  }

  #openSocket(token, message, lose) {
    const protocols = token ? [subprotocol, bearerSubprotocol + base64url(token)] : [subprotocol];
    const socket = new this.#options.WebSocket(this.#url(true).replace(/^http/, "ws"), protocols);
    this.#disconnect = () => {
      this.#disconnect = () => {};
      socket.close();
    };
    let opened = false;
    let over = false;
    const closed = async (code, text) => {
      if (over) return;
      over = true;
      // A handshake that was refused is not explained to a socket.
      const refused = opened || this.#ended ? undefined : await this.#refused(token);
      if (refused?.served) this.#unheard++;
      lose(refused?.code ?? code, refused?.message ?? text, refused?.reason);
    };
    socket.onopen = () => {
      opened = true;
      this.#unheard = 0;
    };
    socket.onmessage = (event) => {
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

const base64url = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
