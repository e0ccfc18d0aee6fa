// An owner's template and the objects that it owns have the same references. They are drawn
// as one line from the owner, which also has the arcs of the others.

// Returns the card of the owner of a card's vertices if it is another, opened card.
function ownerCard({ owner, uses }) {
  return owner && !uses && owner.card.anchor === owner ? owner.card : undefined;
}

/** The links that are lines, and those whose arcs are said by the line of the highest owner that has one. */
export function sayOnce(links, cards) {
  const drawn = [];
  const said = [];
  let highest; // by link
  for (const link of links) {
    const isPlain = ownerCard(link.a) && !link.arcs.some((arc) => arc.t === "or");
    const line = isPlain ? (highest ??= highestOf(links, cards)).get(link) : link;
    if (line === link) {
      drawn.push(link);
      continue;
    }
    for (const arc of link.arcs) line.arcs.push(arc);
    said.push(link);
  }
  return { drawn, said };
}

// Returns the line to the same card from the highest owner that has one. Lines to a card are
// sorted so that an owner comes just before the objects that it owns.
function highestOf(links, cards) {
  number(cards);
  const highest = new Map();
  let line;
  for (const link of [...links].sort((l, m) => l.b.index - m.b.index || l.a.from - m.a.from)) {
    if (line?.b !== link.b || link.a.from > line.a.to) line = link;
    highest.set(link, line);
  }
  return highest;
}

// Numbers cards so that what a card owns, and what that owns, has the numbers after its own
// (from) up to a last one (to). A circle of owners begins where it is come to first.
function number(cards) {
  const owned = new Map();
  for (const card of cards) {
    const owner = ownerCard(card);
    if (!owner) continue;
    const siblings = owned.get(owner);
    if (siblings) siblings.push(card);
    else owned.set(owner, [card]);
  }
  let last = -1;
  const begin = (top) => {
    const path = [top];
    while (path.length > 0) {
      const card = path.at(-1);
      if (card.from < 0) {
        card.from = ++last;
        for (const each of owned.get(card) ?? []) if (each.from < 0) path.push(each);
      } else {
        card.to = last;
        path.pop();
      }
    }
  };
  for (const card of cards) if (!ownerCard(card)) begin(card);
  for (const card of cards) if (card.from < 0) begin(card);
}
