// Why an object is not well, in its own words: what its containers wait for or ended
// with, and the messages of its conditions. It judges nothing; health is the operator's.

const most = 6;
const longest = 600; // letters of a message
const ofTrouble = /fail|stalled|degraded|pressure|error|dangling/i; // conditions that are bad where they are true

const listOf = (value) => (Array.isArray(value) ? value.filter((item) => item !== null && typeof item === "object") : []);
const textOf = (value) => (typeof value === "string" || typeof value === "number" ? String(value) : "");
const joined = (...parts) => parts.map(textOf).filter(Boolean).join(": ");

/** Returns the messages in an object's status: [{about, text}], the most precise first. */
export function reasonsOf(object) {
  const status = object?.status ?? {};
  const reasons = [];
  const add = (about, text) => {
    if (!text || reasons.length >= most || reasons.some((known) => known.text === text)) return;
    reasons.push({ about, text: text.length > longest ? `${text.slice(0, longest)}…` : text });
  };
  for (const list of ["initContainerStatuses", "containerStatuses"]) {
    for (const { name, state, lastState } of listOf(status[list])) {
      const about = `container ${textOf(name)}`;
      add(about, joined(state?.waiting?.reason, state?.waiting?.message));
      for (const [when, ended] of [["", state?.terminated], [" before", lastState?.terminated]]) {
        if (ended?.exitCode) add(`${about}${when}`, joined(ended.reason, `exit code ${textOf(ended.exitCode)}`, ended.message));
      }
    }
  }
  for (const { type, status: is, reason, message } of listOf(status.conditions)) {
    const bad = ofTrouble.test(textOf(type)) ? is === "True" : is === "False" || is === "Unknown";
    if (bad && message) add(textOf(type), joined(reason, message));
  }
  return reasons;
}
