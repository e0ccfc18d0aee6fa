// The text of a card: the worst health in it, the ready count, and the reason.
import { counted, resource } from "./kinds.js";
import { isProblem } from "./store.js";

const widest = 24; // letters of a name that is a list of kinds; beyond it they are abbreviated
const none = []; // causes
const named = 4; // objects that a card without an owner names

/** Whether a card can be opened, or is open. */
export const opens = ({ uses, members, opened }) => uses || members.length > 1 || opened;

/** Fills in a card's health, name, short kind, state, count and bar from its members. */
export function describe(card) {
  const { anchor, members } = card;
  let [ready, underway, broken] = [0, 0, 0]; // pods
  let worst = anchor;
  card.problems = card.vertices = 0;
  card.causes = none;
  for (const v of members) {
    // Among equally bad vertices, one with a reason in a single word is preferred.
    if (v.level > worst.level || (v.level === worst.level && v.why !== "" && isWord(v.why) && !isWord(worst.why))) worst = v;
    const problem = isProblem(v.health);
    if (problem) {
      card.problems++;
      const { problem: cause } = v;
      if (cause && !cause.shared && !card.causes.includes(cause)) card.causes = [...card.causes, cause];
    }
    if (problem || v.present) card.vertices++;
    if (v.r !== "pods" || v.g !== "") continue;
    if (problem) broken++;
    else if (v.health === "progressing" || v.health === "terminating") underway++;
    else ready++;
  }
  const pods = ready + underway + broken;
  card.health = worst.health;
  card.level = worst.level;
  card.worst = worst;
  card.common = worst.problem?.shared === true && card.causes.length === 0; // all others have it too
  card.bar = pods > 0 && anchor.r !== "pods" ? [ready, underway, broken] : undefined;
  card.differs = (!card.uses && anchor.differs) || (members.some(({ differs }) => differs) ? "~" : undefined);
  card.count = card.bar ? pods : members.length > 1 && !card.uses ? members.length - 1 : 0;
  if (card.uses) {
    card.kind = "uses";
    const kinds = kindsOf(members);
    if (card.rest) return sayDifferences(describeRest(card, kinds));
    card.short = [...kinds.values()].map(({ n, short }) => `${n} ${short}`).join(", ");
    const whole = [...kinds].map(([kind, { n }]) => counted(n, kind)).join(", ");
    card.name = whole.length <= widest ? whole : card.short;
    card.state = members.slice(0, named).map((v) => v.n).join(", ");
    sayDifferences(card);
  } else {
    card.kind = anchor.kind;
    card.short = shortOf(anchor);
    card.state = stateOf(card);
  }
  return card;
}

// Which of the folded objects differ now, "db is gone now", is more than what there is.
function sayDifferences(card) {
  const some = card.members.filter(({ differs }) => differs);
  if (some.length > 0) card.state = some.map((v) => `${v.n} ${differences[v.differs]}`).join(", ");
  return card;
}

// An unlisted kind has no short name but its own.
const shortOf = ({ r, kind, short }) => (short === r ? kind : short);

// "81 other objects": "33 ServiceAccounts, ConfigMap flags", the most first.
function describeRest(card, kinds) {
  const list = [...kinds].sort(([a, { n }], [b, { n: m }]) => m - n || (a < b ? -1 : 1));
  card.name = counted(card.vertices, card.rest);
  card.short = `${card.name}: ${list.map(([, { n, short }]) => `${n} ${short}`).join(", ")}`;
  card.state = list.map(([kind, { n }]) => (n > 1 ? counted(n, kind) : `${kind} ${card.members.find((v) => v.kind === kind).n}`)).join(", ");
  return card;
}

function kindsOf(members) {
  const kinds = new Map();
  for (const v of members) kinds.set(v.kind, { n: (kinds.get(v.kind)?.n ?? 0) + 1, short: resource(v.r).short });
  return kinds;
}

/** How what is not there is called, by its health. */
export const absences = { missing: "missing", optional: "optional, not there", outside: "outside the view", unseen: "where the view does not look" };

/** How an object of the past differs from the same one now. */
export const differences = { "+": "came since", "-": "is gone now", "~": "differs now" };

function stateOf({ anchor, worst, health, users, hub }) {
  let words = "";
  if (!anchor.present) words = absences[anchor.health] ?? "missing";
  // A word such as CrashLoopBackOff says enough.
  else if (isProblem(health) && isWord(worst.why)) return worst.why;
  else if (isProblem(health) || health === "progressing") words = because(worst, anchor);
  else if (health === "suspended" || health === "terminating") words = health;
  else if (anchor.rd) words = readyOf(anchor);
  return [words, hub && users > 1 && `referred to by ${users}`].filter(Boolean).join(" · ");
}

/** "2 of 3 ready", and of a budget, which may have more than it needs, "2 healthy, 1 needed". */
export const readyOf = ({ r, rd }) => (!rd ? "" : r === "poddisruptionbudgets" ? `${rd[0]} healthy, ${rd[1]} needed` : `${rd[0]} of ${rd[1]} ready`);

// "2 of 3 ready: CrashLoopBackOff"
function because(worst, anchor) {
  const all = readyOf(anchor);
  const ready = anchor.rd?.[1] > 1 ? all : "";
  return [ready, worst.why === ready ? "" : worst.why].filter(Boolean).join(": ") || all || worst.health;
}

const isWord = (why) => /^[A-Z]\w+$/.test(why);
