// What the page gets of a drawing: plain objects without cycles, small enough to
// be posted several times a second.

export const wireCard = (card) => ({
  key: card.key, id: card.uses ? card.user.key : card.anchor.key, x: card.x, y: card.y, name: card.name, kind: card.kind, sub: card.sub,
  role: card.role, resource: card.resource, health: card.health, count: card.count, bar: card.bar, badge: card.badge,
  missing: !card.anchor.present, uses: card.uses, opened: card.opened, opens: card.uses || card.members.length > 1 || card.opened,
});

const types = ["or", "r", "t"];

const wireLine = (line) => {
  let type = 2;
  let missing = true;
  for (const arc of line.arcs) {
    type = Math.min(type, types.indexOf(arc.t));
    if (arc.s.present && arc.d.present) missing = false;
  }
  return { a: line.a.index, b: line.b.index, type: types[type], n: line.arcs.length, missing, way: line.way };
};

/** An app's box without what is in it. */
export const wireApp = (app) => ({
  key: app.key, title: app.title, x: app.x, y: app.y, w: app.w, h: app.h, health: app.health, problems: app.problems, vertices: app.vertices,
});

export const wirePlace = (place) => ({
  name: place.name, x: place.x, y: place.y, w: place.w, h: place.h, title: place.title,
  apps: place.apps.map((app) => ({ ...wireApp(app), cards: app.cards.map(wireCard), lines: app.lines.map(wireLine) })),
});
