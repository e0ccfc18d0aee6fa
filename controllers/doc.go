// Package controllers keeps the engine and the status of GraphViews in step
// with what users committed.
//
// GraphViewReconciler turns a GraphView into a graphview.Spec, hands it to the
// Engine, and writes what the engine says about the view into its status. It is
// level-based: what it does follows from the GraphView, from whether its
// ServiceAccount exists, and from the engine's Status, never from which event
// brought it here.
//
// It runs on every replica, since every replica's engine needs the views, but
// only the elected one writes status and Events.
//
// It deliberately does not know HTTP, sessions or subscribers, and nothing about
// watches: what a view holds is the engine's business.
//
// Concurrency: controller-runtime calls Reconcile for different views at the
// same time, for one view never twice at once. Notifier may be called from
// everywhere and never blocks. Nothing here starts goroutines but through the
// manager, which joins them.
package controllers
