// The columns of a drawing: the order of their items, and the y of each, by isotonic
// regression.
import { grown } from "./links.js";

/** The size of a card, and how far things are from one another: in a column, and on the way of a line. */
export const card = { w: 208, h: 40, gapX: 64, gapY: 12, wayH: 6, beside: 16 };

const sweeps = 4;
const tallest = 14; // cards in a column, beyond which it is split
const few = 40; // items up to which an insertion is the faster sort

/** The order within columns: by role, and by where the neighbours are. */
export function order(sheet) {
  const { columns, items, wish } = sheet;
  wish.fill(0, 0, items);
  for (let c = 0; c < columns; c++) sort(sheet, c);
  if (columns === 1) return; // nobody has a neighbour
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const right = sweep % 2 === 0;
    for (let i = 0; i < columns; i++) {
      const c = right ? i : columns - 1 - i;
      want(sheet, c, right);
      sort(sheet, c);
    }
  }
}

// Each item of a column wishes to be at the mean of its neighbours on one side.
function want({ columnFirst, inColumns, wish, at, beforeFirst, before, afterFirst, after }, c, right) {
  const [first, near] = right ? [beforeFirst, before] : [afterFirst, after];
  for (let i = columnFirst[c]; i < columnFirst[c + 1]; i++) {
    const item = inColumns[i];
    const [begin, end] = [first[item], first[item + 1]];
    let sum = 0;
    for (let s = begin; s < end; s++) sum += at[near[s]];
    wish[item] = end > begin ? sum / (end - begin) : at[item];
  }
}

// Sorts a column by what its items wish, then by role, and says where each is: 0 at the
// top, 1 at the bottom.
function sort({ columnFirst, inColumns, wish, rank, at }, c) {
  const [begin, end] = [columnFirst[c], columnFirst[c + 1]];
  const compare = (a, b) => wish[a] - wish[b] || rank[a] - rank[b] || a - b;
  if (end - begin > few) inColumns.subarray(begin, end).sort(compare);
  else {
    for (let i = begin + 1; i < end; i++) {
      const item = inColumns[i];
      let j = i;
      for (; j > begin && compare(inColumns[j - 1], item) > 0; j--) inColumns[j] = inColumns[j - 1];
      inColumns[j] = item;
    }
  }
  const last = Math.max(1, end - begin - 1);
  for (let i = begin; i < end; i++) at[inColumns[i]] = (i - begin) / last;
}

/** Gives all items their places. It returns the size of all. */
export function place(sheet, gap) {
  const { columns, items, nodes, column, columnX, wide, sub, x, y } = sheet;
  let right = 0;
  for (let c = 0; c < columns; c++) {
    columnX[c] = right;
    wide[c] = widthOf(sheet, c);
    right += wide[c] * (card.w + card.beside) - card.beside + gap;
    stack(sheet, c, undefined);
  }
  if (columns > 1) {
    for (const sides of ["before", "after", "before", "both"]) {
      const forward = sides !== "after";
      for (let i = 0; i < columns; i++) stack(sheet, forward ? i : columns - 1 - i, sides);
    }
  }
  let top = Infinity;
  for (let i = 0; i < items; i++) if (y[i] < top) top = y[i];
  let height = 0;
  for (let i = 0; i < items; i++) {
    y[i] = Math.round(y[i] - top);
    const bottom = y[i] + (i < nodes ? card.h : card.wayH);
    if (bottom > height) height = bottom;
    x[i] = columnX[column[i]] + (i < nodes ? sub[i] * (card.w + card.beside) : 0);
  }
  return { width: right - gap, height };
}

// A tall column of cards becomes several, side by side.
function widthOf({ columnFirst, inColumns, nodes }, c) {
  let cards = 0;
  for (let i = columnFirst[c]; i < columnFirst[c + 1]; i++) if (inColumns[i] < nodes) cards++;
  return cards > tallest * 1.5 ? Math.ceil(cards / tallest) : 1;
}

// Rows of a column, and blocks of rows that touch.
let rowFirst = new Int32Array(64);
let offset = new Float64Array(64);
let blockFirst = new Int32Array(64);
let blockSum = new Float64Array(64);

// Places a column's items near where they wish to be, in their order and without
// overlap, so that the sum of squared distances is least (pool adjacent violators).
function stack(sheet, c, sides) {
  const { columnFirst, inColumns, nodes, wide, sub, y } = sheet;
  const [begin, end] = [columnFirst[c], columnFirst[c + 1]];
  rowFirst = grown(rowFirst, end - begin + 1);
  offset = grown(offset, end - begin);
  blockFirst = grown(blockFirst, end - begin + 1);
  blockSum = grown(blockSum, end - begin);
  let [rows, blocks, down] = [0, 0, 0];
  for (let i = begin; i < end;) {
    // A row is one item, or as many cards as are side by side.
    let next = i + 1;
    if (wide[c] > 1 && inColumns[i] < nodes) while (next < end && next - i < wide[c] && inColumns[next] < nodes) next++;
    let sum = 0;
    for (let j = i; j < next; j++) {
      sub[inColumns[j]] = j - i;
      if (sides !== undefined) sum += wished(sheet, inColumns[j], sides);
    }
    rowFirst[rows] = i;
    offset[rows] = down;
    blockFirst[blocks] = rows++;
    blockSum[blocks++] = sides === undefined ? 0 : sum / (next - i) - down;
    down += (inColumns[i] < nodes ? card.h : card.wayH) + card.gapY;
    for (; blocks > 1; blocks--) {
      const [a, b] = [blocks - 2, blocks - 1];
      const split = blockFirst[b];
      if (blockSum[a] / (split - blockFirst[a]) <= blockSum[b] / (rows - split)) break;
      blockSum[a] += blockSum[b];
    }
    i = next;
  }
  rowFirst[rows] = end;
  blockFirst[blocks] = rows;
  for (let block = 0; block < blocks; block++) {
    const shift = blockSum[block] / (blockFirst[block + 1] - blockFirst[block]);
    for (let row = blockFirst[block]; row < blockFirst[block + 1]; row++) {
      for (let i = rowFirst[row]; i < rowFirst[row + 1]; i++) y[inColumns[i]] = shift + offset[row];
    }
  }
}

// Beside the middle of its neighbours.
function wished({ nodes, y, beforeFirst, before, afterFirst, after }, item, sides) {
  let [sum, count] = [0, 0];
  if (sides !== "after") {
    for (let s = beforeFirst[item]; s < beforeFirst[item + 1]; s++, count++) sum += y[before[s]] + (before[s] < nodes ? card.h : card.wayH) / 2;
  }
  if (sides !== "before") {
    for (let s = afterFirst[item]; s < afterFirst[item + 1]; s++, count++) sum += y[after[s]] + (after[s] < nodes ? card.h : card.wayH) / 2;
  }
  return count === 0 ? y[item] : sum / count - (item < nodes ? card.h : card.wayH) / 2;
}
