// Package graphview keeps views of a cluster: graphs of its objects and of what
// they refer to, live, for anyone to subscribe to by name.
//
// It puts the packages below it together. Package spec compiles what users declare,
// resources follows what the cluster serves, plan decides which watches a view needs,
// watch follows objects, refs finds what they refer to, helm reads which objects a Helm release
// manages, health says how they are, graph holds it all, and delivery says what a
// subscriber is sent.
// It knows neither HTTP nor custom resources: a view is declared by a spec.Spec and
// read through a delivery.Subscription.
//
// # The tour
//
// Engine.Apply compiles a spec.Spec and gives the Program to its View. The view's
// goroutine (keeper.go) derives from the queries and the present resources.Catalog
// which watches it needs (package plan), leases those and taps their feeds (feed.go).
//
// An object arrives in feed.Set, in the goroutine of its watch and still decoded:
// its references are found (references.go), each tap's judge decides for its view
// whether the object is selected and a root (judge.go), and what is left of the
// object is an event. A view whose expressions take long decides in a goroutine of
// its own (backlog.go), so that no other view of the watch waits for it. Package writer
// applies the events that have arrived to the one graph, and commits them as a revision
// of every lens that changed. It notifies the subscribers of a view at once, or a little
// later if the view has many and they were notified lately.
//
// Package rules decides how references are found: by the table of refs, ReferenceRules,
// schemas and served kinds. When the fingerprint of a kind changes, its objects are read
// again from what their watches retain (reread.go), and nothing is listed.
//
// What a subscriber is sent is made by package delivery, from the lens of its view
// and the view's warnings.
//
// # Goroutines
//
// Engine.Run starts and joins all of them: the writer, discovery, watches, one for
// each view and its backlog, one that reads objects again and one that reads schemas. The writer alone writes the graph, in the order in which events were
// sent. A keeper that needs a change at its place in that order sends a function. The
// writer outlives all that send to it and waits for none of them. Watches block while it
// is behind, which slows the API server down and loses nothing. Replays, to new views
// above all, have no place in that order (replay.go): the writer takes one step of them
// between two batches of events. Expressions are evaluated in the goroutines of watches,
// of views and of their backlogs, never in the writer. A panic there is a fault of one
// object.
//
// Engine.mu is taken before View.mu and before the lock of a backlog. None of them is
// held while a goroutine waits for the writer. A Subscription writes to no connection:
// its reader does.
package graphview
