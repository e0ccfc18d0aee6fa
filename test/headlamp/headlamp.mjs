// A stand-in for Headlamp's backend: it serves the page of app.jsx, the plugin, and clusters/NAME, behind which it asks the API
// server with the token that the user has logged in with, which is in a cookie of the cluster.
import http from "node:http";
import { readFileSync } from "node:fs";
import path from "node:path";

import { join } from "../../docs/examples/portal.mjs";

const root = path.join(import.meta.dirname, "..", "..");
export const tools = path.join(root, "bin", ".headlamp");
const types = { ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

/**
 * Starts a backend; it ends with the test. Clusters are {NAME: {to, absent}}: the address of the API server, and whether the operator
 * is not there, for which the group of its API becomes one that the API server does not have. Asked is called with the name of the
 * cluster, the path and the text of each answer about graphs as it comes.
 */
export async function headlamp(t, { clusters, plugin, theme = "light", asked = () => {} }) {
  const page = `<!doctype html><title>Headlamp</title><meta charset="utf-8"><link rel="stylesheet" href="/app/app.css"><div id="root"></div>
    <script>window.process = { env: {}, versions: {} }; window.given = ${JSON.stringify({ clusters: Object.keys(clusters), theme })}</script><script type="module" src="/app/app.js"></script>`;
  const onward = (request) => {
    const [, name, rest] = /^\/clusters\/([^/]+)\/(.*)$/.exec(request.url) ?? [];
    const cluster = clusters[name];
    if (!cluster) return undefined;
    const to = new URL(cluster.to);
    const cookie = Object.fromEntries((request.headers.cookie ?? "").split("; ").map((pair) => pair.split("=")));
    const token = cookie[`headlamp-auth-${name}.0`];
    const { cookie: _, ...headers } = request.headers;
    if (token) headers.authorization = `Bearer ${token}`;
    const where = cluster.absent ? rest.replace("stream.graphview.dev", "absent.graphview.dev") : rest;
    return { name, about: rest, options: { host: to.hostname, port: to.port, method: request.method, path: `${to.pathname.replace(/\/$/, "")}/${where}`, headers } };
  };
  const file = (name) => {
    if (name === "/app/elk-worker.min.js") return path.join(tools, "node_modules", "elkjs", "lib", "elk-worker.min.js"); // of the map's layout
    if (name.startsWith("/app/")) return path.join(tools, name);
    if (name.startsWith("/plugins/graphview/")) return path.join(plugin, name.slice("/plugins/graphview/".length));
    return undefined;
  };
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://headlamp");
    if (pathname === "/plugins") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(plugin ? [{ path: "plugins/graphview", name: "graphview", type: "user" }] : []));
      return;
    }
    const to = onward(request);
    if (to) {
      const forwarded = http.request(to.options, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        if (to.about.includes("stream.graphview.dev")) {
          asked(to.name, `/${to.about}`, "");
          answer.on("data", (data) => asked(to.name, `/${to.about}`, String(data)));
        }
        answer.pipe(response);
      });
      forwarded.on("error", () => response.destroy());
      response.on("close", () => forwarded.destroy());
      request.pipe(forwarded);
      return;
    }
    const from = file(pathname);
    try {
      const body = from ? readFileSync(from) : page;
      response.writeHead(200, { "content-type": from ? types[path.extname(from)] ?? "text/plain" : "text/html" });
      response.end(body);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  const sockets = new Set();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  // Headlamp's own watches.
  server.on("upgrade", (request, socket, head) => {
    const to = onward(request);
    if (to) join(http.request(to.options), socket, head);
    else socket.destroy();
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Logs a browser's user in, as Headlamp's backend does. */
export const login = (context, at, tokens) => context.addCookies(Object.entries(tokens).map(([name, value]) => ({
  name: `headlamp-auth-${name}.0`, value, url: at, httpOnly: true,
})));
