// Package plan decides which watches a view needs.
//
// The decision has two steps. [ClaimsOf] derives from the spec, the rights and the selected
// namespaces what the view may watch and what it demands of watches of all namespaces. The
// demands do not depend on other views. The [Book] collects the demands of all views and
// decides which watches of all namespaces they share. [Claims.Outline] derives the view's needs
// from the claims, the shared watches and the state of the watches that the view has.
//
// # Forms
//
// Without other views, a view watches a resource in one of these forms:
//
//	form           watches                                 demand
//	clusterScoped  one                                     none
//	everywhere     one of all namespaces                   everything
//	several        one of all, which retains some          its namespaces
//	single         one in each of at most 8 namespaces     its namespaces
//	refusedSingle  one in each namespace, and a probe      none
//
// The operator is refused the watch of all namespaces in the last form. The probe is that
// watch: it is used as soon as a request for it succeeds.
//
// A process that watches with its own rights (Situation.Own) has the forms everywhere, and single
// for any number of namespaces. It demands nothing of the Book.
//
// # States
//
// A view with the form single moves to a shared watch, and a view with the form several from one
// extent of a shared watch to the other. It keeps the objects of its present watches until the new
// one has synced. These are the states of a view in relation to a shared watch:
//
//	the view has            shared watch pending   synced          late or failing   forbidden
//	no other watch          onSharedWatch          onSharedWatch   unshared          unshared
//	watches of namespaces   unshared               onSharedWatch   unshared          unshared
//	the other extent        onOtherWatch           onSharedWatch   onOtherWatch      onOtherWatch
//
// In the state unshared, the view watches its namespaces one by one and has the shared watch on
// standby. In onOtherWatch, it uses the watch of the other extent and has the shared watch on
// standby. In onSharedWatch, it uses the shared watch.
//
// There are two exceptions. If a view has no other watch and the shared watch replaces more
// watches than there may be (Share.Crowded), the view waits for it even if it is late or failing.
// A view that has all objects of a watch keeps it for some seconds after that becomes forbidden,
// until the operator counts as refused.
//
// # Namespaces of a partial watch
//
// A partial watch retains the objects of some namespaces. It takes them from the Book when a list
// begins ([Book.Begin]), and they do not change before the next list. For each of its namespaces,
// a view that uses the watch is in one of these states:
//
//	the watch has listed it                       the view takes it from the watch
//	the view watches it already                   it keeps that watch until the list
//	it comes with a list that has begun, or with  the view waits for the list (Outline.Lacking)
//	  a requested list (Share.Relists)
//	it comes with a later list                    the view watches it by itself
//	likewise, of more namespaces than the view    the view waits for the list
//	  may watch one by one
//
// If the watch has none of the view's namespaces, the state is unshared. The Book requests
// the next list when namespaces wait for it or when many listed namespaces are not needed any
// more, at a rate that depends on the duration of lists (book.go).
//
// # What the package does not know
//
// Package plan knows neither views nor the engine, starts no watch, and asks no API server. Its
// functions are pure, apart from the Book.
//
// # Concurrency
//
// Any number of goroutines may use a Book. It calls Options.Tell under its lock. All other
// values belong to the caller.
package plan
