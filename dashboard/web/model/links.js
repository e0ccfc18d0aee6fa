// Who is linked with whom: the arcs between the cards of one place, merged and
// turned so that they lead from cause to effect: from an owner to what it owns,
// from a user to what it uses.

const none = new Set();

export class Links {
  inside = 0; // arcs within a card
  foreign = []; // arcs that leave the place
  hidden = 0; // arcs that a filter hides
  #out = new Map(); // card: (card: {a, b, arcs})
  #in = new Map(); // card: set of cards
  #to = new Map(); // card: set of cards
  #strangers = new Map(); // card: how many of other places use it
  #away = new Set(); // cards with an arc that leaves the place

  #shows;

  constructor(cards, shows) {
    this.#shows = shows;
    for (const card of cards) {
      const strangers = new Set();
      for (const v of card.members) {
        for (const arc of v.out) this.#take(card, arc);
        for (const arc of v.in) if (arc.s.home !== v.home && arc.s.home !== undefined) strangers.add(arc.s);
      }
      if (strangers.size > 0) this.#strangers.set(card, strangers.size);
    }
  }

  #take(card, arc) {
    if (!this.#shows(arc) || arc.d.home === undefined) {
      this.hidden++;
      return;
    }
    if (arc.d.home !== arc.s.home) {
      this.foreign.push(arc);
      this.#away.add(card);
      return;
    }
    const other = arc.d.card;
    if (other === card) {
      this.inside++;
      return;
    }
    const [a, b] = arc.t === "or" ? [other, card] : [card, other];
    let from = this.#out.get(a);
    if (!from) this.#out.set(a, from = new Map());
    const link = from.get(b);
    if (link) {
      link.arcs.push(arc);
      return;
    }
    from.set(b, { a, b, arcs: [arc] });
    if (!this.#in.has(b)) this.#in.set(b, new Set());
    this.#in.get(b).add(a);
    if (!this.#to.has(a)) this.#to.set(a, new Set());
    this.#to.get(a).add(b);
  }

  ins(card) { return this.#in.get(card) ?? none; }

  outs(card) { return this.#to.get(card) ?? none; }

  /** How many use a card, those of other places included. */
  users(card) { return this.ins(card).size + (this.#strangers.get(card) ?? 0); }

  leadsAway(card) { return this.#away.has(card); }

  * all() { for (const from of this.#out.values()) yield* from.values(); }
}

/**
 * Cards that belong together: those with the same app label, and those that are
 * linked, unless their labels differ. Owners join first, then what is used, then
 * what is only named.
 */
export function groupByLinks(cards, links) {
  const parent = new Map(cards.map((card) => [card, card]));
  const label = new Map();
  const find = (card) => {
    let root = card;
    while (parent.get(root) !== root) root = parent.get(root);
    while (parent.get(card) !== root) [card] = [parent.get(card), parent.set(card, root)];
    return root;
  };
  const join = (a, b) => {
    const [ra, rb] = [find(a), find(b)];
    if (ra === rb) return;
    const [la, lb] = [label.get(ra), label.get(rb)];
    if (la && lb && la !== lb) return;
    parent.set(rb, ra);
    if (lb) label.set(ra, lb);
  };
  const byLabel = new Map();
  for (const card of cards) {
    card.label = card.members.find((v) => v.app)?.app ?? "";
    if (!card.label) continue;
    label.set(card, card.label);
    if (byLabel.has(card.label)) join(byLabel.get(card.label), card);
    else byLabel.set(card.label, card);
  }
  const strength = (link) => (link.arcs.some((arc) => arc.t === "or") ? 0 : link.arcs.some((arc) => arc.t === "r") ? 1 : 2);
  const byStrength = [[], [], []];
  for (const link of links) byStrength[strength(link)].push(link);
  for (const same of byStrength) for (const link of same) join(link.a, link.b);
  const groups = new Map();
  for (const card of cards) {
    const root = find(card);
    if (!groups.has(root)) groups.set(root, []);
    groups.get(root).push(card);
  }
  return [...groups.values()];
}
