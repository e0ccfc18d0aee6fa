// Draws the cards of one app in layers, from left to right: cycles are cut, a
// card stands right of all that lead to it, long lines get a way between the
// cards, and each card comes to where its neighbours are, as far as there is room.
// After Sugiyama, Tagawa and Toda (1981); heights by isotonic regression.

export const card = { w: 208, h: 40, gapX: 56, gapY: 12, wayH: 6 };
const sweeps = 4;
const tallest = 14; // cards in a column, beyond which it is split

/**
 * Nodes are {rank, ...}, in their order of preference; edges pairs of indices, and
 * hints more of them, which are not drawn.
 * It returns places {x, y} of the nodes, ways (per edge, points between its ends),
 * and the size of all.
 */
export function layered(nodes, edges, hints = []) {
  const n = nodes.length;
  if (n === 1 && edges.length === 0) return { places: [{ x: 0, y: 0 }], ways: [], width: card.w, height: card.h };
  const all = cutCycles(n, [...edges, ...hints]);
  const layer = assign(n, all);
  const forward = all.slice(0, edges.length);
  const { columns, items, chains } = fill(nodes, forward, layer);
  order(columns, items);
  return coordinates(columns, items, chains, n, edges, forward);
}

// Edges as [a, b] without cycles: what leads back is turned around.
function cutCycles(n, edges) {
  const out = Array.from({ length: n }, () => []);
  edges.forEach(([a, b], i) => { if (a !== b) out[a].push([b, i]); });
  const state = new Uint8Array(n); // 1: on the way, 2: done
  const forward = edges.map(([a, b]) => [a, b]);
  const visit = (root) => {
    const stack = [[root, 0]];
    state[root] = 1;
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const next = out[top[0]][top[1]++];
      if (!next) {
        state[top[0]] = 2;
        stack.pop();
      } else if (state[next[0]] === 1) {
        forward[next[1]] = [next[0], top[0]];
      } else if (state[next[0]] === 0) {
        state[next[0]] = 1;
        stack.push([next[0], 0]);
      }
    }
  };
  // Nodes are sorted by role, so that a Service comes before what it selects.
  for (let v = 0; v < n; v++) if (state[v] === 0) visit(v);
  return forward;
}

function assign(n, edges) {
  const ins = new Int32Array(n);
  const out = Array.from({ length: n }, () => []);
  for (const [a, b] of edges) {
    if (a === b) continue;
    out[a].push(b);
    ins[b]++;
  }
  const sources = [];
  const layer = new Int32Array(n);
  const queue = [];
  for (let v = 0; v < n; v++) if (ins[v] === 0) queue.push(v), sources.push(v);
  for (let i = 0; i < queue.length; i++) {
    for (const b of out[queue[i]]) {
      layer[b] = Math.max(layer[b], layer[queue[i]] + 1);
      if (--ins[b] === 0) queue.push(b);
    }
  }
  // What nothing leads to stands right beside the first that it leads to.
  for (const v of sources) {
    if (out[v].length > 0) layer[v] = Math.min(...out[v].map((b) => layer[b])) - 1;
  }
  const least = Math.min(...layer);
  return layer.map((l) => l - least);
}

// Columns of items; an edge over several columns has an item in each between.
function fill(nodes, edges, layer) {
  const columns = [];
  const items = [];
  const add = (at, item) => {
    while (columns.length <= at) columns.push([]);
    Object.assign(item, { index: items.length, column: at, before: [], after: [], y: 0 });
    items.push(item);
    columns[at].push(item);
    return item;
  };
  nodes.forEach((node, v) => add(layer[v], { v, rank: node.rank, h: card.h }));
  const chains = edges.map(([a, b]) => {
    const chain = [items[a]];
    if (a !== b) for (let at = layer[a] + 1; at < layer[b]; at++) chain.push(add(at, { v: -1, rank: nodes[b].rank, h: card.wayH }));
    chain.push(items[b]);
    for (let i = 1; i < chain.length; i++) {
      if (chain[i - 1] === chain[i]) continue;
      chain[i - 1].after.push(chain[i]);
      chain[i].before.push(chain[i - 1]);
    }
    return chain;
  });
  return { columns, items, chains };
}

// The order within columns: by role, and by where the neighbours are.
function order(columns) {
  const settle = (column) => column.forEach((item, i) => { item.at = i / Math.max(1, column.length - 1 || 1); });
  for (const column of columns) {
    column.sort((a, b) => a.rank - b.rank || a.index - b.index);
    settle(column);
  }
  if (columns.length === 1) return; // nobody has a neighbour
  const mean = (list) => {
    let sum = 0;
    for (const item of list) sum += item.at;
    return sum / list.length;
  };
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const right = sweep % 2 === 0;
    for (const column of right ? columns : [...columns].reverse()) {
      for (const item of column) {
        const near = right ? item.before : item.after;
        item.wish = near.length > 0 ? mean(near) : item.at;
      }
      column.sort((a, b) => a.wish - b.wish || a.rank - b.rank || a.index - b.index);
      settle(column);
    }
  }
}

function coordinates(columns, items, chains, n, edges, forward) {
  const xs = [];
  let x = 0;
  for (const column of columns) {
    xs.push(x);
    const cards = column.filter((item) => item.v >= 0);
    // A tall column of cards becomes several, side by side.
    const wide = cards.length > tallest * 1.5 ? Math.ceil(cards.length / tallest) : 1;
    column.wide = wide;
    cards.forEach((item, i) => { item.sub = i % wide; });
    x += wide * card.w + (wide - 1) * 16 + card.gapX;
  }
  const width = x - card.gapX;
  for (const column of columns) stack(column, (item) => item.index);
  const centers = (list) => {
    let sum = 0;
    for (const item of list) sum += item.y + item.h / 2;
    return sum;
  };
  const beside = (item, before, after) => {
    const count = (before ? item.before.length : 0) + (after ? item.after.length : 0);
    if (count === 0) return item.y;
    return ((before ? centers(item.before) : 0) + (after ? centers(item.after) : 0)) / count - item.h / 2;
  };
  const passes = columns.length === 1 ? [] : [[true, false], [false, true], [true, false], [true, true]];
  for (const [before, after] of passes) {
    const wish = (item) => beside(item, before, after);
    for (const column of before ? columns : [...columns].reverse()) stack(column, wish, true);
  }
  let top = Infinity;
  for (const item of items) top = Math.min(top, item.y);
  let height = 0;
  const places = Array.from({ length: n }, () => undefined);
  for (const item of items) {
    item.y = Math.round(item.y - top);
    height = Math.max(height, item.y + item.h);
    if (item.v >= 0) places[item.v] = { x: xs[item.column] + (item.sub ?? 0) * (card.w + 16), y: item.y };
  }
  const ways = chains.map((chain, i) => {
    const points = chain.slice(1, -1).flatMap((item) => {
      const [left, y] = [xs[item.column], item.y + item.h / 2];
      return [{ x: left, y }, { x: left + columns[item.column].wide * (card.w + 16) - 16, y }];
    });
    return forward[i][0] === edges[i][0] ? points : points.reverse();
  });
  return { places, ways, width, height: items.length > 0 ? height : 0 };
}

// Places a column's items near where they wish to be, in their order and without
// overlap, so that the sum of squared distances is least (pool adjacent violators).
function stack(column, wish, wished = false) {
  const { wide } = column;
  const rows = [];
  let fill = 0;
  for (const item of column) {
    const single = item.v < 0 || wide === 1;
    if (single || fill === 0) rows.push([item]);
    else rows[rows.length - 1].push(item);
    fill = single ? 0 : (fill + 1) % wide;
  }
  let offset = 0;
  const blocks = [];
  for (const row of rows) {
    let h = 0;
    let want = 0;
    for (const item of row) {
      h = Math.max(h, item.h);
      if (wished) want += wish(item);
    }
    want = (wished ? want / row.length : offset) - offset;
    row.offset = offset;
    offset += h + card.gapY;
    blocks.push({ sum: want, count: 1, rows: [row] });
    while (blocks.length > 1) {
      const [a, b] = [blocks[blocks.length - 2], blocks[blocks.length - 1]];
      if (a.sum / a.count <= b.sum / b.count) break;
      blocks.pop();
      a.sum += b.sum;
      a.count += b.count;
      for (const each of b.rows) a.rows.push(each);
    }
  }
  for (const block of blocks) {
    const shift = block.sum / block.count;
    for (const row of block.rows) for (const item of row) item.y = shift + row.offset;
  }
}

/** A grid of cards without lines, about as wide as high. */
export function grid(count) {
  const columns = Math.max(1, Math.round(Math.sqrt(count * (card.h + card.gapY) / (card.w + 16) * 1.6)));
  const places = Array.from({ length: count }, (_, i) => ({
    x: (i % columns) * (card.w + 16), y: Math.floor(i / columns) * (card.h + card.gapY),
  }));
  const rows = Math.ceil(count / columns);
  return { places, ways: [], width: Math.min(columns, count) * (card.w + 16) - 16, height: rows * (card.h + card.gapY) - card.gapY };
}
