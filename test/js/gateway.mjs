// The proxy in front of the operator in recipes: it serves its own pages, adds the user's token
// to forwarded requests, and can delay a stream.
import http from "node:http";

import { join } from "../../docs/examples/portal.mjs";

/**
 * Starts a gateway before a server; it ends with the test. Pages are {path: {type, body, headers}}. Options:
 * prefix, which it takes off; frames, the source that may frame what it serves; holds, whether streams wait;
 * begun, which is told the socket of each stream.
 */
export async function gateway(t, upstream, { pages = {}, token, prefix = "", frames, holds = () => false, begun = () => {} }) {
  const to = new URL(upstream);
  const asked = (request) => ({
    host: to.hostname, port: to.port, method: request.method, path: request.url.startsWith(prefix) ? request.url.slice(prefix.length) : request.url,
    headers: { ...request.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) },
  });
  const server = http.createServer((request, response) => {
    const page = pages[new URL(request.url, upstream).pathname];
    if (page) {
      response.writeHead(200, { "content-type": page.type, ...page.headers });
      response.end(page.body);
      return;
    }
    if (request.url.includes("/watch/") && holds()) return;
    const onward = http.request(asked(request), (answer) => {
      const policy = answer.headers["content-security-policy"];
      response.writeHead(answer.statusCode, {
        ...answer.headers, ...(frames && policy ? { "content-security-policy": policy.replace("frame-ancestors 'none'", `frame-ancestors ${frames}`) } : {}),
      });
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  const sockets = new Set();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (request, socket, head) => {
    begun(socket);
    if (holds()) return;
    join(http.request(asked(request)), socket, head);
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}
