// What the worker does with commands, as it is bundled: what is opened, focused and
// paused, and what becomes of that when the reader goes back or to another view.
import assert from "node:assert/strict";
import test from "node:test";

import { Engine } from "../../dashboard/dist/model/engine.js";
import { emptyFilters } from "../../dashboard/web/model/scope.js";
import { cluster } from "./cluster.mjs";

const plain = { filters: emptyFilters(), toggled: [], focus: undefined };

/** An engine that shows a graph of the generator, and what it has posted. */
function engineOf(t, vertices) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const posted = [];
  const engine = new Engine((message) => posted.push(message));
  const open = () => engine.handle({ do: "open", options: { snapshot: { actions: cluster(vertices), synced: true, taken: 0 } } });
  open();
  engine.handle({ do: "scope", ...plain });
  t.after(() => engine.handle({ do: "close" }));
  return { engine, open, posted, last: (type) => posted.filter((message) => message.type === type).at(-1) };
}

test("a box is opened whole, and folded whole", (t) => {
  const { engine, last } = engineOf(t, 300);
  const box = ({ places }) => places.flatMap(({ apps }) => apps).find(({ title }) => title === "cart-db" || title === "sync-db" || title === "rank-db");
  const [{ key: card, opens }] = box(last("scene")).cards.filter((each) => each.opens);
  const before = box(last("scene")).cards.length;
  assert.ok(opens);
  engine.handle({ do: "toggleBox", card });
  const opened = last("scene").places.flatMap(({ apps }) => apps).find((app) => app.cards?.some(({ key }) => key === card));
  assert.ok(opened.cards.length > before, `${before} cards, then ${opened.cards.length}`);
  assert.deepEqual(opened.cards.filter((each) => each.opens && !each.opened).map(({ key }) => key), []);
  assert.ok(last("toggled").toggled.length > 0);
  engine.handle({ do: "toggleBox", card });
  assert.equal(last("scene").places.flatMap(({ apps }) => apps).find((app) => app.cards?.some(({ key }) => key === card)).cards.length, before);
  assert.deepEqual(last("toggled").toggled, []);
});

test("who goes back from a focus sees everything again, where it was", (t) => {
  const { engine, last } = engineOf(t, 300);
  const where = () => last("scene").places.map(({ name, x, y }) => [name, x, y]).sort();
  const before = where();
  const { key } = last("scene").places[0].apps[0].cards[0];
  engine.handle({ do: "focus", focus: { key, depth: 1, up: true, down: true } });
  assert.deepEqual(where().map(([name]) => name), ["focus"]);
  engine.handle({ do: "scope", ...plain });
  assert.deepEqual(where(), before);
});

test("another view is drawn although the one before stood still", (t) => {
  const { engine, open, posted } = engineOf(t, 50);
  engine.handle({ do: "pause", on: true });
  posted.length = 0;
  open();
  t.mock.timers.tick(1000);
  assert.ok(posted.some(({ type, places }) => type === "scene" && places.length > 0), JSON.stringify(posted.map(({ type }) => type)));
});
