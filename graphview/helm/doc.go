// Package helm reads which objects a Helm release manages. Helm keeps each revision of a release
// in a Secret or a ConfigMap: JSON, gzipped, in base64, with the chart, the values and the
// rendered manifest. A [Reducer] unpacks it and keeps only the list of objects that the manifest
// names: group, kind, namespace and name. [Releases] adds that list to the references of the
// newest revision.
//
// The package knows no clients, no watches and no views. It ignores hooks, which Helm does not
// count as part of a release, and a chart's crds folder, which Helm never updates.
//
// Releases are untrusted and hold secrets. reduce.go bounds the unpacked size, the input of the
// YAML parser and the number of listed objects. A YAML document is read from the nodes of the
// parser, never from the values that aliases would repeat. Errors quote nothing of a release.
// The buffers that held one are overwritten, but the garbage collector frees the nodes of the
// YAML parser without overwriting them.
//
// # Concurrency
//
// A Reducer may be used by any number of goroutines. It unpacks one release at a time, so its
// bounds hold for the process. Releases belongs to one goroutine.
package helm
