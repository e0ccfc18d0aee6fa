package health

import (
	"strings"
	"time"
)

// terminating is the health of an object that is being deleted, and why it still
// exists: the condition of a Namespace or CustomResourceDefinition that names the
// obstacle, else its finalizers.
func (o *object) terminating(at int64) Health {
	h := Health{State: Terminating, Since: at}
	if at != 0 {
		h.Overdue = at + int64(Patience/time.Second)
	}
	switch c, failed := o.conditions.failed(); {
	case failed:
		h.Reason = word(c.kind)
		return h
	case o.kind == Kind{"", "Namespace"} || o.kind == Kind{"apiextensions.k8s.io", "CustomResourceDefinition"}:
		for _, c := range o.conditions {
			if c.isTrue() && (strings.HasSuffix(c.kind, "Remaining") || c.kind == "Terminating") {
				h.Reason = word(orElse(c.reason, c.kind))
				return h
			}
		}
	}
	if o.length("metadata", "finalizers") > 0 {
		h.Reason = "FinalizersRemaining"
	}
	return h
}
