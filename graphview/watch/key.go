package watch

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

var (
	errNotReduced = errors.New("only Secrets are reduced")
	errNotPartial = errors.New("a watch of one namespace has nothing to leave out")
)

// Key says what a Watch follows. Leases of equal keys share one Watch.
type Key struct {
	Resource schema.GroupVersionResource
	// Kind and Namespaced are what discovery says of the resource. No request
	// depends on them: a resource that comes back with another kind or scope has
	// other objects, so it has another Watch.
	Kind       string
	Namespaced bool
	// Namespace is empty for cluster-scoped resources and for all namespaces.
	Namespace string
	// LabelSelector and FieldSelector are what the API server takes; empty
	// selects everything. Acquire brings them into their canonical form, so
	// two spellings of one selector share a Watch.
	LabelSelector, FieldSelector string
	// Partial is a Watch of all namespaces that retains the objects of some of them, see
	// Handler.Namespaces. Of other objects it reads the namespace.
	Partial bool
	// Reduced asks for whole Secrets, and retains what Options.Reduce makes of
	// each beside its metadata.
	Reduced bool
}

// String names the key in logs and errors.
func (k Key) String() string {
	var b strings.Builder
	b.WriteString(k.Resource.GroupResource().String())
	for _, part := range []struct{ name, value string }{
		{"namespace", k.Namespace}, {"labels", k.LabelSelector}, {"fields", k.FieldSelector},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, " %s %s", part.name, part.value)
		}
	}
	if k.Partial {
		b.WriteString(" partial")
	}
	if k.Reduced {
		b.WriteString(" reduced")
	}
	return b.String()
}

// canonical returns k with its selectors in canonical form, or says why no
// request can be made of it.
func (k Key) canonical() (Key, error) {
	for _, part := range []struct{ name, value string }{
		{"version", k.Resource.Version}, {"resource", k.Resource.Resource},
	} {
		if part.value == "" {
			return k, fmt.Errorf("key without %s", part.name)
		}
		if strings.ContainsRune(part.value, '/') {
			return k, fmt.Errorf("%s %q: subresources cannot be watched", part.name, part.value)
		}
	}
	if k.Reduced && !k.secrets() {
		return k, errNotReduced
	}
	if k.Partial && k.Namespace != "" {
		return k, errNotPartial
	}
	if k.Namespace != "" {
		if problems := rest.IsValidPathSegmentName(k.Namespace); len(problems) > 0 {
			return k, fmt.Errorf("namespace %q: %w", k.Namespace, errors.New(strings.Join(problems, ", ")))
		}
	}
	labelSelector, err := labels.Parse(k.LabelSelector)
	if err != nil {
		return k, fmt.Errorf("label selector: %w", err)
	}
	fieldSelector, err := fields.ParseSelector(k.FieldSelector)
	if err != nil {
		return k, fmt.Errorf("field selector: %w", err)
	}
	k.LabelSelector, k.FieldSelector = labelSelector.String(), fieldSelector.String()
	return k, nil
}

// secrets reports whether the objects are Secrets. A Watch retains only their metadata and the
// result of Options.Reduce.
func (k Key) secrets() bool {
	return k.Resource.Group == "" && k.Resource.Resource == "secrets"
}
