// Package offline answers for an API server that has the objects of manifests, from memory: the engine
// behind it does not know that nothing has been applied.
//
// A Loader reads files, folders and kustomizations into Manifests, and keeps the last good objects of
// a file that it cannot read. Manifests has the objects, their places in files, the kinds, and objects
// that are made because others refer to them: the pods of a workload, the products of
// controllers, the objects of every cluster. A Server serves them, and Follow keeps it up to date with the files. An
// Overlay lays them over the lists and watches of a live API server instead.
//
// The package knows nothing of graphs, commands and flags. It executes nothing that a manifest says,
// and reads nothing outside the folders that it is given.
//
// # Concurrency
//
// A Loader belongs to one goroutine. Manifests are immutable. Any number of goroutines may use a Server or an Overlay.
package offline
