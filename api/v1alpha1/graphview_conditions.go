package v1alpha1

// The types of the conditions of a GraphView. All of them bear the
// observedGeneration of the spec that they speak of.
const (
	// ConditionAccepted is True when the spec compiles and is allowed.
	ConditionAccepted = "Accepted"

	// ConditionReady is True when the graph is served and every selected
	// resource has synced or was given up for now. A resource that appears
	// later does not take it away. Wait for this one.
	ConditionReady = "Ready"

	// ConditionComplete is True when every selected resource can be read. When
	// False, its message names those that cannot be read and why; the rest of
	// the graph is served all the same.
	ConditionComplete = "Complete"

	// ConditionHealthy is True when no visible object is degraded or progressing
	// and no reference that is needed leads to what does not exist. It is about the
	// objects, not about the GraphView: a view that is not Healthy is served as any
	// other. It follows the counts, at most once in some seconds.
	ConditionHealthy = "Healthy"

	// ConditionEffective is True when each part of the spec has an effect. When False,
	// its message names the parts that have none, such as a query that matches nothing,
	// and says what may have been meant. It is advice: the view is served as it is, and
	// the condition changes by itself when what is missing appears.
	ConditionEffective = "Effective"

	// ConditionStalled is present, and then True, only while nothing will
	// happen until somebody acts. Tools that follow kstatus fail at once
	// instead of waiting.
	ConditionStalled = "Stalled"
)

// The reasons of ConditionAccepted.
const (
	// ReasonAccepted: True, the spec compiles and is allowed.
	ReasonAccepted = "Accepted"

	// ReasonInvalidExpression: False, a CEL expression does not compile. The
	// message has the field's path, the line, the column and what was expected.
	ReasonInvalidExpression = "InvalidExpression"

	// ReasonInvalidSelector: False, a label or field selector cannot be parsed.
	ReasonInvalidSelector = "InvalidSelector"

	// ReasonInvalidJSONPath: False, a JSONPath cannot be parsed.
	ReasonInvalidJSONPath = "InvalidJSONPath"

	// ReasonUnsupported: False, the spec says what this version of the operator
	// does not know, as one that was written for a newer version may. The message
	// has the field's path and what is known.
	ReasonUnsupported = "Unsupported"

	// ReasonQuarantined: False, the operator was ended while it worked on this
	// spec. It is tried again when the spec changes.
	ReasonQuarantined = "Quarantined"

	// ReasonInternalError: False, the compiler failed in a way that is a mistake
	// in the operator. Its log says more.
	ReasonInternalError = "InternalError"

	// ReasonServiceAccountRequired: False, this installation accepts only
	// GraphViews with a serviceAccountName.
	ReasonServiceAccountRequired = "ServiceAccountRequired"

	// ReasonServiceAccountNotFound: False, there is no such ServiceAccount in
	// the GraphView's namespace. The view is accepted when it appears.
	ReasonServiceAccountNotFound = "ServiceAccountNotFound"
)

// The reasons of ConditionReady; ConditionStalled has NotAccepted and
// LimitExceeded, ConditionComplete has all but Ready while it is Unknown.
const (
	// ReasonReady: True, the graph is served whole.
	ReasonReady = "Ready"

	// ReasonSyncing: False, selected resources are still being listed. The
	// graph is served as it fills.
	ReasonSyncing = "Syncing"

	// ReasonNotAccepted: False, see the condition Accepted.
	ReasonNotAccepted = "NotAccepted"

	// ReasonLimitExceeded: False, the graph is larger than this installation
	// allows and is not served. The message says which limit. With ConditionAccepted
	// it is that the namespace has more GraphViews than are served, and this is none
	// of the oldest.
	ReasonLimitExceeded = "LimitExceeded"
)

// The reasons of ConditionHealthy; it has NotAccepted, LimitExceeded and Syncing,
// too, while it is Unknown. The worst counts: Degraded before MissingReferences
// before Progressing.
const (
	// ReasonOk: True.
	ReasonOk = "Ok"

	// ReasonDegraded: False, at least one object failed or does not get to what its
	// spec wants.
	ReasonDegraded = "Degraded"

	// ReasonMissingReferences: False, at least one object that another one needs does
	// not exist.
	ReasonMissingReferences = "MissingReferences"

	// ReasonProgressing: False, at least one object is not yet as its spec wants it.
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

// The reasons of ConditionEffective; it has NotAccepted, LimitExceeded and Syncing,
// too, while it is Unknown. Where there are several, the first counts, and the message
// has all.
const (
	// ReasonEffective: True.
	ReasonEffective = "Effective"

	// ReasonQueryMatchesNothing: False, a query includes resources of which the cluster
	// serves none.
	ReasonQueryMatchesNothing = "QueryMatchesNothing"

	// ReasonQueryShadowed: False, whatever a query matches is decided by earlier ones.
	ReasonQueryShadowed = "QueryShadowed"

	// ReasonUnknownName: False, an expression compares with a name that the cluster
	// does not serve and that looks like one that it does.
	ReasonUnknownName = "UnknownName"

	// ReasonNamespaceNotFound: False, a namespace that the spec names does not exist, or
	// none is as the spec selects them.
	ReasonNamespaceNotFound = "NamespaceNotFound"

	// ReasonNoRoots: False, no object is a root, so that nothing is visible.
	ReasonNoRoots = "NoRoots"
)
