// Package sharing decides which wide watches are worth having for many.
//
// Who needs little of a resource can watch just that, or take it from a wide watch
// that has more. A wide watch costs nothing where somebody has it anyway, and less
// than many narrow ones from some number on. So everybody says what they would watch
// by themselves ([Demand]), and the [Book] says which wide watches to take it from.
// Where nobody would have all of a wide watch for themselves, it
// need have only the parts that somebody demands ([Share].Partial). What is shared beyond
// need is kept for a while: moving there and back costs a list each time.
//
// The package deliberately does not know what is watched, by whom, whether anybody
// may, or how one moves from one watch to another.
//
// # Concurrency
//
// A Book may be used by any number of goroutines. It calls Options.Tell under its
// lock.
package sharing
