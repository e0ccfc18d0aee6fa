// Folds the vertices of one namespace into cards, apps and a box of what many
// share. Pure: the same vertices and the same opened cards give the same result.
//
// Conservation: each arc that leaves a vertex is counted exactly once, as inside
// (of a card), hub (on a badge), line (between two cards of an app) or between
// (two boxes). test/dashboard checks it over random graphs.
import { Links, groupByLinks, inOrder } from "./links.js";
import { describe } from "./card.js";
import { sayOnce } from "./once.js";
import { isGiven, isSpare, isSystem, restKey } from "./rest.js";
import { leafRoles } from "./store.js";

const hubUsers = 4; // distinct cards from which on a line each says nothing
const smallPlace = 12; // so few cards that a line each is readable
const onPath = {}; // the anchor of a vertex while it is looked for
const looseRoles = new Set(["config", "storage", "identity", "policy", "other"]);

/** Whether an object owns others. */
export const ownsSome = (v) => v.in.some((arc) => arc.t === "or");

/** How a card's key says what is opened: an owner's own key, or what it uses. */
export const usesKey = (key) => `uses:${key}`;

/**
 * Folds a place. Options: opened says of a key whether that card is open; shows
 * says of an arc whether no filter hides it; whole makes one box of everything; rests
 * folds the rest of the place into one card; common is the label of nearly all workloads, where vertices are not all of them.
 * The result has cards, apps ({key, title, cards, lines}), between (arcs that lead
 * out of a box) and account (how many arcs are where).
 */
export function fold(name, vertices, { opened = /** @type {(key: string) => boolean} */ (() => false), shows = (_arc) => true, whole = false, rests = false, common = undefined } = {}) {
  const trees = gather([...vertices], opened);
  const links = new Links(trees, shows);
  if (!whole) findHubs(trees, links);
  let cards = foldLeaves(trees, links, opened);
  const between = links.foreign;
  const account = { inside: 0, hub: 0, line: 0, between: between.length, hidden: links.hidden };
  const { drawn, said } = sayOnce(settle(links, cards, account), cards);
  for (const card of cards) describe(card);
  for (const { a, b } of drawn) if (!a.hub && !b.hub) a.linked = b.linked = true;
  const groups = whole ? [cards] : groupByLinks(cards, drawn, common);
  const rest = rests ? restOf(name, groups, cards) : [];
  const folded = rest.length > 0 && !opened(restKey(name)) ? foldRest(name, rest, rest.length === cards.length) : undefined;
  if (folded) cards = numbered([...cards.filter((card) => !card.into), folded]);
  const kept = boxes(groups, cards, new Set(rest), { whole, folded });
  for (const app of kept) for (const card of app.cards) card.app = app;
  for (const link of drawn) {
    const [a, b] = [link.a = settledCard(link.a), link.b = settledCard(link.b)];
    if (a === b) account.inside += link.arcs.length;
    else if (a.hub || b.hub) {
      account.hub += link.arcs.length;
      (b.hub ? b : a).badge += link.arcs.length;
    } else if (a.app === b.app && a.app.key !== "loose") {
      account.line += link.arcs.length;
      a.app.lines.push(link);
      a.begins++;
      b.ends++;
    } else {
      account.between += link.arcs.length;
      for (const arc of link.arcs) between.push(arc);
    }
  }
  // References that are not drawn still order the cards from left to right.
  for (const { a, b } of said) if (!a.into && !b.into && a.app === b.app) a.app.hints.push([a, b]);
  kept.sort((a, b) => a.sort - b.sort || compare(a.key, b.key));
  return { name, cards, apps: kept, between, account };
}

// Returns the cards of a place's rest: those of boxes without a workload, and shared ones that every namespace has, or
// all of these where there is nothing else.
function restOf(name, groups, cards) {
  const system = isSystem(name);
  const [rest, others] = [[], []];
  for (const group of groups) {
    const to = isSpare(group, system) ? rest : others;
    for (const card of group) to.push(card);
  }
  for (const card of cards) if (card.hub && (others.length === 0 || isGiven(card)) && isSpare([card], system)) rest.push(card);
  return rest;
}

function foldRest(name, rest, only) {
  const card = newCard(restKey(name), rest[0].anchor);
  card.members = [];
  card.uses = true;
  card.rest = only ? "object" : "other object";
  card.user = card;
  for (const each of rest) moveInto(card, each);
  return describe(card);
}

// Returns the boxes of a place: those of groups, and those of what is in none.
function boxes(groups, cards, rest, { whole, folded }) {
  const [kept, loose] = [[], []];
  for (const group of groups) {
    const [only] = group;
    if (group.length === 0 || only.into) continue;
    if (!whole && group.length === 1 && !only.linked && looseRoles.has(only.role) && only.anchor.present) loose.push(only);
    else kept.push(box(group, rest.has(only)));
  }
  const quiet = (key, title, sort, list) => { if (list.length > 0) kept.push({ key, title, sort, cards: list, lines: [], hints: [], rest: sort > 2 }); };
  quiet("loose", "no references", 3, loose);
  quiet("given", "in each namespace", 3, cards.filter((card) => card.hub && rest.has(card)));
  quiet("shared", "shared", 0, cards.filter((card) => card.hub && !rest.has(card)));
  quiet("rest", folded?.name, 4, folded ? [folded] : []);
  return kept;
}

/** Returns where an arc is visible, given the folds of its ends. */
export function whereIs(arc, shows = (_arc) => true) {
  if (arc.s.home === undefined || arc.d.home === undefined || !shows(arc)) return "hidden";
  const [a, b] = [arc.s.card, arc.d.card];
  if (a === b) return "inside";
  if (arc.s.home !== arc.d.home) return "between";
  if (a.hub || b.hub) return "hub";
  return a.app === b.app && a.app.key !== "loose" ? "line" : "between";
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byName = (v, w) => compare(v.n, w.n) || compare(v.key, w.key);

/** The owner that counts: of the same place, and the controller if there is one. */
export function ownerOf(v) {
  let owner;
  for (const arc of v.out) {
    if (arc.t !== "or" || !arc.d.present || arc.d.home !== v.home || arc.d === v) continue;
    if (!owner || (arc.c && !owner.c) || (arc.c === owner.c && arc.d.key < owner.d.key)) owner = arc;
  }
  return owner?.d;
}

// Makes a card for each vertex without an owner, and for the vertices that opened cards own.
function gather(vertices, opened) {
  for (const v of vertices) {
    v.owner = ownerOf(v);
    v.anchor = undefined;
  }
  const path = [];
  const cards = [];
  for (const v of vertices) {
    const top = anchorOf(v, opened, path);
    for (const each of path) each.anchor = top;
    path.length = 0;
    if (top !== v) continue;
    v.card = newCard(v.key, v);
    cards.push(v.card);
  }
  for (const v of vertices) {
    if (v.anchor === v) continue;
    v.card = v.anchor.card;
    v.card.members.push(v);
  }
  for (const card of cards) {
    card.owner = card.anchor.owner;
    card.opened = opened(card.key);
    if (card.members.length > 2) card.members.sort((a, b) => (a === card.anchor ? -1 : b === card.anchor ? 1 : byName(a, b)));
  }
  return numbered(cards.sort((a, b) => a.anchor.rank - b.anchor.rank || byName(a.anchor, b.anchor)));
}

// Returns the vertex whose card a vertex is in. path collects the owners on the way, which
// are in the same card.
function anchorOf(v, opened, path) {
  for (let at = v; ; at = at.owner) {
    if (at.anchor === onPath) return leastOfCircle(at);
    if (at.anchor) return at.anchor;
    at.anchor = onPath;
    path.push(at);
    if (!at.owner || opened(at.owner.key)) return at;
  }
}

// Of owners in a circle one is as good as another, but it is the same each time.
function leastOfCircle(v) {
  let least = v;
  for (let at = v.owner; at !== v; at = at.owner) if (at.key < least.key) least = at;
  return least;
}

function numbered(cards) {
  cards.forEach((card, i) => { card.index = i; });
  return cards;
}

function newCard(key, anchor) {
  return {
    key, anchor, members: [anchor], owner: undefined, opened: false, hub: false, uses: false, rest: "", spare: false, linked: false, badge: 0, begins: 0, ends: 0, from: -1, to: -1,
    ins: 0, outs: 0, first: 0, users: 0, used: undefined, tree: 0, usedBy: undefined, away: false, // of links
    app: undefined, into: undefined, index: 0, label: "", user: undefined, folds: false, leaves: undefined,
    health: "unknown", level: 0, worst: anchor, problems: 0, causes: undefined, common: false, vertices: 0, bar: undefined, count: 0,
    role: anchor.role, kind: anchor.kind, resource: anchor.r, name: anchor.n, short: "", state: "", x: 0, y: 0,
  };
}

// Counts an owner and the objects that it owns as one user, also if the card is open.
function countByTrees(trees, links) {
  if (!trees.some((card) => card.owner)) return;
  const tops = new Map();
  for (const card of trees) {
    card.users -= card.ins;
    card.used = 0;
    card.tree = topOf(card.anchor, tops).card?.index ?? card.index;
  }
  const seen = new Set();
  const isNew = (from, to) => seen.size !== seen.add(from * trees.length + to).size;
  for (const { a, b } of links.all) if (isNew(a.tree, b.index)) b.users++;
  seen.clear();
  for (const { a, b } of links.all) if (isNew(a.index, b.tree)) a.used++;
}

// Returns the last owner in a vertex's chain of owners; in a cycle, the first visited one.
function topOf(v, tops) {
  const path = new Set();
  let at = v;
  for (; at.owner && !tops.has(at) && !path.has(at); at = at.owner) path.add(at);
  const top = tops.get(at) ?? at;
  for (const each of path) tops.set(each, top);
  return top;
}

function findHubs(trees, links) {
  countByTrees(trees, links);
  const limit = trees.length > smallPlace ? hubUsers : 2 * hubUsers;
  for (const card of trees) {
    if (card.members.length > 1 || card.owner || card.opened || card.anchor.role === "workload") continue;
    const most = card.anchor.role === "network" ? 2 * limit : limit;
    card.hub = card.users >= most || (card.used ?? card.outs) >= most || (card.users > 1 && isGiven(card));
  }
}

const isCalm = (v) => v.present && v.health !== "degraded" && v.health !== "progressing";

// Folds leaves: cards that only one other card uses and that lead nowhere else. A single leaf
// moves into its user's card; several become one card.
function foldLeaves(trees, links, opened) {
  const waits = new Map(); // the cards that one leads to and that are not folded yet, of those that may fold: a circle does not
  const folded = [];
  for (const card of trees) {
    if (card.hub || card.owner || card.opened || !leafRoles.has(card.anchor.role) || card.ins !== 1 || card.users !== 1 || card.away || !card.members.every(isCalm)) continue;
    waits.set(card, links.leadsTo(card).filter(({ hub }) => !hub).length);
    if (waits.get(card) === 0) folded.push(card);
  }
  for (const card of folded) {
    card.folds = true;
    const left = (waits.get(card.usedBy) ?? 0) - 1;
    waits.set(card.usedBy, left);
    if (left === 0) folded.push(card.usedBy);
  }
  for (const card of trees) {
    if (!card.folds) continue;
    const user = card.usedBy;
    if (user.hub) card.folds = false;
    else (user.leaves ??= []).push(card); // it alone uses them
  }
  const made = [];
  for (const card of trees) {
    const { leaves } = card;
    if (!leaves || card.into || card.folds) continue;
    if (leaves.length === 1 || opened(usesKey(card.key))) {
      for (const leaf of leaves) for (const below of leaf.leaves ?? []) absorb(leaf, below);
      continue;
    }
    const uses = newCard(usesKey(card.key), leaves[0].anchor);
    uses.members = [];
    uses.uses = true;
    uses.user = card;
    made.push(uses);
    for (const leaf of leaves) absorb(uses, leaf);
  }
  return numbered([...trees.filter((card) => !card.into), ...made]);
}

function absorb(into, card) {
  const all = [card];
  for (const each of all) {
    moveInto(into, each);
    for (const leaf of each.leaves ?? []) all.push(leaf);
  }
}

function moveInto(into, card) {
  card.into = into;
  for (const v of card.members) {
    into.members.push(v);
    v.card = into;
  }
}

function settledCard(card) {
  while (card.into) card = card.into;
  return card;
}

// The links between cards as they are in the end; what became the inside of one
// is only counted.
function settle(links, cards, account) {
  account.inside += links.inside;
  const [settled, from, to] = [[], [], []];
  for (const link of links.all) {
    const [a, b] = [settledCard(link.a), settledCard(link.b)];
    if (a === b) {
      account.inside += link.arcs.length;
      continue;
    }
    link.a = a;
    link.b = b;
    settled.push(link);
    from.push(a.index);
    to.push(b.index);
  }
  const order = inOrder(from, to, settled.length, cards.length);
  const merged = [];
  let last;
  for (let i = 0; i < settled.length; i++) {
    const link = settled[order[i]];
    if (last === undefined || last.a !== link.a || last.b !== link.b) merged.push(last = link);
    else for (const arc of link.arcs) last.arcs.push(arc);
  }
  return merged;
}

function box(cards, rest) {
  let labelled;
  let main = cards[0];
  for (const card of cards) {
    if (card.label) labelled ??= card.label;
    const [a, b] = [weight(main), weight(card)];
    if (b > a || (b === a && card.key < main.key)) main = card;
  }
  return {
    key: labelled ? `app:${labelled}` : `card:${main.key}`,
    title: labelled ?? main.anchor.n, sort: rest ? 2 : 1, cards, lines: [], hints: [], rest,
  };
}

const weight = (card) => (card.uses ? -1 : card.anchor.role === "workload" ? 1000 + (card.owner ? 0 : 500) : card.anchor.role === "network" ? 500 : 0) + (card.anchor.present ? 1 : 0);
