// Asks objects that are not well why: once for each state that one comes to, one
// question at a time, and the next one some seconds later.

const pause = 5_000; // milliseconds
const retry = 30_000; // where no answer came

export class Asking {
  reasons = []; // of the object, in its own words
  #get;
  #onchange;
  #state = ""; // that the reasons are of; undefined if no answer came
  #question; // until the next one may be asked
  #timer;

  /** Get fetches an object and returns its reasons, or undefined if there was no answer. Onchange is called when the reasons may be others. */
  constructor(get, onchange) {
    this.#get = get;
    this.#onchange = onchange;
  }

  /** The next states are those of another object. */
  forget() {
    this.#next();
    this.#state = "";
    this.reasons = [];
  }

  /** Takes the state that an object is in; in the empty one there is nothing to ask. */
  judge(state, object) {
    if (state === "") {
      this.#state = "";
      this.reasons = [];
    } else if (state !== this.#state && !this.#question) this.#ask(state, object);
  }

  /** The server answers again: what was not answered is asked at once. */
  again() {
    if (this.#state !== undefined) return;
    this.#next();
    this.#onchange();
  }

  #next() {
    clearTimeout(this.#timer);
    this.#question = undefined;
  }

  async #ask(state, about) {
    const question = this.#question = {};
    this.#state = state;
    const reasons = await this.#get(about);
    if (this.#question !== question) return; // it is of another object
    this.#timer = setTimeout(() => {
      this.#next();
      this.#onchange();
    }, reasons ? pause : retry);
    if (this.#state !== state) return; // it is well by now
    this.reasons = reasons ?? [];
    if (!reasons) this.#state = undefined;
    this.#onchange();
  }
}
