// Package health says how an object is, from its own fields.
//
// The rules for Kubernetes' own kinds and for conditions are those of kstatus (sigs.k8s.io/cli-utils,
// package status), and where it has no opinion or waits for ever those of Argo CD: its built-in
// checks (gitops-engine, package health) and its scripts. docs/health.md has a row with the reason of
// each difference, and test/health compares the three.
//
// A kind without a rule, a condition or a phase is [Unknown]. Nothing is [OK] without a report.
//
// The package deliberately does not know watches, graphs, other objects or what time it is. [Of]
// and [OfParts] are pure functions. [Health.Overdue] has the time at which a state changes by
// itself, and [Health.At] applies it. Everything may be used by any number of goroutines.
package health
