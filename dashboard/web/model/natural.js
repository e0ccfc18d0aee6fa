// The natural order of names: team-2 comes before team-10.

const parts = /(\d+)|(\D+)/g;

/** Compares two names as people order them, by parts: numbers by value, all else by letters. */
export function natural(a, b) {
  if (a === b) return 0;
  const [these, those] = [a.match(parts) ?? [], b.match(parts) ?? []];
  for (let i = 0; i < these.length && i < those.length; i++) {
    const [x, y] = [these[i], those[i]];
    if (x === y) continue;
    const difference = Number(x) - Number(y);
    if (difference) return difference; // NaN where one is no number
    return x < y ? -1 : 1;
  }
  return these.length - those.length || (a < b ? -1 : 1);
}
