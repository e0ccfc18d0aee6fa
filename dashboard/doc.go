// Package dashboard serves the page that draws graphs, with a strict
// Content-Security-Policy. [WriteSnapshot] writes a page with an embedded graph that
// needs no server. The sources of the page are the modules in web. hack/bundle bundles
// them into dist, which is committed so that `go build` needs no earlier step.
//
// The package knows nothing of graphs. The page subscribes to them at its own origin,
// with the rights of its user.
//
// A handler is safe for concurrent use.
package dashboard
