// Package panics turns a panic into an error of the piece of work that panicked.
//
// An object of a cluster, or an expression of a user, may trigger a bug of this program, which must
// not affect other objects and expressions. A function that works on one object or expression defers
// [Recover], and handles the [Error] like any other error.
//
// Neither the text of an Error nor its stack contains a value of the object.
//
// A program cannot recover if memory runs out or a stack overflows: the process ends.
package panics
