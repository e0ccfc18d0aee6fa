// Package plan decides which watches a view needs.
//
// The decision has two steps. [ClaimsOf] derives from the spec, the rights and the selected
// namespaces what the view may watch and which watches of all namespaces it demands. The
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
// In the last form, the API server refuses the operator the watch of all namespaces. The probe is
// that watch: the view uses it as soon as a request for it succeeds.
//
// A process that watches with its own rights (Situation.Own) has the forms clusterScoped, everywhere,
// and single for any number of namespaces. Its views have no demands.
//
// # States
//
// A view with the form single moves to a shared watch. A view with the form several moves between
// the two extents of the watch: partial and complete. A view keeps the objects of its present watches
// until the new one has synced. These are the states of a view in relation to a shared watch:
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
// watches than are allowed (Share.Crowded), the view waits for it even if it is late or failing.
// A view that has all objects of a watch keeps the watch for some seconds after it becomes
// forbidden, until the operator counts as refused.
//
// # Namespaces of a partial watch
//
// A partial watch retains the objects of some namespaces. It gets the namespaces from the Book when
// a list begins ([Book.Begin]), and they do not change before the next list. For each of its
// namespaces, a view that uses the watch does one of these:
//
//	the watch has listed the namespace            the view takes its objects from the watch
//	the view already watches it                   it keeps that watch until the next list
//	a list that has begun has it, or a requested  the view waits for the list (Outline.Lacking)
//	  list will have it (Share.Relists)
//	a later list will have it                     the view watches the namespace by itself
//	as above, but the view would have too many    the view waits for the list
//	  watches of single namespaces
//
// If the watch has none of the view's namespaces, the state is unshared. The Book requests
// the next list when namespaces wait for it, or when many listed namespaces are no longer
// needed, at a rate that depends on the duration of lists (book.go).
//
// # What the package does not know
//
// Package plan knows neither views nor the engine, starts no watch, and sends no request to the API
// server. Its functions are pure, apart from the Book.
//
// # Concurrency
//
// A Book is safe for concurrent use. It calls Options.Tell with its lock held. All other values
// belong to the caller.
package plan
