// Package helm tells what a release of Helm manages. Helm keeps each revision
// of a release in a Secret: JSON, gzipped, in base64, with the chart, the values
// and the rendered manifest. A [Reducer] unpacks that and keeps of it no more than
// a list of what the manifest names: group, kind, namespace and name.
//
// It knows neither clients nor graphs, and not which revision of a release
// counts. It does not look at hooks, which Helm itself does not count as part of
// a release, nor at a chart's crds folder, which it never touches again.
//
// Releases are foreign bytes, and hold secrets. All that is made of one is bounded
// (bounds.go): what it unpacks to, what a YAML parser is given of it, and what it
// lists. A document is read from the nodes of the parser, never from the values
// that aliases would repeat. Nothing here quotes a release, in errors neither; and
// the buffers that held one are overwritten. Where a document of the manifest is
// written in a way that takes a YAML parser, what that parser made is left to the
// garbage collector.
//
// A Reducer may be used by any goroutine; it unpacks one release at a time, so
// that the bound is one of the process. Everything else is free of state.
package helm
