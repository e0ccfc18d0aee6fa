// Package controllers applies GraphViews, ReferenceRules and ClusterLinks to the
// engine and the hub, and reports the results in their status.
//
// GraphViewReconciler applies the spec of a GraphView to the Engine, and writes the
// engine's Status of the view into the GraphView's status. It is level-based: a
// reconcile depends on the GraphView, on the existence of its ServiceAccount, and on
// the engine's Status, never on the event that caused it.
//
// ReferenceRuleReconciler does the same for ReferenceRules and the engine's rules, and
// ClusterLinkReconciler for ClusterLinks and the hub's links.
//
// They run on every replica. The replica that has the Lease (Election) writes status and Events. A write
// names the resource version that it starts from, so a replica that is suspended between asking whether it
// is elected and writing does not overwrite a newer status.
//
// NewWebhook is the handler of the validating webhook, which checks the spec of a GraphView with
// the same code as the reconciler before the API server stores it.
//
// It deliberately does not know HTTP, sessions, subscribers or
// watches: the contents of a view belong to the engine.
//
// Concurrency: controller-runtime calls Reconcile for different views at the
// same time, and for one view one call after the other. Notifier may be called from
// anywhere and never blocks. A spec is applied in a goroutine of its own (applier), since the engine
// compiles it in turns of its owner. The manager joins all goroutines.
package controllers
