// What is wrong, in words, and on which objects: problems by their causes.
import { problemsOf } from "../../../client/js/problems.js";
import { counted } from "./kinds.js";

/** "1 problem", "1,204 problems" */
export const problems = (number) => `${number.toLocaleString("en")} problem${number === 1 ? "" : "s"}`;

/** What is wrong, below a title that may name the object already: "ConfigMap flags is missing", "CrashLoopBackOff", "ScalingLimited (HorizontalPodAutoscaler web)". */
export function wordsOf({ object, health, why }, title) {
  if (health === "missing") return `${object.kind} ${object.n} is missing`;
  const reason = why || health;
  return object.n === title && object.role === "workload" ? reason : `${reason} (${object.kind} ${object.n})`;
}

/** A problem that all objects of a kind have, as the command line says it. */
export const sharedWords = ({ object, why, stops }) => `${why} of all ${counted(stops.length + 1, object.kind)}: the metrics API does not answer.`;

export class Causes {
  /** The problems that need attention, the worst first. */
  list = [];
  #of = []; // the objects that have one

  /** Finds the problems of a store, and notes on each object the one that it has. Returns the objects that have another one now. */
  update(store) {
    const found = problemsOf(store).filter(({ bad }) => bad);
    const before = new Map(this.#of.map((v) => [v, v.problem]));
    for (const v of this.#of) v.problem = undefined;
    this.#of = [];
    for (const problem of found) {
      for (const v of [problem.object, ...problem.stops]) {
        v.problem = problem;
        this.#of.push(v);
      }
    }
    this.list = found;
    const differing = this.#of.filter((v) => !isSame(before.get(v), v.problem));
    for (const v of before.keys()) if (!v.problem) differing.push(v);
    return differing;
  }

  /** The problem that all objects of a kind share. */
  get shared() { return this.list.find(({ shared }) => shared); }
}

const isSame = (a, b) => a !== undefined && a.object === b.object && a.why === b.why && a.health === b.health && a.shared === b.shared;
