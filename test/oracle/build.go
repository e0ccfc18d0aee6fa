package oracle

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Build lists the selected resources and returns the view's graph for a subscriber who
// may read everything. The configuration's user must have the right to list them.
func Build(ctx context.Context, config *rest.Config, view View) (Graph, error) {
	s, err := Take(config)
	if err != nil {
		return Graph{}, err
	}
	defer s.Close()
	return s.Build(ctx, view)
}

// Build returns the view's graph at the time of the snapshot.
func (s *Snapshot) Build(ctx context.Context, view View) (Graph, error) {
	watched, err := choose(s.served, view.Queries)
	if err != nil {
		return Graph{}, err
	}
	namespaces, err := s.selectNamespaces(ctx, view.Namespaces)
	if err != nil {
		return Graph{}, err
	}
	rules, err := compileRules(view.Rules)
	if err != nil {
		return Graph{}, err
	}
	var objects []object
	around := outside{namespaces: namespaces, others: map[VertexKey]types.UID{}}
	for _, r := range watched {
		found, err := s.list(ctx, r, namespaces, around.others)
		if err != nil {
			return Graph{}, err
		}
		objects = append(objects, found...)
	}
	known, err := s.readSchemas(ctx)
	if err != nil {
		return Graph{}, err
	}
	for i := range objects {
		version, _, _ := unstructured.NestedString(objects[i].tree, "apiVersion")
		objects[i].schema = known[schema.FromAPIVersionAndKind(version, objects[i].kind.Kind)]
		objects[i].declared = rules.references(&objects[i])
		objects[i].named = map[string]bool{}
		for _, r := range view.Rules {
			if schema.GroupKind(r.Spec.From) != objects[i].kind {
				continue
			}
			objects[i].replaced = objects[i].replaced || r.Spec.Conventions == "Replace"
			for _, d := range r.Spec.References {
				objects[i].named[strings.TrimSuffix(d.Path, ".name")] = true
			}
		}
	}
	return assemble(s.served, watched, objects, view, around)
}

// assemble returns the visible graph of the objects.
func assemble(served, watched []resource, objects []object, view View, around outside) (Graph, error) {
	roots, isRoot := view.Roots, map[VertexKey]bool{}
	rooted := roots != nil && len(roots.ObjectSelectorExpressions) > 0
	if rooted {
		var err error
		if isRoot, err = findRoots(objects, roots.ObjectSelectorExpressions); err != nil {
			return Graph{}, err
		}
	}
	whole := newGraph()
	filters := map[[2]string]Filter{}
	for _, r := range watched {
		filters[[2]string{r.Group, r.Resource}] = r.filter
	}
	for i := range objects {
		o := &objects[i]
		var content any
		var err error
		if view.Summaries {
			content, err = o.summary(isRoot[o.key])
		} else {
			content, err = o.content(filters[[2]string{o.key.Group, o.key.Resource}])
		}
		if err != nil {
			return Graph{}, fmt.Errorf("%s: %w", o.key, err)
		}
		whole.Vertices[o.key] = content
	}
	whole.Arcs = connect(served, watched, objects, around)
	around.mark(whole.Arcs, watched, objects)
	if !rooted {
		return whole, nil
	}
	return visible(whole, explore(whole, isRoot, roots)), nil
}
