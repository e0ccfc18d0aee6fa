// Package watch keeps one list-and-watch per resource, namespace and pair of
// selectors, however many share it, and retains what it sees as compressed
// JSON.
//
// A [Manager] starts a [Watch] for the first [Lease] of a [Key] and stops it
// with the last. A Watch follows the API server with client-go's reflector
// (resumption, bookmarks, 410; the back-off is our own, see retry.go), but
// reads the responses itself: each object is taken from the body as raw JSON,
// rid of metadata.managedFields and the last-applied-configuration annotation,
// hashed, compressed with a dictionary of its resource, and shown to the
// [Handler] while it is still at hand. Nothing is built of it unless the
// Handler asks ([Decoded.Tree]), and nothing but the compressed bytes stays.
// A list is never in memory as a whole: its items are handed on as they
// arrive, marked with the generation of that list. When the list is complete, objects with
// an older mark are deleted.
//
// A few buffers hold the next part of a list while an item is processed, see readahead.go.
//
// A Watch asks for a list in one answer. If the answer ends early, as long answers do at the API
// server's time-out, the list continues in pages, see pages.go.
//
// A Watch of all namespaces whose Key is Partial retains the objects of some namespaces and
// skips all others. It asks its Handler for these namespaces when a list begins
// ([Handler]), and they do not change before the next list. [Watch.Relist] begins one.
//
// A Watch of Secrets asks for metadata only, and drops other content that the server may
// send. With a Key that is Reduced it asks for whole Secrets, passes them through
// [Options].Reduce as they are read, and retains only the result.
//
// The package does not know views, graphs, references or expressions, does
// not choose what to watch, and does not judge how long a failing resource
// may be waited for.
//
// # Concurrency
//
// Each Watch has one lock, which is granted in order. All calls of the Handler for one Watch
// happen under it, so one at a time and each with the current object. They may block: the
// Watch then reads no further, and the API server's flow control does the rest.
// They must not call Retained or Release of the same Watch. Retained objects are
// immutable, so [Watch.Visit] needs no lock. [Object.Retained] reports whether an object has
// changed since. Locks are taken in the order Manager, Watch, state of a Watch. No Handler is
// called under the first, and no goroutine blocks under the last, so [Watch.State] always
// answers at once.
//
// [Manager.Run] owns everything that is started: it returns when the last
// goroutine has ended. The last Release joins the goroutines of its Watch, so
// no call of the Handler for it happens afterwards. A Handler that blocks must
// give up when its own context ends, or it holds up both.
//
// # Sources
//
// Streaming into a store of one's own instead of a shared informer is
// kube-state-metrics' way. Opting out of watch-lists is on purpose: read as a
// stream, a list costs this process no more memory and takes 0.6 of the time.
// Compression is S2 or Zstandard with a dictionary, see codec.go.
package watch
