// Package health determines the health of an object from its own fields.
//
// The rules for Kubernetes' own kinds and for conditions are those of kstatus (sigs.k8s.io/cli-utils,
// package status). Where kstatus has no opinion or waits for ever, they are those of Argo CD: its
// built-in checks (gitops-engine, package health) and its scripts. docs/measured/health.md has a row with the
// reason of each difference, and test/health compares the three.
//
// A kind without a rule, a condition or a phase is [Unknown]. Nothing is [OK] without a report.
//
// The package deliberately does not know watches, graphs, other objects or the time. [Of] and [OfParts]
// are pure functions. [Health.Overdue] is the time at which a state changes by itself, and [Health.At]
// applies it. Any number of goroutines may use the package.
package health
