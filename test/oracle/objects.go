package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/jsonpath"
)

// object is an object that passed the filters.
type object struct {
	key  VertexKey
	kind schema.GroupKind
	tree map[string]any // the object as CEL and the extraction read it
	// declared has the references by ReferenceRules.
	declared []reference
	// replaced reports whether a ReferenceRule of the kind replaces conventions. Conventions also
	// do not apply to the paths in named.
	replaced bool
	named    map[string]bool
	// schema of the kind, nil if there is none.
	schema map[string]any
	// releases has references to the objects that a release of Helm in the object manages.
	releases []reference
}

// list returns the objects of a resource that the view selects. It adds objects that an
// expression excludes to others, unless that is nil.
func (s *Snapshot) list(ctx context.Context, r resource, namespaces *selectedNamespaces, others map[VertexKey]types.UID) ([]object, error) {
	namespace := ""
	if r.namespaced {
		namespace = namespaces.only()
	}
	listed, err := s.items(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	var filter *expression
	if text := r.filter.ObjectSelectorExpression; text != "" {
		if filter, err = compile(text); err != nil {
			return nil, err
		}
	}
	var releases map[[2]string][]reference
	if r.Group == "" && (r.Resource == "secrets" || r.Resource == "configmaps") {
		releases = helmReleases(listed)
	}
	var objects []object
	for i := range listed {
		item := &listed[i]
		if r.namespaced && !namespaces.contain(item.GetNamespace()) {
			continue
		}
		o := object{
			key: VertexKey{
				Group: r.Group, Version: r.Version, Resource: r.Resource,
				Namespace: item.GetNamespace(), Name: item.GetName(),
			},
			kind:     schema.GroupKind{Group: r.Group, Kind: r.kind},
			tree:     strip(r, item),
			releases: releases[[2]string{item.GetNamespace(), item.GetName()}],
		}
		if filter == nil || filter.holds(o.values()) {
			objects = append(objects, o)
		} else if others != nil {
			others[o.key] = item.GetUID()
		}
	}
	return objects, nil
}

// strip removes the parts of an object that no view has.
func strip(r resource, item *unstructured.Unstructured) map[string]any {
	item.SetManagedFields(nil)
	const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	annotations := item.GetAnnotations()
	if _, applied := annotations[lastApplied]; applied {
		delete(annotations, lastApplied)
		item.SetAnnotations(annotations)
		if len(annotations) == 0 {
			unstructured.RemoveNestedField(item.Object, "metadata", "annotations")
		}
	}
	if r.Group == "" && r.Resource == "secrets" {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": item.Object["metadata"]}
	}
	return item.Object
}

// values returns the variables of an object's expressions.
func (o *object) values() map[string]any {
	tree := unstructured.Unstructured{Object: o.tree}
	return map[string]any{
		"obj": o.tree, "group": o.key.Group, "version": o.key.Version, "resource": o.key.Resource,
		"namespace": o.key.Namespace, "name": o.key.Name,
		"labels": orEmpty(tree.GetLabels()), "annotations": orEmpty(tree.GetAnnotations()),
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// content returns the content of an object for a subscriber.
func (o *object) content(f Filter) (any, error) {
	switch {
	case o.key.Group == "" && o.key.Resource == "secrets":
		return o.labelled().fields(f.Fields)
	case len(f.Fields) > 0:
		return o.fields(f.Fields)
	case f.JSONPath != "":
		found, err := o.nodes(f.JSONPath)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return plain(found)
	default:
		return plain(o.tree)
	}
}

// labelled returns the part of a Secret that fields may select.
func (o *object) labelled() *object {
	metadata, _ := o.tree["metadata"].(map[string]any)
	shown := map[string]any{}
	for _, key := range []string{"name", "namespace", "uid", "creationTimestamp", "labels", "ownerReferences"} {
		if value, ok := metadata[key]; ok {
			shown[key] = value
		}
	}
	return &object{tree: map[string]any{"metadata": shown}}
}

// fields returns the results of paths by name: a value for a plain path, which finds at most one node,
// and a list for any other path.
func (o *object) fields(paths map[string]string) (any, error) {
	all := map[string]any{}
	for name, path := range paths {
		found, err := o.nodes(path)
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
		case strings.ContainsAny(path, "*?:,") || strings.Contains(path, ".."):
			all[name] = found
		default:
			all[name] = found[0]
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return plain(all)
}

// nodes returns the nodes that a path finds.
func (o *object) nodes(path string) ([]any, error) {
	if !strings.HasPrefix(path, "{") { // kubectl takes .status and status too
		path = "{." + strings.TrimPrefix(path, ".") + "}"
	}
	parsed := jsonpath.New("jsonPath").AllowMissingKeys(true)
	if err := parsed.Parse(path); err != nil {
		return nil, fmt.Errorf("parse %q: %w", path, err)
	}
	results, err := parsed.FindResults(o.tree)
	if err != nil {
		return nil, nil //nolint:nilerr // the path selects nothing, and the server sends a warning
	}
	var found []any
	for _, value := range slices.Concat(results...) {
		found = append(found, contents(value))
	}
	return found, nil
}

func contents(value reflect.Value) any {
	if !value.IsValid() || (value.Kind() == reflect.Interface && value.IsNil()) {
		return nil
	}
	return value.Interface()
}

// plain returns the value as encoding/json decodes it, so that it can be compared with the content in a
// stream.
func plain(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return decoded, nil
}
