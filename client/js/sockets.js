// Where WebSockets do not get through, by base, and since when: in something between here and there, which
// will be the same for the next view, and on the next page.
const withoutSockets = new Map();
const again = 600_000; // ms after which they are tried once more
const stored = (base) => `graphview without sockets ${base}`;

export const socketsFail = (base) => {
  withoutSockets.set(base, Date.now());
  try { globalThis.sessionStorage?.setItem(stored(base), String(Date.now())); } catch { /* not on this page */ }
};

export const socketsFailed = (base) => {
  let since = withoutSockets.get(base) ?? 0;
  try { since = Math.max(since, Number(globalThis.sessionStorage?.getItem(stored(base)) ?? 0)); } catch { /* not on this page */ }
  return Date.now() - since < again;
};

export const socketsWork = (base) => withoutSockets.delete(base);
