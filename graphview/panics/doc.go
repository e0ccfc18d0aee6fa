// Package panics makes a panic of one piece of work an error of it.
//
// An object of a cluster, or an expression of a user, may meet a mistake in this
// program. That is the trouble of this object or this expression, and of nobody
// else: whoever works on behalf of one of them defers [Recover], and treats the
// [Error] like any other.
//
// Neither the text of an Error nor its stack holds a value: where it happened, and
// what kind of panic it was, is all that is kept of it.
//
// A program cannot recover from everything. Memory that runs out and a stack that
// overflows end the process; graphview/quarantine is for those.
package panics
