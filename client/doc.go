// Package client reads graphs from an operator of GraphView: once, or live.
//
// [New] takes the configuration that kubectl uses and reaches the graphs through
// the Kubernetes API server; [NewForHTTP] takes any URL at which they are
// served, such as the operator's own port. From there
//
//   - [Client.Get] is a graph as it is now, [Client.Summaries] one without objects,
//     [Client.Part] what has to do with some objects of it, and [Client.Snapshot] one
//     with any options,
//   - [Client.GetObject] is one object of a graph, with its references,
//   - [Client.Watch] follows a graph that a GraphView declares,
//   - [Client.Request] follows a graph that nobody has declared: its spec is sent
//     along and it is there for this subscription alone,
//   - [Client.Export] copies a graph in one of the server's formats,
//   - [Client.List] is the names of the graphs there are.
//
// A [Subscription] keeps a [Graph] and survives lost connections: it waits,
// longer each time and never in step with others, connects again, and continues
// where it was, so that it is sent what changed and not the whole graph. What no
// waiting mends (no such graph, not allowed, an invalid spec) it returns.
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
// The package knows the stream protocol and nothing of how a graph comes to be.
// It has no informers and caches nothing beside the graphs that it follows.
//
// # Concurrency
//
// A Client may be used by any number of goroutines. A Subscription and its Graph
// belong to one: there is no goroutine of ours behind them, everything happens
// within Receive and Next, and ends when their context does. A subscription that
// is not read for half a minute is given up by the server, since nobody answers
// its pings, and continues with a new connection when it is read again.
package client
