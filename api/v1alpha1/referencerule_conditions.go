package v1alpha1

// A ReferenceRule has the condition Accepted, with the reasons Accepted,
// InvalidExpression, Unsupported and the following one, and Stalled with NotAccepted.
const (
	// ReasonInvalidPath: False, a path or a namespacePath of a ReferenceRule
	// cannot be followed. The message has the field's path and what was expected.
	ReasonInvalidPath = "InvalidPath"
)
