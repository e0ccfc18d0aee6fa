// Package panics turns a panic into an error of the piece of work that panicked.
//
// An object of a cluster, or an expression of a user, may trigger a bug of this program. Other
// objects and expressions must not notice. A function that works on one of them defers [Recover],
// and treats the [Error] like any other.
//
// Neither the text of an Error nor its stack contains a value of the object: an Error has the
// place and the kind of the panic.
//
// A program cannot recover from a lack of memory or from a stack overflow. They end the process;
// package quarantine handles that.
package panics
