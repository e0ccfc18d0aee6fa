// Follows the graph of a GraphView, in browsers and in Node.js, without
// dependencies. The protocol is described in docs/stream.md, the types in
// graphview.d.ts.

import { maxBits, maxURLBits } from "./contents.js";
import { Graph, arcKey, excludeInferred, vertexKey } from "./graph.js";
import { addPart, bearerProtocols, graphPath, headers, httpBase, rootName } from "./request.js";
import { socketsFail, socketsFailed, socketsWork } from "./sockets.js";

export { Graph, arcKey, vertexKey, warningKey } from "./graph.js";
export { healthAt } from "./health.js";
export { problems } from "./problems.js";
export { GraphViewError, getChanges, getGraph, getImpact, getObject, listGraphs } from "./request.js";

const subprotocol = "graphview.v1";

/** The event that listeners of a GraphView get; detail has its data. */
export class GraphViewEvent extends Event {
  constructor(type, detail) {
    super(type);
    this.detail = detail;
  }
}

// Close codes, and HTTP codes of a refused request, after which reconnecting does not help.
const final = new Set([1000, 1007, 1008, 400, 401, 403, 404, 405, 406, 422]);
// Reports whether a new token may help. A proxy in front of the operator sends a code without the reason.
const aboutToken = (code, reason) => reason === "Unauthorized" || code === 401;
// Codes after which the delay is longer: limits, and refusals of a user that was admitted before.
const patient = new Set([1013, 429, 503, 401, 403]);
// Codes that a starting operator, or one without its API server, may send to a user that was admitted before.
const passes = new Set([401, 403]);
// Reports whether a Status is about the link of a cluster and not about a graph. A hub whose link is made
// again has none for a moment, and one whose cluster is not connected has waited in the client's place.
const aboutCluster = (status) => status?.details?.kind === "clusters";
// A socket on which there have been heartbeats, every 20 s of silence, and then nothing, is dead.
const silentFor = 90_000;

const nameOf = ({ svx, dvx, sarc, darc }) => (svx ?? dvx ? vertexKey((svx ?? dvx).vx) : arcKey(sarc ?? darc));

/** Follows one view until it is stopped or the server says that there is no more. */
export class GraphView extends EventTarget {
  /** The graph. At a `rev` event, and only then, it is that of the view at one instant. */
  graph;

  /** @type {any} */ // the options and their defaults; graphview.d.ts has the types
  #options;
  #ended = false;
  #delay;
  #timer;
  #disconnect = () => {};
  #actions = []; // since the last rev, unless parts are told
  #reset = false; // they begin with nothing
  #begun = false; // there were some
  #partial = false; // some are in the graph, also of a connection that is lost
  #welcome = true; // there was a rev since a token was refused
  #known = false; // there was one at all
  #have = ""; // the sums that this connection sends; undefined: none, also not that there are none
  #noMessage = false; // the server takes no message, so that sums have to fit into a URL
  #unknown = false; // the server does not know of sums
  #dropped; // by key: the deletions of what a reset did not keep and what has not come again
  #level = false; // this connection brought a rev
  #doubted = false; // the last handshake was refused, and a request right after it was not

  /** Begins at the end of the present turn, so that listeners can be added. */
  constructor(options) {
    super();
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    this.#options = {
      base: globalThis.location?.origin, minDelay: 500, maxDelay: 30_000, random: Math.random,
      WebSocket: globalThis.WebSocket, fetch: globalThis.fetch?.bind(globalThis), ...given,
    };
    const { base, namespace, name, spec, connection, keep } = this.#options;
    this.graph = new Graph({ keep });
    if (spec && !connection) throw new TypeError("a spec needs a connection");
    if (!spec && (!namespace || !name)) throw new TypeError("namespace and name are required");
    if (!connection) {
      if (!base) throw new TypeError("base is required");
      new URL(this.#url(false)); // throws now rather than later
    }
    this.#delay = this.#options.minDelay;
    queueMicrotask(() => this.#connect());
  }

  /** The graph is that of the view at one instant, as it is at a `rev` event. */
  get whole() {
    return this.graph.rev !== "" && !this.#reset && !this.#partial;
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
    const query = new URLSearchParams();
    if (heartbeats) query.set("heartbeats", "1");
    addPart(query, this.#options);
    if (watch) {
      const since = this.#since();
      if (since) query.set("since", since);
      if (this.#have !== undefined) query.set("have", this.#inMessage() ? "message" : this.#have || "none");
    }
    return httpBase(this.#options) + (watch ? "/watch" : "") + graphPath(this.#options) + (query.size ? `?${query}` : "");
  }

  // The revision to continue after. With sums, no revision is one that no server knows, so that it resets.
  #since() {
    return this.graph.rev || (this.#have ? "-" : "");
  }

  // Sums that are too long for a URL are the first message.
  #inMessage() {
    return Number((this.#have ?? "").split(".")[0]) > maxURLBits;
  }

  // What this connection says that there is.
  #sums(events) {
    const { spec, roots, inferred, keep, contents = keep === false ? undefined : this.graph } = this.#options;
    if (spec || roots?.length || inferred === false || !contents || this.#unknown) return undefined;
    return contents.have(events || this.#noMessage ? maxURLBits : maxBits);
  }

  async #connect() {
    if (this.#ended) return;
    const { transport } = this.#options;
    // Something in between may not let WebSockets through, or the server not this page's.
    const events = transport === "events" || (!transport && (!this.#options.WebSocket || socketsFailed(this.#options.base)));
    this.#have = this.#sums(events && !this.#options.connection);
    this.#dropped = undefined;
    this.#level = false;
    if (!this.#since() || this.#options.spec) this.graph.forget(); // there is nothing to continue, and what came before the first rev is worth nothing
    this.graph.reconnected();
    this.#begin(!this.#since());
    let said; // the error of the stream's last message
    let lost = false; // only once, whoever sees it first
    const lose = (code, text, reason = "", /** @type {{ at?: any, ofCluster?: boolean }} */ { at, ofCluster } = {}) => {
      if (lost || this.#ended) return;
      lost = true;
      this.#disconnect();
      const why = said?.reason ?? reason;
      this.#lost(said?.code ?? code, why, said?.message ?? text, { at, ofCluster: ofCluster || why === "ClusterUnreachable" });
    };
    const message = (text) => {
      if (lost || this.#ended) return;
      const parsed = typeof text === "string" ? JSON.parse(text) : text;
      said = parsed.error;
      this.#apply(this.#options.inferred === false ? excludeInferred(parsed) : parsed);
    };
    try {
      const { token, connection } = this.#options;
      if (connection) return this.#openChannel(connection, message, lose);
      const secret = typeof token === "function" ? await token() : token;
      if (this.#ended) return;
      if (events) await this.#openEvents(secret, message, lose);
      else this.#openSocket(secret, message, lose);
    } catch (error) {
      lose(1006, error.message);
    }
  }

  // Drops the actions since the last rev.
  #begin(reset) {
    this.#reset = reset;
    this.#begun = false;
    this.#actions = [];
  }

  #apply(message) {
    if (message.reset && message.keep) message = this.#continue(message);
    else if (message.reset) this.#begin(true);
    if (this.#dropped) message = this.#drop(message);
    this.graph.apply(message);
    const { actions = [], warnings = [], cleared = [], rev, synced } = message;
    this.#partial ||= actions.length > 0;
    if (this.#options.parts && (actions.length > 0 || rev)) this.#emit("part", { actions, first: !this.#begun, reset: this.#reset });
    else for (const action of actions) this.#actions.push(action);
    this.#begun ||= actions.length > 0;
    if (warnings.length + cleared.length > 0) this.#emit("warning", { warnings, cleared });
    if (rev) {
      this.#delay = this.#options.minDelay;
      this.#welcome = this.#known = this.#level = true;
      const detail = { rev, reset: this.#reset, actions: this.#actions };
      this.#begin(false);
      this.#partial = false;
      this.#emit("rev", detail);
    }
    if (synced) this.#emit("synced", { rev: this.graph.rev });
  }

  // Begins with what a reset keeps. All the rest stays, too, until it comes again or the graph is whole: nobody sees less
  // than there is.
  #continue(message) {
    const { contents = this.graph } = this.#options;
    this.#dropped = new Map(contents.dropped(message.keep).map((action) => [nameOf(action), action]));
    this.graph.rev = "";
    return { ...message, reset: undefined, keep: undefined };
  }

  // Takes what has come from what is to be deleted, and deletes the rest when the graph is whole.
  #drop(message) {
    for (const action of message.actions ?? []) this.#dropped.delete(nameOf(action));
    if (!message.rev) return message;
    const actions = [...message.actions ?? [], ...this.#dropped.values()];
    this.#dropped = undefined;
    return { ...message, actions };
  }

  // A connection was lost: another one, at once if at is 0, or the end.
  #lost(code, reason, message, { at, ofCluster }) {
    const { token, minDelay, maxDelay, random } = this.#options;
    const expired = aboutToken(code, reason);
    // Without a token of its own, that of a proxy in front, which has a new one for the next connection.
    const renewed = expired && (typeof token === "function" || (this.#known && !token));
    const again = expired && (renewed || this.#options.connection) && this.#welcome;
    if (expired) this.#welcome = false;
    // An older server: it takes no message, or does not know the member.
    const older = this.#have !== undefined && ((reason === "UnexpectedMessage" && this.#inMessage()) || (code === 1007 && message.includes('"have"')));
    if (older && reason === "UnexpectedMessage") this.#noMessage = true;
    else if (older) this.#unknown = true;
    // A user that was admitted before may be admitted again: with a new token, or when the server has started.
    const waits = this.#known && (passes.has(code) || renewed || ofCluster);
    if (final.has(code) && !again && !waits && !older) {
      if (code !== 1000) this.#emit("error", { code, reason, message });
      this.#end(code, reason, message);
      return;
    }
    const retryIn = at ?? (older || (reason === "Outdated" && this.#level) || (again && this.#known) ? 0 : this.#delay * (0.5 + random()));
    this.#delay = Math.min(2 * this.#delay, (patient.has(code) && !ofCluster) || expired ? 4 * maxDelay : Math.max(minDelay, maxDelay));
    this.#timer = setTimeout(() => this.#connect(), retryIn);
    this.#emit("error", { code, reason, message, retryIn });
  }

  #openChannel(connection, message, lose) {
    const { cluster, namespace, name, spec, content, inferred, roots, direction, depth } = this.#options;
    const since = this.#since() || undefined;
    const have = this.#have === undefined ? undefined : this.#have || "none";
    this.#disconnect = () => { this.#disconnect = () => {}; };
    const declared = inferred === false && spec ? { inferredReferences: "Exclude", ...spec } : spec;
    const what = declared ? { spec: declared } : { cluster, namespace, name, since, have, root: roots?.map(rootName), direction, depth };
    const leave = connection.subscribe({ ...what, content }, { message, lose });
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
      // The server may have begun to serve the graph in between, so one more handshake decides.
      const served = refused?.served && !transport;
      if (served && this.#doubted) socketsFail(base);
      this.#doubted = served && !this.#doubted;
      lose(refused?.code ?? code, refused?.message ?? text, refused?.reason, { at: served ? 0 : undefined, ofCluster: aboutCluster(refused) });
    };
    socket.onopen = () => {
      opened = true;
      this.#doubted = false;
      if (this.#inMessage()) socket.send(JSON.stringify({ have: this.#have }));
      socketsWork(this.#options.base);
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

  // Asks for the graph, only to learn why it is refused, or that it is not. A hub need not wait for the
  // cluster, since the handshake has waited.
  async #refused(token) {
    const abort = new AbortController();
    const url = new URL(this.#url(false));
    if (this.#options.cluster) url.searchParams.set("timeout", "1s");
    try {
      const response = await this.#options.fetch(url.href, { headers: headers(token), signal: abort.signal });
      return response.ok ? { served: true } : await response.json();
    } catch {
      return undefined;
    } finally {
      abort.abort();
    }
  }

  async #openEvents(token, message, lose) {
    const abort = new AbortController();
    // The server sends a comment after 20 s of silence. Without one, the connection is dead.
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
        lose(response.status, status?.message ?? response.statusText, status?.reason, { ofCluster: aboutCluster(status) });
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
