// Package impact answers what the deletion of one object does to the others.
//
// The input is a [Graph]: objects and references, as one viewer may see them. [Graph.Of] goes
// down first, as the garbage collector and the controllers do: to the dependents of the object,
// the content of a namespace, the objects of a CustomResourceDefinition, the inventory that an
// installer prunes. Then it goes up, to what refers to anything that is deleted, and gives each
// object one [Verdict], with the references that lead to it.
//
// The package judges a reference by its word (package wording), its ends and its optional flag.
// It knows neither watches nor rights, and asks nothing: what is not in the graph is not judged.
//
// # Concurrency
//
// A Graph belongs to one goroutine.
package impact
