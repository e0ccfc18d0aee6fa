// Package workload has views of every
// sort over two namespaces ([Views]), and random changes in these
// ([Workload]), to which real controllers react.
//
// It knows neither the API server nor the expectations of a test: the caller gives clients, namespaces
// and randomness, and gets errors. The same Random gives the same
// series of attempts; their results also depend on the
// controllers.
//
// A Workload belongs to one goroutine.
package workload
