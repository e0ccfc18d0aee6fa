// Package client reads graphs from an operator of GraphView: once, or live.
//
// [New] takes the configuration that kubectl uses and reaches the graphs through
// the Kubernetes API server; [NewForHTTP] takes any URL at which they are
// served, such as the operator's own port. From there
//
//   - [Client.Get] returns the present graph, [Client.Summaries] the graph with summaries in place of objects,
//     [Client.Part] the part around some of its objects, and [Client.Snapshot] the graph
//     with any options,
//   - [Client.GetObject] returns one object of a graph, with its references,
//   - [Client.Watch] follows a graph that a GraphView declares,
//   - [Client.Request] follows a graph without a GraphView: its spec is part of the request,
//     and it exists for this subscription only,
//   - [Client.Export] copies a graph in one of the server's formats,
//   - [Client.List] returns the names of all graphs.
//
// A [Subscription] keeps a [Graph] and survives lost connections: it waits with exponential
// backoff and jitter, connects again, and resumes, so that it receives changes and not the
// whole graph. It returns permanent errors: no such graph, not allowed, an invalid spec.
//
//	subscription := c.Watch("shop", "storefront", client.Options{})
//	defer subscription.Close()
//	for {
//		graph, err := subscription.Next(ctx)
//		if err != nil {
//			return err
//		}
//		draw(graph) // the view's graph, as its reader may see it, at one instant
//	}
//
// The package knows the stream protocol and not the source of a graph. It has no informers and
// caches only the graphs that it follows.
//
// # Concurrency
//
// A Client may be used by any number of goroutines. A Subscription and its Graph
// belong to one goroutine: the package starts none, and everything happens within Receive
// and Next and ends with their context. If a subscription is not read for half a minute, the
// server closes the connection, since its pings are not answered; the next read resumes on a
// new connection.
package client
