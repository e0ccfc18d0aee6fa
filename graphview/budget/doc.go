// Package budget bounds what is made out of what somebody else wrote.
//
// What comes in is bounded by whoever receives it. What is written out of it is
// another size: a kilobyte of YAML can name two gigabytes, and an expression of
// two hundred bytes a type of a hundred megabytes. So whoever makes something out
// of foreign text declares a [Bound], opens a [Meter] for one piece of work, and
// takes from it before each part is made. An [Exceeded] names the bound, which is
// what the author of the text is told; nobody else notices.
//
// What many owners hold at the same time, such as streams of users and watches of
// namespaces, is counted by [Shares].
//
// The package deliberately does not know what is counted, whose it is, or how its
// owner hears of it. It is the lowest leaf: every other package may import it.
//
// # Concurrency
//
// A Bound and Shares may be used by any number of goroutines. A Meter belongs to
// one goroutine.
package budget
