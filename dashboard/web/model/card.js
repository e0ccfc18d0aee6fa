// What a card says: the worst that is in it, how much is ready, and why not.
import { counted } from "./kinds.js";
import { isProblem, worse } from "./store.js";

/** Fills in a card's health, name, sub, count and bar from its members. */
export function describe(card) {
  const { anchor, members } = card;
  const bar = [0, 0, 0]; // ready, on the way, in trouble
  const kinds = new Map();
  let pods = 0;
  let worst = anchor;
  let problems = 0;
  for (const v of members) {
    // Of those that are equally bad, the one that says why in a word knows best.
    if (worse(v.health, worst.health) !== worst.health || (v.health === worst.health && isWord(v.why) && !isWord(worst.why))) worst = v;
    if (isProblem(v.health)) problems++;
    kinds.set(v.kind, (kinds.get(v.kind) ?? 0) + 1);
    if (v.r !== "pods" || v.g !== "") continue;
    pods++;
    bar[isProblem(v.health) ? 2 : v.health === "progressing" || v.health === "terminating" ? 1 : 0]++;
  }
  card.health = worst.health;
  card.worst = worst;
  card.problems = problems;
  card.bar = pods > 0 && anchor.r !== "pods" ? bar : undefined;
  card.role = anchor.role;
  card.kind = card.uses ? "uses" : anchor.kind;
  card.resource = anchor.r;
  card.name = card.uses ? [...kinds].map(([kind, n]) => counted(n, kind)).join(", ") : anchor.n;
  card.count = card.bar ? pods : members.length > 1 && !card.uses ? members.length - 1 : 0;
  card.sub = card.uses ? members.map((v) => v.n).slice(0, 4).join(", ") : sub(card);
  return card;
}

function sub({ anchor, worst, health, users, hub }) {
  // A word such as CrashLoopBackOff says more than the kind, which the glyph shows.
  if (anchor.present && isProblem(health) && isWord(worst.why)) return worst.why;
  const words = [anchor.kind];
  if (!anchor.present) words.push("missing");
  else if (isProblem(health) || health === "progressing") words.push(because(worst, anchor));
  else if (health === "suspended" || health === "terminating") words.push(health);
  else if (anchor.rd) words.push(`${anchor.rd[0]} of ${anchor.rd[1]} ready`);
  if (hub && users > 1) words.push(`used by ${users}`);
  return words.join(" · ");
}

// "2 of 3 ready: CrashLoopBackOff"
function because(worst, { rd }) {
  const ready = rd && rd[1] > 1 ? `${rd[0]} of ${rd[1]} ready` : "";
  return [ready, worst.why === ready ? "" : worst.why].filter(Boolean).join(": ") || (rd ? `${rd[0]} of ${rd[1]} ready` : worst.health);
}

const isWord = (why) => /^[A-Z]\w+$/.test(why);
