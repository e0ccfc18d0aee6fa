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
// They run on every replica. The replica that has the Lease (Election) writes status and Events. A write names the resource version that it starts from, so a replica that is
// suspended between asking whether it is elected and writing does not overwrite a newer status.
//
// SetupWebhook serves the validating webhook, which checks the spec of a GraphView with
// the same code as the reconciler before the API server stores it.
//
// It deliberately does not know HTTP, sessions or subscribers, and nothing about
// watches: what a view holds is the engine's business.
//
// Concurrency: controller-runtime calls Reconcile for different views at the
// same time, for one view never twice at once. Notifier may be called from
// anywhere and never blocks. A spec is applied in a goroutine of its own (applier), since the engine
// compiles it in turns of its owner. The manager joins all goroutines.
package controllers
