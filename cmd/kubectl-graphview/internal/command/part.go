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
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/graph"
)

// keyOf returns the key of the object that the user named, by the server's kinds. The default
// is the user's namespace.
func (v *view) keyOf(text string) (client.Key, error) {
	kind, namespace, name, err := splitObject(text)
	if err != nil {
		return client.Key{}, err
	}
	mapper, err := v.mapper()
	if err != nil {
		return client.Key{}, fmt.Errorf("kinds of the server: %w", err)
	}
	word, group, _ := strings.Cut(strings.ToLower(kind), ".")
	// Among several groups with this word, the server's discovery prefers one, as in kubectl.
	resource, err := mapper.ResourceFor(schema.GroupVersionResource{Group: group, Resource: word})
	if ambiguous, ok := errors.AsType[*meta.AmbiguousResourceError](err); ok {
		return client.Key{}, fmt.Errorf("%s may be any of %s", kind, namesOf(ambiguous.MatchingResources))
	}
	switch {
	case meta.IsNoMatchError(err):
		return client.Key{}, v.noKind(kind)
	case err != nil:
		return client.Key{}, fmt.Errorf("kinds of the server: %w", err)
	}
	full, err := mapper.KindFor(resource)
	if err != nil {
		return client.Key{}, fmt.Errorf("kinds of the server: %w", err)
	}
	mapping, err := mapper.RESTMapping(full.GroupKind(), full.Version)
	if err != nil {
		return client.Key{}, fmt.Errorf("kinds of the server: %w", err)
	}
	key := client.Key{Group: resource.Group, Resource: resource.Resource, Name: name}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		key.Namespace = cmp.Or(namespace, v.namespace)
	}
	return key, nil
}

// noKind is the error for a kind that the server does not know.
func (c *cli) noKind(kind string) error {
	err := fmt.Errorf("the server has no kind %q (see kubectl api-resources)", kind)
	if c.local.manifests != nil || c.config == nil {
		return err
	}
	discovery, failed := c.config.ToDiscoveryClient()
	if failed != nil {
		return err
	}
	// A group that does not answer has no kinds.
	lists, _ := discovery.ServerPreferredResources()
	var names []string
	for _, list := range lists {
		for i := range list.APIResources {
			names = append(names, strings.ToLower(list.APIResources[i].Kind))
		}
	}
	near := advice.Nearest(strings.ToLower(kind), names, 1)
	if len(near) == 0 {
		return err
	}
	err = fmt.Errorf("the server has no kind %q; did you mean %s?", kind, near[0])
	for _, word := range c.args {
		if rest, found := strings.CutPrefix(word, kind+"/"); found {
			return c.replaced(err, word, near[0]+"/"+rest)
		}
	}
	return c.replaced(err, kind, near[0])
}

// kindLike is noKind for a word that is like a kind, and nil for other words.
func (c *cli) kindLike(word string) error {
	err := c.noKind(word)
	if _, like := errors.AsType[*correction](err); like {
		return err
	}
	return nil
}

// namesOf returns resources in words, RESOURCE.GROUP.
func namesOf(list []schema.GroupVersionResource) string {
	var names []string
	for _, r := range list {
		names = append(names, r.GroupResource().String())
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// around returns the part of a graph around one object, with summaries. It returns the whole
// graph if the object is not in it, so that the error can list its objects, if the part is
// too large, or if the part is undecided. An invalid
// depth stands for any depth.
func (v *view) around(ctx context.Context, object string, direction client.Direction, depth int) (*client.Graph, error) {
	if depth < 0 || depth > graph.MaxDepth {
		depth = 0
	}
	if key, err := v.keyOf(object); err == nil {
		n := &client.Narrow{Roots: []client.Key{key}, Direction: direction, Depth: depth}
		g, failed := completeOf(ctx, v.followPart(client.ContentSummary, n))
		_, refused := errors.AsType[*client.CloseError](failed)
		absent := g != nil && slices.ContainsFunc(g.Warnings(), func(w client.Warning) bool { return w.Type == client.RootNotFound })
		if !refused && !absent && !undecided(g, key, depth) {
			return g, failed
		}
	}
	return completeOf(ctx, v.followSummaries())
}

// undecided reports whether the health of an object in a part of a graph depends on objects beyond the part: the
// object has a selector that selects no object of the part. If the part has a depth, only the given object counts.
func undecided(g *client.Graph, object client.Key, depth int) bool {
	if g == nil {
		return false
	}
	for key, v := range g.Vertices {
		if (depth == 0 || key.Namespace == object.Namespace && key.Name == object.Name && key.Resource == object.Resource) &&
			v.Summary != nil && v.Summary.Selects != nil && !slices.ContainsFunc(g.Out(key), func(arc client.Arc) bool { return g.Kind(arc.To) == v.Summary.Selects.Kind }) {
			return true
		}
	}
	return false
}

// directionOf returns the direction from an object to its parts, or in reverse.
func directionOf(reverse bool) client.Direction {
	if reverse {
		return client.Up
	}
	return client.Down
}
