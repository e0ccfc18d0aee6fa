package plan

import (
	"fmt"
	"strings"

	"graphview.dev/graphview/resources"
)

// Denied is a resource that the view may not watch, at least in part.
type Denied struct {
	Resource resources.Resource
	// Namespaces are the denied ones of the namespaces that the spec names. Partly: the view
	// may watch the resource in other namespaces.
	Namespaces []string
	Partly     bool

	// subject is the account that lacks the right.
	subject string
	// err is the failure to ask for the right.
	err error
}

// Lacks reports whether the subject lacks the right. Otherwise the right is not known.
func (d *Denied) Lacks() bool { return d.err == nil }

// maxDeniedNames is how many namespaces a message names.
const maxDeniedNames = 8

// Message is the reason, for the author of the view.
func (d *Denied) Message() string {
	switch {
	case d.err != nil:
		return fmt.Sprintf("whether %s may list and watch it is not known: %s", d.subject, d.err.Error())
	case len(d.Namespaces) > maxDeniedNames:
		return fmt.Sprintf("%s may not list and watch it in %s and %d more namespaces",
			d.subject, strings.Join(d.Namespaces[:maxDeniedNames], ", "), len(d.Namespaces)-maxDeniedNames)
	case len(d.Namespaces) > 0:
		return fmt.Sprintf("%s may not list and watch it in %s", d.subject, strings.Join(d.Namespaces, ", "))
	case d.Partly:
		return d.subject + " may not list and watch it in all namespaces"
	default:
		return d.subject + " may not list and watch it"
	}
}
