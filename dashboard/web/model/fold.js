// Folds the vertices of one namespace into cards, apps and a box of what many
// share. Pure: the same vertices and the same opened cards give the same result.
//
// Conservation: each arc that leaves a vertex is counted exactly once, as inside
// (of a card), hub (on a badge), line (between two cards of an app) or between
// (two boxes). test/dashboard checks it over random graphs.
import { Links, groupByLinks } from "./links.js";
import { describe } from "./card.js";
import { leafRoles } from "./store.js";

const hubUsers = 4; // distinct cards from which on a line each says nothing
const smallPlace = 12; // so few cards that a line each is readable
const looseRoles = new Set(["config", "storage", "identity", "policy", "other"]);

/** How a card's key says what is opened: an owner's own key, or what it uses. */
export const usesKey = (key) => `uses:${key}`;

/**
 * Folds a place. Options: opened says of a key whether that card is open; shows
 * says of an arc whether no filter hides it; whole makes one box of everything.
 * The result has cards, apps ({key, title, cards, lines}), between (arcs that lead
 * out of a box) and account (how many arcs are where).
 */
export function fold(name, vertices, { opened = () => false, shows = () => true, whole = false } = {}) {
  const trees = gather(vertices, opened);
  const links = new Links(trees, shows);
  const hubs = findHubs(trees, links, whole);
  const cards = foldLeaves(trees, links, hubs, opened);
  const between = links.foreign.slice();
  const account = { inside: 0, hub: 0, line: 0, between: between.length, hidden: links.hidden };
  const { drawn, said } = sayOnce(settle(links, account), cards);
  for (const card of cards) describe(card);
  const groups = whole ? [cards] : groupByLinks(cards.filter((card) => !card.hub), drawn.filter((l) => !l.a.hub && !l.b.hub));
  const apps = groups.map((group) => box(group));
  const linked = new Set(drawn.flatMap((l) => (l.a.hub || l.b.hub ? [] : [l.a, l.b])));
  const loose = new Set(whole ? [] : apps.filter(({ cards: [only, another] }) => !another && !linked.has(only) && looseRoles.has(only.role) && only.anchor.present));
  const kept = apps.filter((app) => !loose.has(app));
  if (loose.size > 0) kept.push({ key: "loose", title: "on their own", sort: 2, cards: [...loose].flatMap((app) => app.cards), lines: [], hints: [] });
  const shared = cards.filter((card) => card.hub);
  if (shared.length > 0) kept.push({ key: "shared", title: "shared", sort: 0, cards: shared, lines: [], hints: [] });
  for (const app of kept) for (const card of app.cards) card.app = app;
  for (const link of drawn) {
    if (link.a.hub || link.b.hub) {
      account.hub += link.arcs.length;
      (link.b.hub ? link.b : link.a).badge += link.arcs.length;
    } else if (link.a.app === link.b.app && link.a.app.key !== "loose") {
      account.line += link.arcs.length;
      link.a.app.lines.push(link);
    } else {
      account.between += link.arcs.length;
      for (const arc of link.arcs) between.push(arc);
    }
  }
  // What is not drawn still says which is right of which.
  for (const { a, b } of said) if (a.app === b.app) a.app.hints.push([a, b]);
  kept.sort((a, b) => a.sort - b.sort || compare(a.key, b.key));
  return { name, cards, apps: kept, between, account };
}

/** Where an arc is to be seen, given the folds that its ends are in. */
export function whereIs(arc, shows = () => true) {
  if (arc.s.home === undefined || arc.d.home === undefined || !shows(arc)) return "hidden";
  const [a, b] = [arc.s.card, arc.d.card];
  if (a === b) return "inside";
  if (arc.s.home !== arc.d.home) return "between";
  if (a.hub || b.hub) return "hub";
  return a.app === b.app && a.app.key !== "loose" ? "line" : "between";
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** The owner that counts: of the same place, and the controller if there is one. */
export function ownerOf(v) {
  let owner;
  for (const arc of v.out) {
    if (arc.t !== "or" || !arc.d.present || arc.d.home !== v.home || arc.d === v) continue;
    if (!owner || (arc.c && !owner.c) || (arc.c === owner.c && arc.d.key < owner.d.key)) owner = arc;
  }
  return owner?.d;
}

// A card for each vertex that nobody owns, and for what opened cards own.
function gather(vertices, opened) {
  const owner = new Map();
  for (const v of vertices) owner.set(v, ownerOf(v));
  const anchors = new Map();
  const anchor = (v) => {
    const path = [];
    const seen = new Set();
    let at = v;
    for (;;) {
      const known = anchors.get(at);
      if (known) { at = known; break; }
      path.push(at);
      seen.add(at);
      const up = owner.get(at);
      if (!up || opened(up.key)) break;
      if (seen.has(up)) { at = [...seen].reduce((a, b) => (a.key < b.key ? a : b)); break; } // owners in a circle
      at = up;
    }
    for (const each of path) anchors.set(each, at);
    return at;
  };
  const cards = new Map();
  for (const v of vertices) {
    const top = anchor(v);
    let card = cards.get(top);
    if (!card) cards.set(top, card = newCard(top.key, top));
    card.members.push(v);
    v.card = card;
  }
  for (const card of cards.values()) {
    card.owner = owner.get(card.anchor);
    card.opened = opened(card.key);
    if (card.members.length > 1) card.members.sort((a, b) => (a === card.anchor ? -1 : b === card.anchor ? 1 : compare(a.key, b.key)));
  }
  return [...cards.values()].sort((a, b) => a.anchor.rank - b.anchor.rank || compare(a.key, b.key));
}

function newCard(key, anchor) {
  return { key, anchor, members: [], owner: undefined, opened: false, hub: false, uses: false, badge: 0, users: 0, app: undefined, into: undefined };
}

function findHubs(trees, links, none) {
  const hubs = new Set();
  for (const card of trees) {
    card.users = links.users(card);
    if (none) continue;
    if (card.members.length > 1 || card.owner || card.opened || card.anchor.role === "workload") continue;
    const limit = (card.anchor.role === "network" ? 2 : 1) * (trees.length > smallPlace ? hubUsers : 2 * hubUsers);
    if (card.users >= limit || links.outs(card).size >= limit) {
      card.hub = true;
      hubs.add(card);
    }
  }
  return hubs;
}

// What one card alone uses, and what leads nowhere else, is folded: one such leaf
// takes what it uses itself, several are one card.
function foldLeaves(trees, links, hubs, opened) {
  const state = new Map(); // card: true, false, or undefined while it is looked at
  const foldable = (card) => {
    if (state.has(card)) return state.get(card) ?? false;
    state.set(card, undefined);
    const { anchor } = card;
    const calm = card.members.every((v) => v.present && v.health !== "degraded" && v.health !== "progressing");
    const alone = links.ins(card).size === 1 && links.users(card) === 1;
    const folds = !hubs.has(card) && calm && alone && leafRoles.has(anchor.role) && !card.owner && !card.opened &&
      !links.leadsAway(card) && [...links.outs(card)].every((to) => to.hub || foldable(to));
    state.set(card, folds);
    return folds;
  };
  const hosts = new Map(); // card: the leaves that it alone uses
  for (const card of trees) {
    if (!foldable(card)) continue;
    const [user] = links.ins(card);
    if (user.hub) { state.set(card, false); continue; }
    if (!hosts.has(user)) hosts.set(user, []);
    hosts.get(user).push(card);
  }
  const made = [];
  const absorb = (into, card) => {
    card.into = into;
    for (const v of card.members) {
      into.members.push(v);
      v.card = into;
    }
    for (const leaf of hosts.get(card) ?? []) absorb(into, leaf);
  };
  for (const card of trees) {
    const leaves = hosts.get(card);
    if (!leaves || card.into || foldable(card)) continue;
    if (leaves.length === 1 || opened(usesKey(card.key))) {
      for (const leaf of leaves) for (const below of hosts.get(leaf) ?? []) absorb(leaf, below);
      card.usesOpened = leaves.length > 1;
      continue;
    }
    const uses = newCard(usesKey(card.key), leaves[0].anchor);
    uses.uses = true;
    uses.user = card;
    made.push(uses);
    for (const leaf of leaves) absorb(uses, leaf);
  }
  return [...trees.filter((card) => !card.into), ...made];
}

// The links between cards as they are in the end; what became the inside of one
// is only counted.
function settle(links, account) {
  const final = (card) => { while (card.into) card = card.into; return card; };
  const merged = new Map();
  account.inside += links.inside;
  for (const link of links.all()) {
    const [a, b] = [final(link.a), final(link.b)];
    if (a === b) {
      account.inside += link.arcs.length;
      continue;
    }
    let to = merged.get(a);
    if (!to) merged.set(a, to = new Map());
    const known = to.get(b);
    if (known) for (const arc of link.arcs) known.arcs.push(arc);
    else to.set(b, { a, b, arcs: link.arcs.slice() });
  }
  return [...merged.values()].flatMap((to) => [...to.values()]);
}

// What an owner's template refers to, and so all that it owns, is one line: that of
// the owner, which has the arcs of the others as well.
function sayOnce(links, cards) {
  const byAnchor = new Map(cards.map((card) => [card.anchor, card]));
  const ownerCard = (card) => (card.owner && !card.uses ? byAnchor.get(card.owner) : undefined);
  const known = new Map();
  for (const link of links) {
    if (!known.has(link.b)) known.set(link.b, new Map());
    known.get(link.b).set(link.a, link);
  }
  const [drawn, said] = [[], []];
  for (const link of links) {
    let highest;
    const seen = new Set();
    for (let up = ownerCard(link.a); up && !seen.has(up); up = ownerCard(up)) {
      seen.add(up);
      if (up !== link.b) highest = known.get(link.b).get(up) ?? highest;
    }
    const plain = !link.arcs.some((arc) => arc.t === "or");
    if (highest && plain && highest !== link) {
      for (const arc of link.arcs) highest.arcs.push(arc);
      said.push(link);
    } else drawn.push(link);
  }
  return { drawn, said };
}

function box(cards) {
  const labelled = cards.find((card) => card.label);
  const main = cards.reduce((a, b) => (weight(b) > weight(a) || (weight(b) === weight(a) && b.key < a.key) ? b : a));
  return {
    key: labelled ? `app:${labelled.label}` : `card:${main.key}`,
    title: labelled ? labelled.label : main.anchor.n, sort: 1, cards, lines: [], hints: [],
  };
}

const weight = (card) => (card.uses ? -1 : card.anchor.role === "workload" ? 1000 + (card.owner ? 0 : 500) : card.anchor.role === "network" ? 500 : 0) + (card.anchor.present ? 1 : 0);
