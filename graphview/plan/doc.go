// Package plan decides which watches a view needs.
//
// [Book.Outline] decides in three steps. It derives from the spec, the rights and the selected
// namespaces which places the view may watch and which watches of all namespaces it demands. These
// claims do not depend on other views. The Book collects the demands of all views and
// decides which watches of all namespaces they share. From the claims, the shared watches and the state
// of the watches that the view has follow the view's needs.
//
// # Forms
//
// Without other views, a view watches a resource in one of these forms:
//
//	form           watches                                 demand
//	clusterScoped  one                                     none
//	everywhere     one of all namespaces                   everything
//	single         one in each of at most 16 namespaces    its namespaces
//	refusedSingle  one in each namespace, and a probe      none
//
// In the last form, the API server refuses the operator the watch of all namespaces. The probe is
// that watch: the view uses it as soon as a request for it succeeds.
//
// A process that watches with its own rights (Situation.Own) has the forms clusterScoped, everywhere,
// and single for any number of namespaces. Its views have no demands.
//
// # Sharing
//
// A view with the form single moves to a watch of all namespaces that views share. It keeps the
// objects of its present watches until the shared watch has synced, and has that on standby
// meanwhile. If the view has no other watch, it uses the shared one at once:
//
//	the view has            shared watch pending   synced   late or failing   forbidden
//	no other watch          uses it                uses it  standby           standby
//	watches of namespaces   standby                uses it  standby           standby
//
// There are two exceptions. If a view has no other watch and the shared watch replaces more
// watches than are allowed (Share.Crowded), the view waits for it even if it is late or failing.
// A view that has all objects of a watch keeps the watch for some seconds after it becomes
// forbidden, until the operator counts as refused.
//
// # What the package does not know
//
// Package plan knows neither views nor the engine, starts no watch, and sends no request to the API
// server. Its functions are pure, apart from the Book.
//
// # Concurrency
//
// A Book is safe for concurrent use. It calls Options.Notify with its lock held. All other values
// belong to the caller.
package plan
