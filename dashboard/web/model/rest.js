// The rest of a place: boxes without a workload, such as roles and their bindings, and all of a
// system namespace, while nothing in them needs a look. They begin as one card that says how many
// objects of which kinds there are.
import { isProblem } from "./store.js";

/** The key of the card of a place's rest. */
export const restKey = (place) => `rest:${place}`;

/** Whether a key is that of the rest of a place and not of an object. */
export const isRest = (key) => key.startsWith("rest:");

/** Whether a place is the system's own: kube-system and its like, and that of cluster-scoped objects. */
export const isSystem = (place) => /^(kube-.*)?$/.test(place.slice(place.indexOf(":") + 1));

// A vertex without a resource stands for a cluster.
const isCalm = (v) => !v.root && v.r !== "" && !isProblem(v.health) && v.health !== "progressing";

/** Whether the cards of a box belong to the rest. It notes on each card whether its health alone decides that. */
export function isSpare(cards, system) {
  if (!system && cards.some(({ members }) => members.some((v) => v.role === "workload" && v.present))) return false;
  for (const card of cards) card.spare = true;
  return cards.every(({ members }) => members.every(isCalm));
}

// Kubernetes puts these into every namespace.
const given = new Set(["configmaps kube-root-ca.crt", "serviceaccounts default"]);

/** Whether a shared object is one that each namespace has. */
export const isGiven = ({ anchor }) => given.has(`${anchor.r} ${anchor.n}`);
