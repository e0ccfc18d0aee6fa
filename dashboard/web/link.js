// Speaks to the engine: in a worker, or where a page does not allow one, in the
// page itself. It is loaded before all the rest, which loads while the graph comes.

import { httpBase } from "../../client/js/request.js";

// All in one file, which hack/bundle says, there is none for a worker, and nothing that another bundler would look for.
const address = typeof GRAPH_VIEW_IN_ONE_FILE === "undefined" ? new URL("./worker.js", import.meta.url).href : "";
let policy; // it can be made only once

// Where a page demands trusted types, the worker's address is the one thing that
// needs a policy.
function inWorker() {
  if (!address) throw new Error("there is no file for a worker");
  policy ??= globalThis.trustedTypes?.createPolicy("graph-view", { createScriptURL: () => address });
  return new Worker(policy?.createScriptURL("") ?? address, { type: "module" });
}

const inPage = () => import("./model/engine.js");

const ready = JSON.stringify({ type: "ready" });
const patience = 15_000; // milliseconds

/** The parts of the name of a view, [CLUSTER:]NAMESPACE/NAME; of several, with commas between them, those of the first, and all as views. */
export function placeOf(view) {
  const views = view.split(",").map((one) => {
    const [, cluster, namespace, name] = /^(?:(.*):)?(.*?)\/(.*)$/.exec(one) ?? [];
    return { cluster, namespace, name };
  });
  return views.length > 1 ? { ...views[0], views } : views[0];
}

export class Link extends EventTarget {
  #worker;
  #engine;
  #asked = new Map(); // id: how to answer
  #next = 1;
  #sent = []; // until the worker is known to work
  #kept = []; // what came before anybody listened
  #begun; // the options that begin was given, as text
  #token; // the function that gets a token for a connection

  /** Makes a worker, or where that fails loads the engine's module. */
  constructor({ worker = inWorker, engine = inPage } = {}) {
    super();
    this.#start(worker, engine);
  }

  /** Where the graphs of a server are, or those of a cluster of its fleet. */
  at(options) { return httpBase(options); }

  /** Whether the engine has a thread of its own. */
  get threaded() { return Boolean(this.#worker) && !this.#sent; }

  send(message) {
    this.#sent?.push(message);
    if (this.#worker) this.#worker.postMessage(message);
    else if (!this.#sent) this.#engine?.handle(message);
  }

  /** Asks the engine something. */
  ask(what, args) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.send({ ask: what, id, args });
    });
  }

  /** Opens a view. */
  begin(options) {
    this.#begun = JSON.stringify(options);
    this.send({ do: "open", options });
  }

  /** Opens a view, unless it has begun, and dispatches its messages. With options.asksToken, token is called for each connection. */
  open(options, token) {
    this.#token = token;
    if (this.#begun !== JSON.stringify(options)) {
      this.#kept = [];
      this.send({ do: "open", options });
    }
    this.#begun = undefined;
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    for (const message of kept) this.#take(message);
  }

  /** Follows nothing, until something else is opened. */
  close() {
    this.#begun = undefined;
    this.send({ do: "close" });
  }

  stop() {
    this.close();
    this.#worker?.terminate();
    this.#worker = this.#sent = this.#engine = undefined;
  }

  async #start(make, load) {
    let timer;
    try {
      const worker = this.#worker = make();
      await new Promise((resolve, reject) => {
        worker.onerror = reject; // also where a policy forbids it
        // A worker of another version than the page says something else, or nothing.
        worker.onmessage = ({ data }) => (data === ready ? resolve() : reject());
        timer = setTimeout(reject, patience);
      });
      worker.onerror = (event) => this.dispatchEvent(new CustomEvent("failed", { detail: event.message }));
      worker.onmessage = ({ data }) => this.#take(JSON.parse(data));
      this.#sent = undefined;
    } catch {
      if (!this.#sent) return; // it was stopped
      this.#worker?.terminate();
      this.#worker = undefined;
      const { Engine } = await load();
      if (!this.#sent) return;
      this.#engine = new Engine((message) => queueMicrotask(() => this.#take(message)));
      const sent = this.#sent;
      this.#sent = undefined;
      for (const message of sent) this.send(message);
    } finally {
      clearTimeout(timer);
    }
  }

  // A function cannot be sent to a worker, so the engine asks for each token.
  async #answerToken({ id }) {
    try {
      this.send({ do: "token", id, token: await this.#token?.() });
    } catch (error) {
      this.send({ do: "token", id, error: error.message });
    }
  }

  #take(message) {
    if (message.type === "token") {
      this.#answerToken(message);
      return;
    }
    if (message.type !== "answer") {
      if (this.#kept) this.#kept.push(message);
      else this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
      return;
    }
    const waiting = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.answer);
  }
}
