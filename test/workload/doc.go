// Package workload is what tests of the engine do to a cluster: views of every
// sort over two namespaces ([Views]), and random changes in these
// ([Workload]) that real controllers answer.
//
// It knows neither the API server nor what a test expects: clients, namespaces
// and randomness are given, errors are returned. Given the same Random, the
// series of attempts is the same; what becomes of them depends on what the
// controllers did in between.
//
// A Workload belongs to one goroutine.
package workload
