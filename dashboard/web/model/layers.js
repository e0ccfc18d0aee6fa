// Draws the cards of one app in layers, from left to right: cycles are cut, a
// card stands right of all that lead to it, long lines get a way between the
// cards, and each card comes to where its neighbours are, as far as there is room.
// After Sugiyama, Tagawa and Toda (1981); columns.js has what happens within columns.
//
// A graph has thousands of boxes, most of them of a few cards: what is worked with are
// arrays of numbers that the next box takes too. Nodes are items, and so are the points
// at which a line passes a column; edges and items are told apart by their indices.
import { card, order, place } from "./columns.js";
import { grown } from "./links.js";

export { card };

const straight = []; // the way of a line that passes nothing

// The arrays for the layout of one box. They are reused, so the elements after the used ones
// are stale.
const sheet = {
  nodes: 0, edges: 0, items: 0, segments: 0, columns: 0,
  // by edge
  source: new Int32Array(64), target: new Int32Array(64), turned: new Uint8Array(64), sorted: new Int32Array(64), chain: new Int32Array(64),
  // by node
  first: new Int32Array(64), cursor: new Int32Array(64), state: new Uint8Array(64), stack: new Int32Array(64), ins: new Int32Array(64), layer: new Int32Array(64),
  // by item
  column: new Int32Array(64), rank: new Int32Array(64), at: new Float64Array(64), wish: new Float64Array(64), x: new Float64Array(64), y: new Float64Array(64),
  afterFirst: new Int32Array(64), beforeFirst: new Int32Array(64), sub: new Int32Array(64),
  // by segment, which is a line from one column to the next
  segmentFrom: new Int32Array(64), segmentTo: new Int32Array(64), after: new Int32Array(64), before: new Int32Array(64),
  // by column, and the items of all columns
  columnFirst: new Int32Array(64), columnX: new Float64Array(64), wide: new Int32Array(64), inColumns: new Int32Array(64),
};

const byEdge = ["source", "target", "turned", "sorted", "chain"];
const byNode = ["first", "cursor", "state", "stack", "ins", "layer"];
const byItem = ["column", "rank", "at", "wish", "x", "y", "afterFirst", "beforeFirst", "sub", "inColumns"];
const bySegment = ["segmentFrom", "segmentTo", "after", "before"];
const byColumn = ["columnFirst", "columnX", "wide"];

// Arrays that are as long as one another.
function need(n, names) {
  if (sheet[names[0]].length >= n) return;
  for (const name of names) sheet[name] = grown(sheet[name], n);
}

/**
* Lays out nodes with the given ranks, which are in their order of preference. Edges lead
* from one index to another; those from `drawn` on are hints, which are not drawn. Returns x
* and y by node, valid until the next call; the points of each edge, moved by dx and dy; and
* the size of the whole.
*/
export function layered(ranks, from, to, drawn, { gap = card.gapX, dx = 0, dy = 0 } = {}) {
  const n = ranks.length;
  sheet.nodes = n;
  sheet.edges = from.length;
  need(n + 1, byNode);
  need(sheet.edges, byEdge);
  sheet.source.set(from);
  sheet.target.set(to);
  cutCycles();
  assign();
  fill(ranks, drawn);
  order(sheet);
  const size = place(sheet, gap);
  const ways = [];
  for (let e = 0; e < drawn; e++) ways.push(wayOf(e, dx, dy));
  return { x: sheet.x, y: sheet.y, ways, ...size };
}

// Edges in the order of where they begin: first says where those of a node are.
function sortEdges() {
  const { nodes, edges, source, first, sorted } = sheet;
  first.fill(0, 0, nodes + 1);
  for (let e = 0; e < edges; e++) first[source[e]]++;
  for (let v = 1; v <= nodes; v++) first[v] += first[v - 1];
  for (let e = edges - 1; e >= 0; e--) sorted[--first[source[e]]] = e;
}

// Reverses edges that lead back.
function cutCycles() {
  const { nodes, edges, source, target, turned, sorted, first, cursor, state, stack } = sheet;
  sortEdges();
  turned.fill(0, 0, edges);
  state.fill(0, 0, nodes); // 1: on the way, 2: done
  cursor.set(first.subarray(0, nodes));
  // Nodes are sorted by role, so that a Service comes before what it selects.
  for (let root = 0; root < nodes; root++) {
    if (state[root] !== 0) continue;
    let depth = 0;
    stack[0] = root;
    state[root] = 1;
    while (depth >= 0) {
      const at = stack[depth];
      if (cursor[at] === first[at + 1]) {
        state[at] = 2;
        depth--;
        continue;
      }
      const edge = sorted[cursor[at]++];
      const next = target[edge];
      if (next === at) continue;
      if (state[next] === 1) turned[edge] = 1;
      else if (state[next] === 0) {
        state[next] = 1;
        stack[++depth] = next;
      }
    }
  }
  for (let e = 0; e < edges; e++) if (turned[e] === 1) [source[e], target[e]] = [target[e], source[e]];
}

// The layer of each node: one more than the last that leads to it.
function assign() {
  const { nodes, edges, source, target, sorted, first, stack: queue, ins, layer } = sheet;
  sortEdges();
  ins.fill(0, 0, nodes);
  layer.fill(0, 0, nodes);
  for (let e = 0; e < edges; e++) if (source[e] !== target[e]) ins[target[e]]++;
  let known = 0;
  for (let v = 0; v < nodes; v++) if (ins[v] === 0) queue[known++] = v;
  const sources = known;
  for (let i = 0; i < known; i++) {
    const at = queue[i];
    for (let s = first[at]; s < first[at + 1]; s++) {
      const next = target[sorted[s]];
      if (next === at) continue;
      if (layer[next] <= layer[at]) layer[next] = layer[at] + 1;
      if (--ins[next] === 0) queue[known++] = next;
    }
  }
  // A node without incoming edges is put next to its first target.
  for (let i = 0; i < sources; i++) {
    const at = queue[i];
    let nearest = 0;
    for (let s = first[at]; s < first[at + 1]; s++) {
      const next = target[sorted[s]];
      if (next !== at && (nearest === 0 || layer[next] < nearest)) nearest = layer[next];
    }
    if (nearest > 0) layer[at] = nearest - 1;
  }
  let least = layer[0];
  for (let v = 1; v < nodes; v++) if (layer[v] < least) least = layer[v];
  for (let v = 0; v < nodes; v++) layer[v] -= least;
}

// Columns of items; an edge over several columns has an item in each between.
function fill(ranks, drawn) {
  const { nodes, source, target, layer } = sheet;
  let [items, segments, columns] = [nodes, 0, 0];
  for (let v = 0; v < nodes; v++) if (layer[v] >= columns) columns = layer[v] + 1;
  for (let e = 0; e < drawn; e++) {
    const far = layer[target[e]] - layer[source[e]];
    segments += far;
    if (far > 1) items += far - 1;
  }
  sheet.items = items;
  sheet.segments = segments;
  sheet.columns = columns;
  need(items + 1, byItem);
  need(segments, bySegment);
  need(columns + 1, byColumn);
  const { chain, column, rank, segmentFrom, segmentTo } = sheet;
  for (let v = 0; v < nodes; v++) {
    column[v] = layer[v];
    rank[v] = ranks[v];
  }
  let [item, segment] = [nodes, 0];
  for (let e = 0; e < drawn; e++) {
    chain[e] = item;
    let last = source[e];
    for (let at = layer[source[e]] + 1; at < layer[target[e]]; at++) {
      column[item] = at;
      rank[item] = ranks[target[e]];
      segmentFrom[segment] = last;
      segmentTo[segment++] = last = item++;
    }
    if (source[e] === target[e]) continue;
    segmentFrom[segment] = last;
    segmentTo[segment++] = target[e];
  }
  gatherBy(segmentFrom, segmentTo, segments, items, sheet.afterFirst, sheet.after);
  gatherBy(segmentTo, segmentFrom, segments, items, sheet.beforeFirst, sheet.before);
  fillColumns();
}

// By key, in the order in which they are: values, and where those of a key begin.
function gatherBy(keys, values, count, n, first, into) {
  first.fill(0, 0, n + 1);
  for (let i = 0; i < count; i++) first[keys[i]]++;
  for (let key = 1; key <= n; key++) first[key] += first[key - 1];
  for (let i = count - 1; i >= 0; i--) into[--first[keys[i]]] = values[i];
}

function fillColumns() {
  const { items, columns, column, columnFirst, inColumns } = sheet;
  columnFirst.fill(0, 0, columns + 1);
  for (let i = 0; i < items; i++) columnFirst[column[i]]++;
  for (let c = 1; c <= columns; c++) columnFirst[c] += columnFirst[c - 1];
  for (let i = items - 1; i >= 0; i--) inColumns[--columnFirst[column[i]]] = i;
}

// Where a line passes the columns between its ends: on their left and right sides.
function wayOf(edge, dx, dy) {
  const { source, target, turned, layer, chain, column, columnX, wide, y } = sheet;
  const passed = layer[target[edge]] - layer[source[edge]] - 1;
  if (passed < 1) return straight;
  const points = [];
  for (let item = chain[edge]; item < chain[edge] + passed; item++) {
    const left = columnX[column[item]];
    const middle = y[item] + card.wayH / 2 + dy;
    points.push({ x: left + dx, y: middle }, { x: left + wide[column[item]] * (card.w + card.beside) - card.beside + dx, y: middle });
  }
  return turned[edge] === 1 ? points.reverse() : points;
}

/** A grid of cards without lines, about as wide as high. */
export function grid(count) {
  const columns = Math.max(1, Math.round(Math.sqrt(count * (card.h + card.gapY) / (card.w + card.beside) * 1.6)));
  const rows = Math.ceil(count / columns);
  const [x, y] = [[], []];
  for (let i = 0; i < count; i++) {
    x.push((i % columns) * (card.w + card.beside));
    y.push(Math.floor(i / columns) * (card.h + card.gapY));
  }
  return { x, y, ways: [], width: Math.min(columns, count) * (card.w + card.beside) - card.beside, height: rows * (card.h + card.gapY) - card.gapY };
}
