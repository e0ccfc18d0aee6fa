// Package dashboard is the page that draws graphs: files for a browser, a handler
// that serves them with a strict policy for content, and a page with a graph in it
// that needs no server ([WriteSnapshot]). The modules in web
// are what is written and tested; dist has them bundled by hack/bundle, and is
// committed, so that `go build` needs no step before it.
//
// It knows nothing of graphs. The page reads them from where it comes from, with
// the rights of who looks at it, as any other subscriber does.
//
// A handler may be used by any number of goroutines.
package dashboard
