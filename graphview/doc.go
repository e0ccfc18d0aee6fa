// Package graphview maintains views of a cluster: live graphs of its objects and their references. A
// view has a name and any number of subscribers. The spec of a GraphView declares the view, and a
// subscriber reads it through a delivery.Subscription. The package knows no HTTP, and of custom resources only
// the types of their specs.
//
// It combines the packages below it. A package in this list imports only earlier ones:
//
//	budget, fairqueue, panics                limits, turns, recovered panics
//	weakmap                                  a map that does not keep its values alive
//	jsontree, expr, spec                     objects, expressions, compiled specs
//	resources, watch                         served kinds, shared watches
//	graph, refs, health, helm, schemas       the graph; references and health of objects
//	plan                                     which watches a view needs
//	quota, rules                             processors and costs of owners; how references are found
//	writer                                   applies events to the graph, and publishes revisions
//	delivery                                 turns revisions into messages
//	intake                                   turns objects of watches into events
//
// # Files
//
//	reconcile.go                             the goroutine of a view: steps and their order
//	taps.go, judges.go, tap_status.go        the taps of a view: which it has, which objects they select, their state
//	report.go, coverage.go, advise.go        status, warnings, coverage and advice of a view
//	keeper.go, rights.go                     state of the goroutine: selected resources, rights, memory
//	declare.go                               rules and ad-hoc views
//	engine.go, metrics.go                    named views; start and end of all goroutines
//	tap.go                                   a lease of a view, and the objects that the view takes from its watch
//	view.go, follower.go, status.go, held.go a view, for callers and for the packages below
//	compile.go, options.go                   how specs are compiled; options
//
// A file uses only files of its own line and of later lines. The exceptions: a view knows its engine,
// the engine starts the goroutine of a view, and the metrics read the reports.
//
// # From a spec to the subscribers
//
// Engine.Apply compiles a spec for its View. The view's keeper derives from the queries and the
// present resources.Catalog which watches the view needs (package plan), leases them, and taps their
// feeds (package intake). A feed turns each object of its watch into an event. Package writer applies
// events to the graph in revisions, and each lens that changed gets a revision. Package delivery
// sends it to the subscribers of the view. When the rules of a kind change, the engine rereads its
// objects from what their watches retain, without a list.
//
// # Goroutines
//
// Engine.Run starts and joins all goroutines: the writer, discovery, watches, one for each view and
// its backlog, one for each account that restricts views, one for rereads and one for schemas. The writer outlives all senders and does not wait
// for any of them. Watches block while the writer is behind: the API server then sends more slowly, and
// no event is lost. A keeper that needs a change at its place in the order of events sends a
// function. Expressions are evaluated in the goroutines of watches, views and backlogs, never in the
// writer. A panic in an expression becomes an error of one object.
//
// A goroutine takes Engine.mu before View.mu or the lock of a backlog, and holds none of them while it
// waits for the writer.
package graphview
