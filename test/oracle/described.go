package oracle

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// schemas are those of the kinds that tests define, as their
// CustomResourceDefinitions have them.
type schemas map[schema.GroupVersionKind]map[string]any

// readSchemas reads them once for a snapshot.
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

var nameOf = regexp.MustCompile(`(?i)\bname of the (\w+)\b`)

// says returns the kinds whose name a field holds by its description, as the tests
// write them.
func says(of map[string]any, own schema.GroupKind, served []resource) (found []schema.GroupKind) {
	match := nameOf.FindStringSubmatch(text(of, "description"))
	if match == nil {
		return nil
	}
	word := strings.ToLower(match[1])
	for _, r := range served {
		if kind := (schema.GroupKind{Group: r.Group, Kind: r.kind}); r.Group == own.Group && strings.EqualFold(r.kind, word) && !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	if known, ok := coreWords[word]; ok && len(found) == 0 {
		found = []schema.GroupKind{known}
	}
	return found
}
