"""Follows a graph and continues by contents: at any server, after any restart, what has not changed is not sent again.

  kubectl proxy --port=8001 &
  python3 resume.py http://127.0.0.1:8001 shop storefront

Several servers, separated by commas, are used in turn. With TOKEN in the environment no proxy is needed.
"""

import base64, hashlib, json, os, secrets, struct, sys, time
from urllib import error, request

MASK = 0xFFFFFFFF
unhex = lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
tag_of = lambda *lines: hashlib.sha256("\n".join(lines).encode()).digest()[:8]
tag = lambda key: tag_of(key["g"], key["v"], key["r"], key.get("ns", ""), key["n"])
bucket = lambda key_tag, bits: int.from_bytes(key_tag, "big") >> (64 - bits)
rotate = lambda x, n: ((x << n) | (x >> (32 - n))) & MASK

def half_siphash(seed, data):
    k0, k1 = struct.unpack("<2I", seed)
    a, b, c, d = k0, k1 ^ 0xEE, k0 ^ 0x6C796765, k1 ^ 0x74656462

    def rounds(n):
        nonlocal a, b, c, d
        for _ in range(n):
            a = (a + b) & MASK; b = rotate(b, 5) ^ a; a = rotate(a, 16)
            c = (c + d) & MASK; d = rotate(d, 8) ^ c
            a = (a + d) & MASK; d = rotate(d, 7) ^ a
            c = (c + b) & MASK; b = rotate(b, 13) ^ c; c = rotate(c, 16)

    for (word,) in struct.iter_unpack("<I", data + struct.pack("<I", len(data) << 24)):
        d ^= word; rounds(2); a ^= word
    c ^= 0xEE; rounds(4); low = b ^ d
    b ^= 0xDD; rounds(4)
    return low | (b ^ d) << 32


vertices, arcs, rev, servers = {}, {}, "", sys.argv[1].split(",")

def have(bits=6):  # some 4 vertices in a bucket are a good number; 9 bits are the most that fit into a URL
    seed, sums = secrets.token_bytes(8), [0] * (1 << bits)
    for v in vertices.values():
        k = tag(v["vx"])
        sums[bucket(k, bits)] += half_siphash(seed, k + (unhex(v["c"]) if "c" in v else bytes(8)))
    for arc in arcs.values():
        k, a = tag(arc["s"]), arc.get("a", {})
        flags = "".join(x for x in "cbeo" if x in a)
        attributes = tag_of(arc["t"], flags, a.get("x", ""), *a.get("f", []), "", *a.get("w", []))
        sums[bucket(k, bits)] += half_siphash(seed, k + tag(arc["d"]) + attributes)
    text = base64.urlsafe_b64encode(b"".join(struct.pack("<Q", s % 2**64) for s in sums)).decode().rstrip("=")
    return f"{bits}.{seed.hex()}.{text}" if vertices else "none"

def apply(m):
    global vertices, arcs, rev
    if m.get("reset"):
        bits, _, text = m.get("keep", "0.AA").partition(".")
        kept = lambda key, b=unhex(text): b[(i := bucket(tag(key), int(bits))) // 8] >> i % 8 & 1
        vertices = {k: v for k, v in vertices.items() if kept(v["vx"])}
        arcs = {k: a for k, a in arcs.items() if kept(a["s"])}
        print(f"reset: {len(vertices)} vertices are kept", flush=True)
    for verb, x in ((verb, x) for action in m.get("actions", []) for verb, x in action.items()):
        of, key = (vertices, [x["vx"]]) if verb.endswith("vx") else (arcs, [x["s"], x["d"], x["t"]])
        of.pop(json.dumps(key, sort_keys=True), None)
        if verb.startswith("s"):
            of[json.dumps(key, sort_keys=True)] = x
    rev = m.get("rev", "" if m.get("reset") else rev)
    if "rev" in m:
        print(f"{len(vertices)} vertices, {len(arcs)} arcs", flush=True)

for attempt in range(sys.maxsize):
    path = f"/apis/stream.graphview.dev/v1alpha1/watch/namespaces/{sys.argv[2]}/graphs/{sys.argv[3]}"
    url = f"{servers[attempt % len(servers)]}{path}?content=summary&have={have()}&since={rev or '-'}"
    token = {"Authorization": "Bearer " + os.environ["TOKEN"]} if "TOKEN" in os.environ else {}
    try:
        with request.urlopen(request.Request(url, headers={"Accept": "application/json", **token}), timeout=60) as stream:
            for line in filter(bytes.strip, stream):  # an empty line is a heartbeat
                apply(json.loads(line))
    except (OSError, ValueError) as e:
        print("reconnecting:", e, file=sys.stderr, flush=True)
    time.sleep(1)
