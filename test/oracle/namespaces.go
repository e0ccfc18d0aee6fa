package oracle

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// selectedNamespaces are the namespaces of a view.
type selectedNamespaces struct {
	all   bool
	names []string
}

func (s *selectedNamespaces) contain(name string) bool {
	return s.all || slices.Contains(s.names, name)
}

// only returns the name of the only selected namespace, or "".
func (s *selectedNamespaces) only() string {
	if s.all || len(s.names) != 1 {
		return ""
	}
	return s.names[0]
}

// selectNamespaces lists the namespaces and keeps those that the view selects.
func (s *Snapshot) selectNamespaces(ctx context.Context, wanted *Namespaces) (*selectedNamespaces, error) {
	if wanted == nil {
		return &selectedNamespaces{all: true}, nil
	}
	if wanted.ObjectSelectorExpression == "" && wanted.LabelSelector == "" && wanted.FieldSelector == "" {
		return &selectedNamespaces{all: len(wanted.Names) == 0, names: wanted.Names}, nil
	}
	found, err := s.list(ctx, resource{
		GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
		kind:                 "Namespace",
		filter: Filter{
			LabelSelector: wanted.LabelSelector, FieldSelector: wanted.FieldSelector, ObjectSelectorExpression: wanted.ObjectSelectorExpression,
		},
	}, nil, nil)
	if err != nil {
		return nil, err
	}
	selected := &selectedNamespaces{}
	for i := range found {
		if name := found[i].key.Name; len(wanted.Names) == 0 || slices.Contains(wanted.Names, name) {
			selected.names = append(selected.names, name)
		}
	}
	return selected, nil
}
