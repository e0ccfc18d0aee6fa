// Package graphview keeps views of a cluster: live graphs of its objects and their references. A
// view has a name and any number of subscribers. It is declared by a spec.Spec and read through a
// delivery.Subscription. The package knows neither HTTP nor custom resources.
//
// It puts together the packages below it. A package in this list knows only earlier ones:
//
//	budget, fairqueue, panics, quarantine    limits, turns, recovered panics, crashes
//	weakmap                                  values while other code holds them
//	jsontree, expr, spec                     objects, expressions, compiled specs
//	resources, watch                         served kinds, shared watches
//	graph, refs, health, helm, schemas       the graph, and what is read from an object
//	plan                                     which watches a view needs
//	quota, rules                             processors and costs of owners; how references are found
//	writer                                   applies events to the graph, and publishes revisions
//	delivery                                 from revisions to messages
//	intake                                   from watches to events
//
// # What is where
//
//	reconcile.go                             the goroutine of a view: one step after another
//	taps.go                                  from a plan to leased watches
//	report.go, coverage.go, advise.go        what a view says about itself
//	keeper.go, grants.go                     what that goroutine knows: taps, namespaces, rights
//	declare.go                               what users declare: specs, ReferenceRules, ad-hoc views
//	engine.go, metrics.go                    composition: what starts, what is joined
//	tap.go                                   a lease of a view, and what the view takes from its watch
//	view.go, follower.go, status.go, held.go a view, for callers and for the packages below
//	compile.go, options.go                   how specs are compiled; options
//
// A file uses files of its own line and of the lines below. The exceptions: a view knows its engine,
// and the engine starts the goroutine of a view. Its metrics read the reports.
//
// # The way of an object
//
// Engine.Apply compiles a spec.Spec for its View. The view's keeper derives from the queries and the
// present resources.Catalog which watches it needs (package plan), leases them, and taps their feeds
// (package intake). A feed turns each object of its watch into an event. Package writer applies the
// events to the one graph, and makes them a revision of every lens that changed. Package delivery
// sends it to the subscribers of the view. When the rules of a kind change, its objects are read
// again from what their watches retain, and nothing is listed.
//
// # Goroutines
//
// Engine.Run starts and joins all of them: the writer, discovery, watches, one for each view and its
// backlog, one for rereads and one for schemas. The writer outlives all that send to it and waits for
// none of them. Watches block while it is behind, which slows the API server down
// and loses nothing. A keeper that needs a change at its place in the order of events sends a
// function. Expressions are evaluated in the goroutines of watches, of views and of their backlogs,
// never in the writer. A panic there is an error of one object.
//
// Engine.mu is taken before View.mu and before the lock of a backlog. None of them is held while a
// goroutine waits for the writer.
package graphview
