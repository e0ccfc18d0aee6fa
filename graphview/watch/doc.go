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
// arrive, marked with the generation of that list, and what bears an older
// mark when the list is complete has gone.
//
// What is read and unpacked of a list waits for its turn in a few buffers, see readahead.go,
// so that the next items come while one is taken in.
//
// A list is asked for in one answer. One that ended early, as a long one does at the API
// server's time-out, would do so again: it goes on in pages, see pages.go.
//
// A Watch of all namespaces whose Key is Partial retains the objects of some namespaces and
// skips all others. It asks its Handler for these namespaces when a list begins
// ([Handler]), and they do not change before the next list. [Watch.Relist] begins one.
//
// Of Secrets the server is asked for metadata alone, and whatever else it may
// send is dropped as it is read. A Key that is Reduced asks for whole Secrets,
// whose content goes through [Options].Reduce as it is read: what that returns is
// retained, and nothing else.
//
// The package does not know views, graphs, references or expressions, does
// not choose what to watch, and does not judge how long a failing resource
// may be waited for.
//
// # Concurrency
//
// Each Watch has one lock, which whoever needs it takes in turn. All calls of the
// Handler for one Watch happen under it, so one at a time and each of the object that
// is current. They may block: the
// Watch then reads no further, and the API server's flow control does the rest.
// What must not happen inside them is Retained or Release of the same Watch. What is
// retained is immutable, so that [Watch.Visit] takes no turn and nobody waits for it. Whoever
// visits an object learns from [Object.Retained] whether it has changed meanwhile. Locks are taken
// in the order Manager, Watch, state of a Watch; no Handler is called under
// the first, and under the last nobody waits, so [Watch.State] always answers
// at once.
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
