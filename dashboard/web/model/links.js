// The links between the cards of one place: arcs, merged, from an owner to the objects that
// it owns and from a user to the objects that it uses.
//
// A card is identified by its index in its list. A counting sort orders the arcs by both
// ends, so that nothing is hashed, and equal graphs give equal links in whatever order their
// arcs arrived.

let counts = new Int32Array(256);
let half = new Int32Array(256);
let whole = new Int32Array(256);

/** Returns an array for n numbers: the same one if it is long enough. Its contents are undefined. */
export const grown = (array, n) => (array.length >= n ? array : new array.constructor(Math.max(n, 2 * array.length)));

/**
 * The order of m pairs of numbers below n: by from, then by to, and as they came where
 * both are the same. It is valid until the next call.
 */
export function inOrder(from, to, m, n) {
  counts = grown(counts, n + 1);
  half = grown(half, m);
  whole = grown(whole, m);
  distribute(to, undefined, m, n, half);
  distribute(from, half, m, n, whole);
  return whole;
}

// A step of a radix sort: what has the same key stays in its order.
function distribute(keys, order, m, n, into) {
  counts.fill(0, 0, n + 1);
  for (let i = 0; i < m; i++) counts[keys[i] + 1]++;
  for (let key = 0; key < n; key++) counts[key + 1] += counts[key];
  for (let i = 0; i < m; i++) {
    const at = order ? order[i] : i;
    into[counts[keys[at]]++] = at;
  }
}

let stamp = 0; // the card whose strangers are counted

/**
* The links of one place. They set on each card: the number of links to it (ins) and from it
* (outs), the source of the last link to it (usedBy), the number of its users in all places
* (users), and whether one of its arcs leaves the place (away).
*/
export class Links {
  inside = 0; // arcs within a card
  foreign = []; // arcs that leave the place
  hidden = 0; // arcs that a filter hides
  all = []; // {a, b, arcs}: by the index of a, then of b

  /** Builds the links of cards, which have their indexes. shows(arc) reports whether the filters show an arc. */
  constructor(cards, shows) {
    const [arcs, from, to] = [[], [], []];
    for (const card of cards) {
      const at = card.index;
      stamp++;
      for (const v of card.members) {
        for (const arc of v.out) {
          const other = arc.d;
          if (other.home === undefined || !shows(arc)) this.hidden++;
          else if (other.home !== v.home) {
            this.foreign.push(arc);
            card.away = true;
          } else if (other.card === card) this.inside++;
          else {
            const owns = arc.t === "or";
            arcs.push(arc);
            from.push(owns ? other.card.index : at);
            to.push(owns ? at : other.card.index);
          }
        }
        for (const { s } of v.in) {
          if (s.home === v.home || s.home === undefined || s.stamp === stamp) continue;
          s.stamp = stamp;
          card.users++;
        }
      }
    }
    this.#merge(cards, arcs, from, to);
  }

  #merge(cards, arcs, from, to) {
    const order = inOrder(from, to, arcs.length, cards.length);
    let last;
    for (let i = 0; i < arcs.length; i++) {
      const [a, b] = [cards[from[order[i]]], cards[to[order[i]]]];
      if (last !== undefined && last.a === a && last.b === b) {
        last.arcs.push(arcs[order[i]]);
        continue;
      }
      if (a.outs++ === 0) a.first = this.all.length;
      this.all.push(last = { a, b, arcs: [arcs[order[i]]] });
      b.ins++;
      b.users++;
      b.usedBy = a;
    }
  }

  /** The cards that a card leads to. */
  leadsTo({ first, outs }) { return this.all.slice(first, first + outs).map(({ b }) => b); }
}

const most = 0.75; // of the workloads of a place, from which on their label says as little as the place

let parents = new Int32Array(256);
let slots = new Int32Array(256);

function rootOf(at) {
  let root = at;
  while (parents[root] !== root) root = parents[root];
  while (parents[at] !== root) {
    const next = parents[at];
    parents[at] = root;
    at = next;
  }
  return root;
}

/**
* Groups cards: those with the same app label, and those with a link unless their labels
* differ. A workload without a label is as if it had one of its own, so that objects that two
* workloads share do not join them; a Service that selects both does. Owner links join first, then
* uses, then other references. Hubs join no group. Common is a label that divides nothing.
*/
export function groupByLinks(cards, links, common = commonLabel(cards.filter(leads).map(labelOf))) {
  const labels = labelsOf(cards, common); // of whole groups, at their roots
  parents = grown(parents, cards.length);
  for (let at = 0; at < cards.length; at++) parents[at] = at;
  const byLabel = new Map();
  for (let at = 0; at < cards.length; at++) {
    if (cards[at].hub || !cards[at].label) continue;
    const known = byLabel.get(labels[at]);
    if (known === undefined) byLabel.set(labels[at], at);
    else parents[at] = known;
  }
  for (const strength of ["or", "r", "t"]) {
    for (const link of links) {
      if (link.a.hub || link.b.hub || strengthOf(link) !== strength) continue;
      const [a, b] = [rootOf(link.a.index), rootOf(link.b.index)];
      const [one, other] = [labels[a], labels[b]];
      if (a === b || (one && other && one !== other && !joins(link, strength, one, other))) continue;
      parents[b] = a;
      if (!one || (isOwn(one) && other)) labels[a] = other;
    }
  }
  slots = grown(slots, cards.length);
  slots.fill(-1, 0, cards.length);
  const groups = [];
  for (const card of cards) {
    if (card.hub) continue;
    const root = rootOf(card.index);
    if (slots[root] < 0) slots[root] = groups.push([]) - 1;
    groups[slots[root]].push(card);
  }
  return groups;
}

const own = "\n"; // begins the label of a workload that has none

const isOwn = (label) => label.startsWith(own);

// An owner without a label is where the objects that it owns are, and a Service joins the workloads without one that it selects.
const joins = ({ a }, strength, one, other) => (strength === "or" ? isOwn(one) || isOwn(other) : a.resource === "services" && isOwn(one) && isOwn(other));

const leads = ({ anchor, owner }) => anchor.role === "workload" && anchor.present && !owner;

const labelOf = ({ members }) => members.find(({ app }) => app)?.app ?? "";

function labelsOf(cards, common) {
  return cards.map((card) => {
    card.label = labelOf(card);
    if (card.label === common) card.label = "";
    return card.label || (leads(card) ? own + card.key : "");
  });
}

/** The label that nearly all workloads of a place have, such as part-of with the name of the namespace: it divides nothing. "" if there is none. */
export function commonLabel(labels) {
  const counts = new Map();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  for (const [label, number] of counts) if (number > 1 && number >= most * labels.length) return label;
  return "";
}

function strengthOf({ arcs }) {
  let strength = "t";
  for (const { t } of arcs) {
    if (t === "or") return t;
    if (t === "r") strength = t;
  }
  return strength;
}
