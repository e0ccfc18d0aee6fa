// Speaks to the engine: in a worker, or where a page does not allow one, in the
// page itself.

const ready = JSON.stringify({ type: "ready" });
const patience = 15_000; // milliseconds

export class Link extends EventTarget {
  #worker;
  #engine;
  #asked = new Map(); // id: how to answer
  #next = 1;
  #backlog = [];

  /** Makes a worker, or where that fails loads the engine's module. */
  constructor({ worker, engine }) {
    super();
    this.#start(worker, engine);
  }

  /** Whether the engine has a thread of its own. */
  get threaded() { return Boolean(this.#worker); }

  send(message) {
    if (this.#worker) this.#worker.postMessage(message);
    else if (this.#engine) this.#engine.handle(message);
    else this.#backlog.push(message);
  }

  /** Asks the engine something. */
  ask(what, args) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.send({ ask: what, id, args });
    });
  }

  stop() {
    this.send({ do: "close" });
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#engine = { handle() {} };
  }

  async #start(make, load) {
    let worker;
    let timer;
    try {
      worker = make();
      await new Promise((resolve, reject) => {
        worker.onerror = reject; // also where a policy forbids it
        // A worker of another version than the page says something else, or nothing.
        worker.onmessage = ({ data }) => (data === ready ? resolve() : reject());
        timer = setTimeout(reject, patience);
      });
      worker.onerror = (event) => this.dispatchEvent(new CustomEvent("failed", { detail: event.message }));
      worker.onmessage = ({ data }) => this.#take(JSON.parse(data));
      this.#worker = worker;
    } catch {
      worker?.terminate();
      const { Engine } = await load();
      this.#engine = new Engine((message) => queueMicrotask(() => this.#take(message)));
    }
    clearTimeout(timer);
    for (const message of this.#backlog) this.send(message);
    this.#backlog = [];
  }

  #take(message) {
    if (message.type !== "answer") {
      this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
      return;
    }
    const waiting = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.answer);
  }
}
