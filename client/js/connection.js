// Many graphs on one WebSocket, and graphs without a GraphView. Pass a Connection as the
// `connection` option of a GraphView.

import { bearerProtocols, headers, httpBase } from "./request.js";

const subprotocol = "graphview.mux.v1";
const unopened = "no WebSocket was opened, though the server answers: it may not allow the origin of this page (--allowed-origins), or a proxy lets none through";
const silentFor = 90_000; // as of a single graph's socket

/** A WebSocket that opens with the first subscription and closes after the last. */
export class Connection {
  /** @type {any} */ // the options and their defaults; connection.d.ts has the types
  #options;
  #socket;
  #opened; // a promise of the socket, while there is one
  #next = 1; // the id of a message
  #asked = new Map(); // by id: those who wait for an answer
  #channels = new Map(); // by number: those who have a channel
  #watchdog;

  constructor(options = {}) {
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    this.#options = {
      base: globalThis.location?.origin, WebSocket: globalThis.WebSocket, fetch: globalThis.fetch?.bind(globalThis), ...given,
    };
    if (!this.#options.base) throw new TypeError("base is required");
    new URL(httpBase(this.#options)); // throws now rather than later
  }

  /**
   * Subscribes to { cluster, namespace, name, since } or { spec }. The handlers are message(object) and lose(code, text, reason),
   * which is called once, unless the function that is returned, which unsubscribes, was.
   */
  subscribe(what, handlers) {
    const one = { handlers, channel: 0, left: false, id: this.#next++ };
    this.#asked.set(one.id, one);
    this.#open().then((socket) => {
      if (!one.left) this.#say(socket, { id: one.id, subscribe: what });
    }, () => { /* all were told */ });
    return () => this.#leave(one);
  }

  #leave(one) {
    if (one.left) return;
    one.left = true;
    // Without a channel yet, #hear unsubscribes when the answer comes.
    if (one.channel) {
      this.#channels.delete(one.channel);
      if (this.#socket) this.#say(this.#socket, { id: this.#next++, unsubscribe: { channel: one.channel } });
    }
    this.#closeIfIdle();
  }

  #closeIfIdle() {
    const waiting = [...this.#asked.values()].some((one) => !one.left);
    if (!waiting && this.#channels.size === 0) this.#close(1000, "no graph is left");
  }

  #say(socket, message) {
    if (socket.readyState === 1) socket.send(JSON.stringify(message));
  }

  #open() {
    this.#opened ??= this.#connect().catch((error) => {
      this.#close(error.code ?? 1006, error.message, error.reason);
      throw error;
    });
    return this.#opened;
  }

  async #connect() {
    const { base, token, WebSocket } = this.#options;
    const secret = typeof token === "function" ? await token() : token;
    const url = `${httpBase({ base })}/watch/streams`;
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}?heartbeats=1`, bearerProtocols(subprotocol, secret));
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      let opened = false;
      const closed = async (code, text) => {
        if (this.#socket !== socket) return;
        if (!opened) return reject((await this.#refused(url, secret)) ?? Object.assign(new Error(text), { code: 1006 }));
        const [reason, message] = splitReason(text);
        this.#close(code, message, reason);
      };
      socket.onopen = () => {
        opened = true;
        resolve(socket);
      };
      socket.onmessage = ({ data }) => {
        if (this.#socket !== socket) return;
        if (data === "{}" || this.#watchdog) {
          clearTimeout(this.#watchdog);
          this.#watchdog = setTimeout(() => closed(1006, "nothing came for a while"), silentFor);
        }
        try {
          this.#hear(JSON.parse(data));
        } catch (error) {
          closed(1006, error.message);
        }
      };
      socket.onclose = ({ code, reason }) => closed(code, reason || "the connection was lost");
      socket.onerror = () => { if (!opened) closed(1006, "the connection failed"); };
    });
  }

  // Returns the reason of a refused handshake, which a socket does not have. The answer is 400 to a user who may open one.
  async #refused(url, secret) {
    try {
      const response = await this.#options.fetch(url, { headers: headers(secret) });
      const status = await response.json();
      if (response.ok || response.status === 400) return Object.assign(new Error(unopened), { code: 1006 });
      return Object.assign(new Error(status.message), { code: response.status, reason: status.reason });
    } catch {
      return undefined;
    }
  }

  #hear(message) {
    const { id, channel, error } = message;
    if (id !== undefined) {
      const one = this.#asked.get(id);
      if (!one) return; // an unsubscription's
      this.#asked.delete(id);
      if (error) return this.#lose(one, error);
      one.channel = channel;
      if (one.left) return this.#say(this.#socket, { id: this.#next++, unsubscribe: { channel } });
      this.#channels.set(channel, one);
    } else if (channel !== undefined) {
      const one = this.#channels.get(channel);
      if (!one) return; // it is being left
      if (!error) return one.handlers.message(message);
      this.#channels.delete(channel);
      this.#lose(one, error);
    } else if (error) {
      this.#close(error.code, error.message, error.reason);
    }
  }

  #lose(one, { code, message, reason }) {
    if (one.left) return;
    one.left = true;
    one.handlers.lose(code, message, reason);
    this.#closeIfIdle();
  }

  #close(code, message, reason = "") {
    const all = [...this.#asked.values(), ...this.#channels.values()];
    const socket = this.#socket;
    this.#socket = this.#opened = undefined;
    this.#asked.clear();
    this.#channels.clear();
    clearTimeout(this.#watchdog);
    this.#watchdog = undefined;
    socket?.close();
    for (const one of all) this.#lose(one, { code, message, reason });
  }
}

// The text of a close frame is a reason and a message.
const splitReason = (text) => {
  const [, reason = "", message] = /^([A-Z][A-Za-z]*): (.*)$/s.exec(text) ?? [];
  return reason ? [reason, message] : ["", text];
};
