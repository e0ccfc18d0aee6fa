// Package budget bounds the work and memory that text of users costs.
//
// The size of an input does not bound the size of its result: a kilobyte of YAML can
// name two gigabytes, and an expression of two hundred bytes a type of a hundred
// megabytes. A package that processes such text declares a [Bound], opens a [Meter] for one
// piece of work, and takes from it before it makes each part. The author of the text gets an
// [Exceeded], which names the bound; other users do not notice.
//
// An [Owner] is a tenant. A [Ledger] limits the memory that owners hold, in bytes. [Shares] bound
// the number of things that owners hold at the same time, such as connections. [Buckets] bound the
// rate at which owners spend, such as the cost of expressions.
//
// The package does not know the meaning of its counts, or how an error reaches the owner. It imports
// no other package of the project, so every package may import it.
//
// # Concurrency
//
// All types are safe for concurrent use, except for Meter, which belongs to one goroutine.
package budget
