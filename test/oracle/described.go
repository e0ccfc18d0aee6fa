package oracle

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// schemas has the schemas of the kinds that tests define, from their
// CustomResourceDefinitions.
type schemas map[schema.GroupVersionKind]map[string]any

// readSchemas reads the schemas once for a snapshot.
func (s *Snapshot) readSchemas(ctx context.Context) (schemas, error) {
	if s.schemas != nil {
		return s.schemas, nil
	}
	definitions, err := s.client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	found := schemas{}
	for _, d := range definitions.Items {
		for _, version := range items(d.Object, "spec.versions") {
			kind := schema.GroupVersionKind{Group: text(d.Object, "spec.group"), Version: text(version, "name"), Kind: text(d.Object, "spec.names.kind")}
			found[kind], _ = at(version, "schema.openAPIV3Schema").(map[string]any)
		}
	}
	s.schemas = found
	return found, nil
}

// keySelected returns the kinds that an object with a key may refer to, by its fields. The
// tests' schemas have no descriptions that would distinguish them.
func keySelected(of map[string]any) []schema.GroupKind {
	fields, _ := at(of, "properties").(map[string]any)
	if len(fields) != 2 || fields["name"] == nil || fields["key"] == nil {
		return nil
	}
	return []schema.GroupKind{core("Secret"), core("ConfigMap")}
}

// isClosed reports whether a field is one of an enum, and names nothing.
func isClosed(of map[string]any) bool { return of["enum"] != nil }
