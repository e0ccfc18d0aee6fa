// Package advice finds the parts of a spec that have no effect, and suggests corrections
// to the author: for a query that matches nothing, a query that earlier queries
// shadow, a name that the cluster does not serve, namespaces that do not exist, roots
// that select nothing.
//
// The condition Effective of a GraphView, the warnings of the webhook and kubectl
// graphview validate all report the findings of this package.
//
// The callers pass the served resources and the comparisons in expressions. The package does not know
// expressions, clients or objects. It suggests only namespaces that the caller passes, and the
// reader of the advice must be allowed to know these.
//
// All functions are pure: a spec in, findings out.
package advice
