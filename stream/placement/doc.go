// Package placement decides which replica holds which view, where replicas share
// them, and serves every view at every replica.
//
// A view belongs to a scope: the namespaces that its spec names, or the whole cluster,
// or what the label graphview.dev/placement says instead. The replicas that rank
// highest for a scope hold its views; those of one scope are together, since an object
// takes most of its memory once, however many views it is in. A replica that is asked
// for a view which it does not own holds it too, and a while longer. So two replicas
// that disagree on which replicas there are cost memory, and nothing else.
//
// A [Table] stands between the controllers and the engine, which is told only of the
// views that this replica holds, and between the stream server and the engine: a
// subscriber to a view that is held elsewhere reads it through a relay. The replica that a
// subscriber reads from is chosen when it begins, when that replica is lost, and when the
// view has moved to another one that has the graph by now: then the subscriber is reset. A
// connection that breaks is made again, and the subscriber continues.
//
// The replica that ranks highest for a view writes its status. The others tell it how
// many subscribers they have.
//
// The package deliberately does not know who subscribes: what a subscriber may see is
// asked where it is, whoever holds the view.
//
// # Concurrency
//
// The methods of a Table may be called by any goroutine, Run once. Lock order: an
// entry's settling, then the Table's.
package placement
