// A portal in one file: pages, and a proxy that sends a user's requests to the operator with the user's own token.
//
//   node docs/examples/portal.mjs https://graphview.graphview-system.svc ./public
//
// Node.js has to trust the operator's certificate: NODE_EXTRA_CA_CERTS=graphview-ca.crt
import http from "node:http";
import https from "node:https";
import { createReadStream } from "node:fs";
import path from "node:path";
import { finished } from "node:stream";
import { pathToFileURL } from "node:url";

const prefix = "/graphview";
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Returns a server. TokenOf returns the token of a request's user, from your session, or undefined if nobody is logged in. */
export function portal({ operator, folder, tokenOf }) {
  const to = new URL(operator);
  const { request: send } = to.protocol === "https:" ? https : http;
  const onward = async (request) => {
    const { cookie, authorization, ...headers } = request.headers; // the portal's cookies are none of the operator's business
    return send(to, { method: request.method, path: request.url.slice(prefix.length), headers: { ...headers, authorization: `Bearer ${await tokenOf(request)}` } });
  };
  const mayPass = async (request) => request.method === "GET" && request.url.startsWith(`${prefix}/apis/stream.graphview.dev/`) && Boolean(await tokenOf(request));
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://portal");
    if (!pathname.startsWith(`${prefix}/`)) {
      const file = path.join(folder, path.normalize(pathname === "/" ? "/index.html" : pathname));
      createReadStream(file).on("open", () => response.writeHead(200, { "content-type": types[path.extname(file)] ?? "text/plain" }))
        .on("error", () => response.writeHead(404).end()).pipe(response);
      return;
    }
    if (!await mayPass(request)) return response.writeHead(401).end();
    const forwarded = await onward(request);
    forwarded.on("response", (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response); // as it comes: a stream never ends
    }).on("error", () => response.destroy()).end();
    response.on("close", () => forwarded.destroy());
  });
  server.on("upgrade", async (request, socket, head) => {
    socket.on("error", () => {});
    if (!await mayPass(request)) return socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    join(await onward(request), socket, head);
  });
  return server;
}

/** Sends a request to switch protocols, and joins its socket to that of a client. Each ends with the other, and the request with the client. */
export function join(forwarded, socket, head) {
  finished(socket, () => forwarded.destroy());
  forwarded.on("upgrade", (answer, other, rest) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
    socket.write(rest);
    other.write(head);
    finished(socket, () => other.destroy()); // at once if the client has left
    finished(other, () => socket.destroy());
    other.pipe(socket).pipe(other);
  }).on("response", ({ statusCode }) => socket.end(`HTTP/1.1 ${statusCode} Refused\r\n\r\n`)).on("error", () => socket.destroy()).end();
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , operator, folder] = process.argv;
  // For a first look: your own token. In a portal it is that of the session's user.
  portal({ operator, folder, tokenOf: () => process.env.TOKEN }).listen(8080, "127.0.0.1", () => console.log("http://127.0.0.1:8080"));
}
