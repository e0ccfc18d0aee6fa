// Package impact determines the effects of the deletion of one object on the others.
//
// The input is a [Graph]: objects and references, as one viewer may see them. Both it and the answer have the
// types of the stream protocol. [Graph.Of] goes down first, as the garbage collector and the controllers do: to
// the dependents of the object, the content of a namespace, the objects of a CustomResourceDefinition, the
// inventory that an installer prunes. Then it goes up to the objects that refer to a deleted one, and gives each
// object one [Verdict], with the references that lead to it.
//
// The package judges a reference by its word (package wording), its ends and its optional flag. It does
// not know watches or permissions, and sends no requests: objects outside the graph are not judged.
//
// The steps of a search are proportional to the objects and references of the graph, and its context
// ends it.
//
// # Concurrency
//
// A Graph belongs to one goroutine.
package impact
