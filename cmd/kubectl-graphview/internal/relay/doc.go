// Package relay serves the dashboard to one person's browser on this machine, and
// relays the graphs that it asks for to an API server with that person's
// credentials, which the browser never has.
//
// Whoever can speak to the port must not thereby speak to the cluster. So it
// listens on a loopback address alone; it answers no request for another host's
// name (a page elsewhere may make its own name lead here), none that another
// page's script makes, and none without the cookie, which is given once for a
// secret in the printed address. It relays graphs and nothing else: no object of
// the API server, and so no Secret, can be asked for through it.
//
// It knows nothing of graphs.
package relay
