// Package history records how the objects of a graph changed, and answers which of them changed when, and
// how the graph was at an earlier time.
//
// A [Log] has one [Entry] for each change of an object: it appeared or disappeared, its health, fields or
// references changed. An entry has the state before, so the graph at a time T is the present graph with the
// entries after T undone ([Log.Past]). There are no images of the graph.
//
// # Bounds
//
// The entries of one owner, the namespace of their objects, are a queue of segments. While all segments
// together have more bytes than the log may have, the owner with the most bytes loses its oldest segment:
// an owner that floods the log loses its own history first, and all others keep theirs. [Log.Since] says
// from when on the history of an owner is complete.
//
// # Contents that are never kept
//
// [Compare] finds the fields that changed and never returns a value below data, env, args, command,
// annotations or values, nor one of a Secret or ConfigMap. It returns values only of fields on an
// allow-list, such as image and replicas.
//
// # Restarts
//
// With a [Store], a log has the entries of earlier processes, and the last [State] of each object. The
// watches of the next process ask for these ([Log.Resume], [Log.Unseen]), and append the differences as entries
// with a range of time.
//
// # Concurrency
//
// The writer of the graph appends. All methods are safe for concurrent use: they hold the lock of the log
// for a copy of a few slices, or for one append. [Log.Run] compresses full segments, drops old ones, and
// writes them to the [Store].
//
// The package knows the vocabulary of graph and health. It does not know watches, views, rights or HTTP.
package history
