// Package budget bounds the work and memory for text that users write.
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
// The package does not know the meaning of its counts, or how the owner gets an error. It is
// the lowest leaf: every other package may import it.
//
// # Concurrency
//
// A Bound, a Ledger, its accounts, Shares, Buckets and a Bucket may be used by any number of goroutines. A
// Meter belongs to one goroutine.
package budget
