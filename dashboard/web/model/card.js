// The text of a card: the worst health in it, the ready count, and the reason.
import { counted, resource } from "./kinds.js";
import { isProblem } from "./store.js";

const widest = 24; // letters of a name that is a list of kinds; beyond it they are abbreviated
const longest = 30; // letters of a second line
const named = 4; // objects that a card without an owner names

/** Whether a card can be opened, or is open. */
export const opens = ({ uses, members, opened }) => uses || members.length > 1 || opened;

/** Fills in a card's health, name, sub, count and bar from its members. */
export function describe(card) {
  const { anchor, members } = card;
  let [ready, underway, broken] = [0, 0, 0]; // pods
  let worst = anchor;
  card.problems = card.vertices = 0;
  for (const v of members) {
    // Among equally bad vertices, one with a reason in a single word is preferred.
    if (v.level > worst.level || (v.level === worst.level && v.why !== "" && isWord(v.why) && !isWord(worst.why))) worst = v;
    const problem = isProblem(v.health);
    if (problem) card.problems++;
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
  card.bar = pods > 0 && anchor.r !== "pods" ? [ready, underway, broken] : undefined;
  card.count = card.bar ? pods : members.length > 1 && !card.uses ? members.length - 1 : 0;
  if (card.uses) {
    card.kind = "uses";
    card.name = kindsOf(members);
    card.sub = members.slice(0, named).map((v) => v.n).join(", ");
  } else {
    card.kind = anchor.kind;
    card.sub = sub(card);
  }
  return card;
}

// "2 ConfigMaps, 1 Secret", and where that is too long "2 cm, 1 sec, 1 sa".
function kindsOf(members) {
  const kinds = new Map();
  for (const v of members) kinds.set(v.kind, { n: (kinds.get(v.kind)?.n ?? 0) + 1, short: resource(v.r).short });
  const whole = [...kinds].map(([kind, { n }]) => counted(n, kind)).join(", ");
  return whole.length <= widest ? whole : [...kinds.values()].map(({ n, short }) => `${n} ${short}`).join(", ");
}

/** How what is not there is called, by its health. */
export const absences = { missing: "missing", optional: "optional, not there", outside: "outside the view", unseen: "where the view does not look" };

function sub({ anchor, worst, health, users, hub }) {
  // A word such as CrashLoopBackOff says more than the kind, which the glyph shows.
  if (anchor.present && isProblem(health) && isWord(worst.why)) return worst.why;
  let words = anchor.kind;
  if (!anchor.present) words += ` · ${absences[anchor.health] ?? "missing"}`;
  else if (isProblem(health) || health === "progressing") words = both(words, because(worst, anchor));
  else if (health === "suspended" || health === "terminating") words += ` · ${health}`;
  else if (anchor.rd) words += ` · ${anchor.rd[0]} of ${anchor.rd[1]} ready`;
  return hub && users > 1 ? `${words} · used by ${users}` : words;
}

// Returns kind and reason, or only the reason if both are too long: the icon shows the kind.
const both = (kind, why) => (kind.length + why.length + 3 <= longest ? `${kind} · ${why}` : why);

// "2 of 3 ready: CrashLoopBackOff"
function because(worst, { rd }) {
  const ready = rd && rd[1] > 1 ? `${rd[0]} of ${rd[1]} ready` : "";
  return [ready, worst.why === ready ? "" : worst.why].filter(Boolean).join(": ") || (rd ? `${rd[0]} of ${rd[1]} ready` : worst.health);
}

const isWord = (why) => /^[A-Z]\w+$/.test(why);
