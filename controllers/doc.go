// Package controllers keeps the engine and the status of GraphViews in step
// with what users committed.
//
// GraphViewReconciler turns a GraphView into a spec.Spec, hands it to the
// Engine, and writes what the engine says about the view into its status. It is
// level-based: what it does follows from the GraphView, from whether its
// ServiceAccount exists, and from the engine's Status, never from which event
// brought it here.
//
// ReferenceRuleReconciler does the same for ReferenceRules and the engine's rules.
//
// They run on every replica. Where each replica holds every view, only the elected one
// writes status and Events. Where replicas share views, the status of a view is
// written by the replica that ranks highest for it (package placement), and that of a
// ReferenceRule by the elected one.
//
// SetupWebhook lets the API server ask, before a GraphView is stored, what the
// reconciler would say of its spec. Certificates keeps what the webhook and the
// graphs are served with, and makes the API server trust it.
//
// It deliberately does not know HTTP, sessions or subscribers, and nothing about
// watches: what a view holds is the engine's business.
//
// Concurrency: controller-runtime calls Reconcile for different views at the
// same time, for one view never twice at once. Notifier may be called from
// everywhere and never blocks; so may Certificates.Get, which waits for the first
// look at the Secret. Replicas compete for that Secret by its resource version,
// and whoever loses takes what is there. Nothing here starts goroutines but through the
// manager, which joins them.
package controllers
