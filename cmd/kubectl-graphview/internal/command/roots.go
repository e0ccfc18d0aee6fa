package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
	"graphview.dev/graphview/expr"
)

// declaration reads the GraphView.
func (v *view) declaration(ctx context.Context) (*v1alpha1.GraphView, error) {
	if v.link != "" {
		return nil, errLinked
	}
	objects, err := v.dynamic()
	if err != nil {
		return nil, err
	}
	object, err := objects.Resource(v1alpha1.GroupVersion.WithResource("graphviews")).Namespace(v.namespace).
		Get(ctx, v.name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get GraphView %s: %w", v, err)
	}
	var declared v1alpha1.GraphView
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &declared); err != nil {
		return nil, fmt.Errorf("get GraphView %s: %w", v, err)
	}
	return &declared, nil
}

// roots returns the vertices that the expressions select, in the order of the expressions; none
// without expressions. An object without its whole content is selected by its name.
func roots(ctx context.Context, g *client.Graph, expressions []string) ([]client.Key, error) {
	rank := map[client.Key]int{}
	for i, text := range expressions {
		selector, err := expr.CompileObject(ctx, nil, text)
		if err != nil {
			return nil, err
		}
		for key, vertex := range g.Vertices {
			if _, found := rank[key]; found {
				continue
			}
			matches, err := selector.Matches(ctx, inputOf(vertex))
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			// As in the operator, an object for which the expression fails is no root.
			if err == nil && matches {
				rank[key] = i
			}
		}
	}
	keys := make([]client.Key, 0, len(rank))
	for key := range rank {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b client.Key) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), a.Compare(b)) })
	return keys, nil
}

func inputOf(v *client.Vertex) *expr.Input {
	var object map[string]any
	// A missing object is an empty one.
	_ = json.Unmarshal(v.Object, &object)
	kind, _ := object["kind"].(string)
	return &expr.Input{
		Group: v.Key.Group, Version: v.Key.Version, Resource: v.Key.Resource, Kind: kind, Namespace: v.Key.Namespace, Name: v.Key.Name,
		Object: func() (map[string]any, error) { return object, nil },
	}
}
