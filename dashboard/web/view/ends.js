// The messages for a stream that is not live: the cause, and what the user can do about it,
// followed by the server's message.

const ends = {
  Deleted: { title: "The GraphView was deleted.", remedy: "" },
  Invalid: { title: "The GraphView's spec is not accepted.", remedy: "Correct it: its condition Accepted says where it is wrong." },
  NotFound: { title: "There is no such GraphView.", remedy: "Check namespace and name." },
  Forbidden: { title: "You may not watch this graph.", remedy: "Ask for the right to watch it." },
  Unauthorized: { title: "You are signed out.", remedy: "Sign in, then try again." },
  LimitExceeded: { title: "The view exceeds a limit.", remedy: "Select fewer resources, namespaces or objects in its spec." },
  TooManyRequests: { title: "Too much is open or unread.", remedy: "Close other pages, or wait." },
  Unavailable: { title: "The operator is not ready.", remedy: "" },
  Stopping: { title: "Disconnected.", remedy: "" },
};

const byCode = { 1000: "Deleted", 1001: "Stopping", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 429: "TooManyRequests", 503: "Unavailable" };

/** Returns {title, message, remedy} for the reason with which a stream ended, or for its code. */
export function endOf({ code, reason, message = "" }) {
  const known = ends[reason] ?? ends[byCode[code]];
  const said = message === "" || /[.!?]$/.test(message) ? message : `${message}.`;
  if (known) return { ...known, message: said && said[0].toUpperCase() + said.slice(1) };
  return { title: "The connection was lost.", message: /^the connection (was lost|failed)\.$/.test(said) ? "" : said && said[0].toUpperCase() + said.slice(1), remedy: "" };
}
