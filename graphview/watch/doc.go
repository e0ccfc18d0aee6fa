// Package watch shares one list-and-watch for each resource, namespace and pair of
// selectors among all its users, and retains the objects as compressed JSON.
//
// A [Manager] starts a [Watch] for the first [Lease] of a [Key] and stops it
// with the last. A Watch uses client-go's reflector for resumption, bookmarks
// and 410, but has its own back-off (retry.go) and reads the responses itself. It
// takes each object from the body as raw JSON, or writes JSON from Protobuf, removes
// metadata.managedFields and the last-applied-configuration annotation, hashes the rest,
// compresses it with a dictionary of its resource, and passes it to the [Handler] before the
// uncompressed JSON is dropped. The JSON is decoded only if the Handler asks
// ([Decoded.Tree]), and only the compressed bytes stay in memory.
// A list is never in memory as a whole: each item is processed when it
// arrives, and marked with the generation of the list. When the list is complete,
// objects with an older generation are deleted.
//
// A few items are read ahead while another one is processed, see readahead.go.
//
// A Watch requests a list in one response. If the response ends early, for example at the API
// server's request timeout, the list continues in pages, see pages.go.
//
// Kubernetes' own kinds are requested in Protobuf, which costs the server and the Watch less. The
// server may answer in JSON. If it sends something that package protobuf does not know, the Watch
// requests JSON from then on, see protobuf.go.
//
// A Watch of Secrets requests metadata only, and drops other content that the server may
// send. If its Key is Reduced, it requests whole Secrets, passes each to [Options].Reduce
// while reading it, and retains only the metadata and the result.
//
// Callers choose the watches, and decide how long to wait for a resource that
// fails.
//
// # Concurrency
//
// Each Watch has one lock, which goroutines get in the order in which they ask. A Watch calls
// its Handler under this lock, so calls come one at a time and have the current object. A
// Handler may block: the Watch then stops reading, and flow control stops the API server.
// It must not call Retained or Release of the same Watch. Retained objects are
// immutable, so [Watch.Visit] needs no lock. [Object.Retained] reports whether an object is
// still current. The lock order is Manager, Watch, state of a Watch. No Handler is called
// under the Manager's lock, and no goroutine blocks under the state's lock, so [Watch.State]
// always returns at once.
//
// [Manager.Run] returns when the last goroutine of every Watch has ended. The last
// Release waits for the goroutines of its Watch, so the Handler is not called
// afterwards. A Handler that blocks must return when its own context ends, because
// Run and Release wait for it.
//
// # Sources
//
// kube-state-metrics also streams into its own store instead of a shared informer.
// The package does not use watch-lists (WatchList, streaming lists): a list that is
// read as a stream needs no more memory here and takes 0.6 of the time. Objects are
// compressed with S2 or Zstandard and a dictionary, see codec.go.
package watch
