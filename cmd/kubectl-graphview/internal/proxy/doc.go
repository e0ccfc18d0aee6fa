// Package proxy serves the dashboard to one user's browser on this machine, and
// forwards its requests for graphs to an API server with that user's credentials,
// which the browser never has.
//
// Access to the port must not give access to the cluster. So the proxy listens on
// a loopback address only; it rejects requests for another host name (DNS
// rebinding), requests of other pages, and requests without the cookie, which is
// set once in exchange for the secret in the printed address. Other ports are the
// same host to a browser, so the cookie is for a path that their servers do not know. It forwards requests
// for graphs and nothing else: no object of the API server, and so no Secret, can
// be read through it.
//
// The package knows nothing of graphs. A Proxy serves in Run; its other methods may
// be called at any time.
package proxy
