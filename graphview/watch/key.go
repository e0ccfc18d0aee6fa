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
)

// Key identifies the objects of a Watch. Leases of equal keys share one Watch.
type Key struct {
	Resource schema.GroupVersionResource
	// Kind and Namespaced are the resource's kind and scope in discovery. Requests do
	// not use them. They are in the Key because a resource that is created again with
	// another kind or scope has other objects, and so needs another Watch.
	Kind       string
	Namespaced bool
	// Namespace is empty for cluster-scoped resources and for all namespaces.
	Namespace string
	// LabelSelector and FieldSelector have the syntax of the API server. An empty
	// selector selects everything. Acquire converts them to their canonical form,
	// so that two spellings of one selector share a Watch.
	LabelSelector, FieldSelector string
	// Reduced: a Watch of Secrets that requests whole Secrets and retains their
	// metadata and the result of Options.Reduce.
	Reduced bool
}

// String returns the key as logs and errors show it.
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
	if k.Reduced {
		b.WriteString(" reduced")
	}
	return b.String()
}

// canonical returns k with its selectors in canonical form, or an error if a Watch
// of k is not possible.
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

// shared reports whether a Watch of k is of all objects of a resource, or of all releases: all users of
// these share it.
func (k Key) shared() bool {
	return k.Reduced || k.Namespace == "" && k.LabelSelector == "" && k.FieldSelector == ""
}

// secrets reports whether the objects are Secrets. A Watch retains only their metadata and, if
// the Key is Reduced, the result of Options.Reduce.
func (k Key) secrets() bool {
	return k.Resource.Group == "" && k.Resource.Resource == "secrets"
}
