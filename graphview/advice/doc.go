// Package advice finds the parts of a spec that have no effect and says what their
// author may have meant: a query that matches nothing, a query that earlier ones
// leave nothing to, a name that the cluster does not serve, namespaces that do not
// exist, roots that select nothing.
//
// It is the one place that does so. The condition Effective of a GraphView, the
// webhook's warnings and kubectl graphview validate say what it found.
//
// It knows the served kinds and the comparisons in expressions from its callers. It does not know
// expressions, clients or objects. It suggests only namespaces that the caller gives it, which the
// reader of the advice has to be allowed to know.
//
// All functions are pure: a spec in, findings out.
package advice
