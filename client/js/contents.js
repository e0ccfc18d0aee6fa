// Sums of what a graph has, by which a server continues it: docs/stream.md, "Resume by contents". A tag is the first 8 bytes
// of a SHA-256, here as two words in the byte order that the hash of tags reads.

const rounds = Uint32Array.from({ length: 64 }, (_, i) => fraction(Math.cbrt(prime(i))));
const begin = Uint32Array.from({ length: 8 }, (_, i) => fraction(Math.sqrt(prime(i))));

function prime(n) {
  const isPrime = (k) => { for (let d = 2; d * d <= k; d++) if (k % d === 0) return false; return true; };
  for (let k = 2; ; k++) if (isPrime(k) && n-- === 0) return k;
}

function fraction(x) { return (x - Math.floor(x)) * 2 ** 32; }

const encoder = new TextEncoder();
let block = new Uint8Array(256);
const schedule = new Uint32Array(64);
const state = new Uint32Array(8);
const words = new Uint32Array(6); // that are hashed

const swap = (w) => ((w & 0xff) << 24 | (w & 0xff00) << 8 | (w >>> 8) & 0xff00 | w >>> 24) >>> 0;
const right = (w, n) => w >>> n | w << (32 - n);

/** The tag of a text, as FIPS 180-4 has it. Web Crypto takes longer for short texts, and is asynchronous. */
export function tagOf(text) {
  if (block.length < 3 * text.length + 72) block = new Uint8Array(6 * text.length + 72);
  const length = encode(text);
  const whole = (length + 72) & ~63;
  block.fill(0, length, whole);
  block[length] = 0x80;
  for (let i = 1, rest = 8 * length; rest > 0; i++, rest = Math.floor(rest / 256)) block[whole - i] = rest;
  state.set(begin);
  for (let at = 0; at < whole; at += 64) compress(at);
  return [swap(state[0]), swap(state[1])];
}

// Writes a text to the block, and returns its length. Nearly all are ASCII, for which a loop is faster.
function encode(text) {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return encoder.encodeInto(text, block).written;
    block[i] = code;
  }
  return text.length;
}

function compress(at) {
  for (let i = 0; i < 16; i++, at += 4) schedule[i] = block[at] << 24 | block[at + 1] << 16 | block[at + 2] << 8 | block[at + 3];
  for (let i = 16; i < 64; i++) {
    const x = schedule[i - 15], y = schedule[i - 2];
    schedule[i] = schedule[i - 16] + (right(x, 7) ^ right(x, 18) ^ x >>> 3) + schedule[i - 7] + (right(y, 17) ^ right(y, 19) ^ y >>> 10);
  }
  let a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const one = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + (e & f ^ ~e & g) + rounds[i] + schedule[i] | 0;
    const two = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
    h = g; g = f; f = e; e = d + one | 0; d = c; c = b; b = a; a = one + two | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

/** The tag of a vertex's key. */
export const tagOfKey = ({ g, v, r, ns = "", n }) => tagOf(`${g}\n${v}\n${r}\n${ns}\n${n}`);

const attributesText = (t, a, f, w) => {
  let text = t + "\n";
  if (a?.c) text += "c";
  if (a?.b) text += "b";
  if (a?.e) text += "e";
  if (a?.o) text += "o";
  text += "\n" + (a?.x ?? "");
  for (const path of f ?? []) text += "\n" + path;
  text += "\n";
  for (const word of w ?? []) text += "\n" + word;
  return text;
};

/** The map that a map has for a key. */
export const childOf = (map, key) => {
  let child = map.get(key);
  if (!child) map.set(key, child = new Map());
  return child;
};

// The tags of attributes. Nearly all arcs have at most one path and one word. Theirs are found without making a text.
class Attributes {
  #single = new Map(); // by type, path, word, and the rest as a number
  #texts = new Map();

  tag(t, a, f, w) {
    const x = a?.x === undefined ? 0 : a.x === "outside" ? 16 : a.x === "unknown" ? 32 : 64;
    if (x === 64 || f?.length > 1 || w?.length > 1) return this.#found(this.#texts, attributesText(t, a, f, w), t, a, f, w);
    const rest = x | (a?.c ? 1 : 0) | (a?.b ? 2 : 0) | (a?.e ? 4 : 0) | (a?.o ? 8 : 0);
    return this.#found(childOf(childOf(childOf(this.#single, t), f?.[0]), w?.[0]), rest, t, a, f, w);
  }

  #found(map, key, t, a, f, w) {
    let tag = map.get(key);
    if (!tag) map.set(key, tag = tagOf(attributesText(t, a, f, w)));
    return tag;
  }
}

const nothing = [0, 0]; // the tag of no content

const digits = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].forEach((digit, i) => { digits[digit.charCodeAt(0)] = i; });

// Reads the 11 digits of a content's tag. Another text, of a server with other tags, is as good as none.
const tagOfContent = (c) => {
  if (c?.length !== 11) return nothing;
  const word = (at, from) => {
    let bits = 0; // of six digits, the last four of which are of the next word
    for (let i = at; i < at + 6; i++) bits = bits * 64 + digits[c.charCodeAt(i) & 127];
    return Math.floor(bits / from) % 2 ** 32;
  };
  return [swap(word(0, 16)), swap(word(5, 4))];
};

const base64 = (bytes) => {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};

const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

// The bucket of a key's tag, whose first bytes are the lowest of its first word.
const bucketOf = (tag, bits) => bits === 0 ? 0 : swap(tag[0]) >>> (32 - bits);

/** The most bits, and those that a URL may have: proxies limit it to 8 KiB. */
export const maxBits = 12;
export const maxURLBits = 9;

/** Sums of the elements of a graph, in buckets of some 4 vertices. */
export class Sums {
  #bits;
  #seed;
  #sums; // two words each, the lower one first
  #attributes = new Attributes();

  constructor(vertices, mostBits = maxBits, seed = crypto.getRandomValues(new Uint32Array(2))) {
    this.#bits = Math.max(0, Math.min(mostBits, maxBits, Math.ceil(Math.log2(vertices / 4))));
    this.#seed = seed;
    this.#sums = new Uint32Array(2 << this.#bits);
  }

  get bits() { return this.#bits; }

  /** Adds a vertex by the tag of its key, and the c that it was sent with. */
  addVertex(key, c) {
    const tag = tagOfContent(c);
    words[0] = key[0]; words[1] = key[1]; words[2] = tag[0]; words[3] = tag[1];
    this.#add(key, 4);
  }

  /** Adds an arc by the tags of its ends, its type and its attributes, among which are its paths and words. */
  addArc(from, to, t, a, f = a?.f, w = a?.w) {
    const tag = this.#attributes.tag(t, a, f, w);
    words[0] = from[0]; words[1] = from[1]; words[2] = to[0]; words[3] = to[1]; words[4] = tag[0]; words[5] = tag[1];
    this.#add(from, 6);
  }

  // Adds HalfSipHash-2-4 of the first words, with an output of 64 bits.
  #add(key, length) {
    const k0 = this.#seed[0], k1 = this.#seed[1];
    let v0 = k0, v1 = k1 ^ 0xee, v2 = k0 ^ 0x6c796765, v3 = k1 ^ 0x74656462, low = 0;
    for (let i = 0; i < length + 3; i++) {
      let word = 0;
      if (i < length) word = words[i];
      else if (i === length) word = 4 * length << 24;
      else if (i === length + 1) v2 ^= 0xee;
      else { low = v1 ^ v3; v1 ^= 0xdd; }
      v3 ^= word;
      for (let round = i <= length ? 2 : 4; round > 0; round--) {
        v0 = v0 + v1 | 0; v1 = (v1 << 5 | v1 >>> 27) ^ v0; v0 = v0 << 16 | v0 >>> 16;
        v2 = v2 + v3 | 0; v3 = (v3 << 8 | v3 >>> 24) ^ v2;
        v0 = v0 + v3 | 0; v3 = (v3 << 7 | v3 >>> 25) ^ v0;
        v2 = v2 + v1 | 0; v1 = (v1 << 13 | v1 >>> 19) ^ v2; v2 = v2 << 16 | v2 >>> 16;
      }
      v0 ^= word;
    }
    const at = 2 * bucketOf(key, this.#bits);
    const sum = this.#sums[at] + (low >>> 0);
    this.#sums[at] = sum;
    this.#sums[at + 1] += ((v1 ^ v3) >>> 0) + (sum > 0xffffffff ? 1 : 0);
  }

  /** The sums as a request has them. */
  toString() {
    const seed = [...new Uint8Array(Uint32Array.from(this.#seed).buffer)].map((b) => b.toString(16).padStart(2, "0")).join("");
    return `${this.#bits}.${seed}.${base64(new Uint8Array(this.#sums.buffer))}`;
  }
}

/** Reports for the tag of a key whether a reset keeps its vertex and the arcs that begin there. */
export function keeps(keep) {
  const [bits, text] = (keep ?? "").split(".");
  if (!text) return () => false;
  const buckets = fromBase64(text);
  return (key) => { const at = bucketOf(key, Number(bits)); return (buckets[at >> 3] >> (at & 7) & 1) === 1; };
}
