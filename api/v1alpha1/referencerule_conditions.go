package v1alpha1

// A ReferenceRule has the condition Accepted, with the reasons Accepted,
// InvalidExpression, Unsupported and InvalidPath; Effective, with Effective,
// KindNotServed and, Unknown, NotAccepted and Syncing; and Stalled with NotAccepted.
// The message of Effective lists the fields that conventions no longer apply to.
const (
	// ReasonInvalidPath: False, a path or a namespacePath of a ReferenceRule is
	// invalid. The message has the field's path and the expected form.
	ReasonInvalidPath = "InvalidPath"

	// ReasonKindNotServed: False, the cluster does not serve a kind that the rule names,
	// so the rule has no effect. The message names the kind and suggests a correction.
	// The condition becomes True when the kind is served.
	ReasonKindNotServed = "KindNotServed"
)
