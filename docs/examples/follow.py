"""Prints how large a graph is, and how many objects in it are degraded, whenever it changes.

  kubectl proxy --port=8001 &
  python3 follow.py http://127.0.0.1:8001 shop storefront

With TOKEN in the environment no proxy is needed. Python's standard library is enough.
"""

import json, os, random, sys, time
from urllib import error, request


class Graph:
    def __init__(self, base, namespace, name):
        self.url = f"{base}/apis/stream.graphview.dev/v1alpha1/watch/namespaces/{namespace}/graphs/{name}?content=summary"
        self.vertices, self.arcs, self.rev = {}, {}, ""

    def messages(self):
        headers = {"Accept": "text/event-stream", "Last-Event-ID": self.rev}
        if token := os.environ.get("TOKEN"):
            headers["Authorization"] = "Bearer " + token
        with request.urlopen(request.Request(self.url, headers=headers), timeout=60) as stream:  # silence lasts 20 s
            for line in stream:
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])

    def apply(self, m):
        if m.get("reset"):
            self.vertices, self.arcs = {}, {}
        for action in m.get("actions", []):
            for verb, x in action.items():  # svx, dvx, sarc or darc
                kind, key = (self.vertices, x["vx"]) if verb.endswith("vx") else (self.arcs, [x["s"], x["d"], x["t"]])
                key = json.dumps(key, sort_keys=True)
                kind.pop(key, None)
                if verb.startswith("s"):
                    kind[key] = x
        self.rev = m.get("rev", self.rev)
        return "rev" in m  # now, and only now, it is the graph at one instant

    def follow(self):
        while True:
            try:
                self.vertices, self.arcs = (self.vertices, self.arcs) if self.rev else ({}, {})
                for m in self.messages():
                    if self.apply(m):
                        yield self
                    if m.get("error", {}).get("code") in (1000, 1007, 1008):
                        sys.exit(m["error"]["message"])
            except error.HTTPError as e:
                if e.code < 500 and e.code != 429:
                    sys.exit(f"{e.code}: {json.load(e)['message']}")
            except OSError as e:
                print("reconnecting:", e, file=sys.stderr)
            time.sleep(random.uniform(1, 3))


for graph in Graph(*sys.argv[1:4]).follow():
    degraded = sum(x.get("m", {}).get("h") == "degraded" for x in graph.vertices.values())
    print(f"{len(graph.vertices)} vertices, {len(graph.arcs)} arcs, {degraded} degraded", flush=True)
