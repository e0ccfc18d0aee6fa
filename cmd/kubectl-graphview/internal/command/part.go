package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/client"
)

// keyOf is the object that somebody calls so, as the kinds of the server tell. Without a
// namespace it is the user's.
func (v *view) keyOf(text string) (client.Key, error) {
	kind, name, ok := strings.Cut(text, "/")
	namespace := ""
	if before, after, deeper := strings.Cut(name, "/"); deeper {
		namespace, name = before, after
	}
	if !ok || kind == "" || name == "" {
		return client.Key{}, fmt.Errorf("invalid object %q: expected KIND/NAME or KIND/NAMESPACE/NAME", text)
	}
	mapper, err := v.mapper()
	if err != nil {
		return client.Key{}, fmt.Errorf("kinds of the server: %w", err)
	}
	word, group, _ := strings.Cut(strings.ToLower(kind), ".")
	list, err := mapper.ResourcesFor(schema.GroupVersionResource{Group: group, Resource: word})
	if err != nil || len(list) == 0 {
		return client.Key{}, fmt.Errorf("the server has no kind %q (see kubectl api-resources)", kind)
	}
	var names []string
	for _, r := range list {
		if r.Group != "extensions" && r.Group != "events.k8s.io" { // the same objects have another name
			names = append(names, strings.TrimSuffix(r.Resource+"."+r.Group, "."))
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 1 {
		return client.Key{}, fmt.Errorf("%s may be any of %s", kind, strings.Join(names, ", "))
	}
	full, err := mapper.KindFor(list[0])
	if err != nil {
		return client.Key{}, fmt.Errorf("kinds of the server: %w", err)
	}
	mapping, err := mapper.RESTMapping(full.GroupKind(), full.Version)
	if err != nil {
		return client.Key{}, fmt.Errorf("kinds of the server: %w", err)
	}
	key := client.Key{Group: list[0].Group, Resource: list[0].Resource, Name: name}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		key.Namespace = cmp.Or(namespace, v.namespace)
	}
	return key, nil
}

// around is the part of a graph around one object, with summaries. It is all of the graph
// where the object is not in it by that name, so that somebody can be told what is, and
// where the part is too large.
func (v *view) around(ctx context.Context, object string, direction client.Direction, depth int) (*client.Graph, error) {
	if key, err := v.keyOf(object); err == nil {
		n := &client.Narrow{Roots: []client.Key{key}, Direction: direction, Depth: depth}
		g, failed := completeOf(ctx, v.followPart(client.ContentSummary, n))
		_, refused := errors.AsType[*client.CloseError](failed)
		absent := g != nil && slices.ContainsFunc(g.Warnings(), func(w client.Warning) bool { return w.Type == client.RootNotFound })
		if !refused && !absent {
			return g, failed
		}
	}
	return completeOf(ctx, v.followSummaries())
}

// directionOf is the way from an object to what it is made of, or in reverse.
func directionOf(reverse bool) client.Direction {
	if reverse {
		return client.Up
	}
	return client.Down
}
