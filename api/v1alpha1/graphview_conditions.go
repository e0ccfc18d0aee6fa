package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the conditions of a GraphView. Each has the observedGeneration of the
// spec that it describes.
const (
	// ConditionAccepted is True when the spec compiles and is allowed.
	ConditionAccepted = "Accepted"

	// ConditionReady is True when the graph is served and every selected resource
	// has synced or cannot be read. It stays True when another resource appears
	// later. Use it with kubectl wait.
	ConditionReady = "Ready"

	// ConditionComplete is True when every selected resource can be read. When
	// False, its message names the unreadable resources and the causes. The rest of
	// the graph is served.
	ConditionComplete = "Complete"

	// ConditionHealthy is True when no visible object is degraded or progressing
	// and no needed object is missing. It is about the objects, not about the
	// GraphView: a view that is not Healthy is served as any other. It is updated at
	// most once in a few seconds.
	ConditionHealthy = "Healthy"

	// ConditionEffective is True when each part of the spec has an effect. When False,
	// its message names the parts without effect, such as a query that matches nothing,
	// and suggests a correction. It is advice: the view is served, and the condition
	// becomes True when the missing resource or object appears.
	ConditionEffective = "Effective"

	// ConditionStalled is present, and then True, only while the view cannot
	// progress until a user changes something. Tools that follow kstatus fail at
	// once instead of waiting.
	ConditionStalled = "Stalled"
)

// The reasons of ConditionAccepted.
const (
	// ReasonAccepted: True, the spec compiles and is allowed.
	ReasonAccepted = "Accepted"

	// ReasonInvalidExpression: False, a CEL expression does not compile. The
	// message has the field's path, the line, the column and the expected text.
	ReasonInvalidExpression = "InvalidExpression"

	// ReasonInvalidSelector: False, a label or field selector cannot be parsed.
	ReasonInvalidSelector = "InvalidSelector"

	// ReasonInvalidJSONPath: False, a JSONPath cannot be parsed.
	ReasonInvalidJSONPath = "InvalidJSONPath"

	// ReasonUnsupported: False, the spec has a value that this version of the
	// operator does not know, perhaps because it was written for a newer version.
	// The message has the field's path and the known values.
	ReasonUnsupported = "Unsupported"

	// ReasonQuarantined: False, the operator crashed twice within ten minutes and
	// refuses specs with expressions for ten minutes. It then tries again.
	ReasonQuarantined = "Quarantined"

	// ReasonInternalError: False, the operator failed to compile the spec because of
	// a bug. Its log has the details.
	ReasonInternalError = "InternalError"

	// ReasonServiceAccountRequired: False, this installation accepts only
	// GraphViews with a serviceAccountName.
	ReasonServiceAccountRequired = "ServiceAccountRequired"

	// ReasonServiceAccountNotFound: False, there is no such ServiceAccount in
	// the GraphView's namespace. The view is accepted when it appears.
	ReasonServiceAccountNotFound = "ServiceAccountNotFound"
)

// The reasons of ConditionReady. ConditionStalled uses NotAccepted and LimitExceeded.
// ConditionComplete uses all but Ready while it is Unknown.
const (
	// ReasonReady: True, the whole graph is served.
	ReasonReady = "Ready"

	// ReasonSyncing: False, selected resources are still being listed. The graph
	// is served as objects arrive.
	ReasonSyncing = "Syncing"

	// ReasonNotAccepted: False, see the condition Accepted.
	ReasonNotAccepted = "NotAccepted"

	// ReasonLimitExceeded: False, the graph is larger than this installation
	// allows, or its namespace holds too much memory, and it is not served. The message
	// says which limit.
	ReasonLimitExceeded = "LimitExceeded"
)

// The reasons of ConditionHealthy. It also uses NotAccepted, LimitExceeded and Syncing
// while it is Unknown. If several apply, the first is used in this order: Degraded,
// MissingReferences, Progressing.
const (
	// ReasonOK: True, no visible object is degraded or progressing, and none is missing.
	ReasonOK = "OK"

	// ReasonDegraded: False, at least one object failed or makes no progress.
	ReasonDegraded = "Degraded"

	// ReasonMissingReferences: False, at least one object that another object needs
	// does not exist.
	ReasonMissingReferences = "MissingReferences"

	// ReasonProgressing: False, at least one object has not reached the state that its
	// spec asks for.
	ReasonProgressing = "Progressing"

	// ReasonNothingVisible: Unknown, the view shows no object. Its spec may be misspelt.
	ReasonNothingVisible = "NothingVisible"
)

// The further reasons of ConditionComplete.
const (
	// ReasonComplete: True, every selected resource can be read.
	ReasonComplete = "Complete"

	// ReasonResourcesUnreadable: False, the message names the resources.
	ReasonResourcesUnreadable = "ResourcesUnreadable"
)

// The reasons of ConditionEffective. It also uses NotAccepted, LimitExceeded and
// Syncing while it is Unknown. If several apply, the reason is the first one, and the
// message lists all.
const (
	// ReasonEffective: True, each part of the spec has an effect.
	ReasonEffective = "Effective"

	// ReasonQueryMatchesNothing: False, the cluster serves no resource that a query
	// includes.
	ReasonQueryMatchesNothing = "QueryMatchesNothing"

	// ReasonQueryShadowed: False, earlier queries match every resource that a query
	// matches.
	ReasonQueryShadowed = "QueryShadowed"

	// ReasonUnknownName: False, an expression compares with a name that the cluster
	// does not serve, and a similar name is served.
	ReasonUnknownName = "UnknownName"

	// ReasonNamespaceNotFound: False, a namespace that the spec names does not exist, or
	// no namespace matches the selector.
	ReasonNamespaceNotFound = "NamespaceNotFound"

	// ReasonNoRoots: False, no object is a root, so nothing is visible.
	ReasonNoRoots = "NoRoots"
)

// Ineffective returns which parts of the spec have no effect, as ConditionEffective says: "" if
// each has one. It is known only while the condition describes this generation of the spec.
func (v *GraphView) Ineffective() (text string, known bool) {
	for i := range v.Status.Conditions {
		c := &v.Status.Conditions[i]
		switch {
		case c.Type != ConditionEffective || c.ObservedGeneration != v.Generation:
		case c.Status == metav1.ConditionTrue:
			return "", true
		case c.Status == metav1.ConditionFalse:
			return strings.ReplaceAll(c.Message, "\n", "; "), true
		}
	}
	return "", false
}
