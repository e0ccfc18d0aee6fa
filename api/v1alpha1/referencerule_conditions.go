package v1alpha1

// A ReferenceRule has the condition Accepted, with the reasons Accepted,
// InvalidExpression, Unsupported and InvalidPath; Effective, with Effective,
// KindNotServed and, Unknown, NotAccepted and Syncing; and Stalled with NotAccepted.
// The message of Effective lists the fields of which conventions say nothing any more.
const (
	// ReasonInvalidPath: False, a path or a namespacePath of a ReferenceRule
	// cannot be followed. The message has the field's path and what was expected.
	ReasonInvalidPath = "InvalidPath"

	// ReasonKindNotServed: False, no API serves a kind that the rule names, so that there
	// is nothing that the rule is about, or that it can lead to. The message names the
	// kind and says what may have been meant. It changes by itself when the kind is
	// served.
	ReasonKindNotServed = "KindNotServed"
)
