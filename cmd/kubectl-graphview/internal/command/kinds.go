package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/client"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/wording"
)

// kinds translates between the kinds in the names of users and the resources in a
// graph. It belongs to one goroutine.
type kinds struct {
	namespace string // whose objects need no namespace
	cli       *cli
	mapper    func() (meta.RESTMapper, error)
	graph     *client.Graph
	known     map[schema.GroupResource]string
}

func (c *cli) newKinds(namespace string, g *client.Graph) *kinds {
	return &kinds{namespace: namespace, cli: c, mapper: c.mapper, graph: g, known: map[schema.GroupResource]string{}}
}

// name returns KIND/NAME, or KIND/NAMESPACE/NAME for an object of another namespace, as printable text:
// names of RBAC may have any character.
func (k *kinds) name(key client.Key) string {
	if key.Namespace == "" || key.Namespace == k.namespace {
		return printable.Text(k.kind(key) + "/" + key.Name)
	}
	return printable.Text(k.kind(key) + "/" + key.Namespace + "/" + key.Name)
}

// kind returns the kind of a key's resource, from the server's discovery, else from the
// objects, else the resource.
func (k *kinds) kind(key client.Key) string {
	resource := schema.GroupResource{Group: key.Group, Resource: key.Resource}
	if kind, ok := k.known[resource]; ok {
		return kind
	}
	kind := key.Resource
	mapper, err := k.mapper()
	if err == nil {
		var full schema.GroupVersionKind
		full, err = mapper.KindFor(resource.WithVersion(key.Version))
		kind = cmp.Or(full.Kind, kind)
	}
	if err != nil {
		kind = k.fromObject(key, kind)
	}
	k.known[resource] = kind
	return kind
}

func (k *kinds) fromObject(key client.Key, otherwise string) string {
	var object struct {
		Kind string `json:"kind"`
	}
	switch v := k.graph.Vertices[key]; {
	case v != nil && v.Summary != nil:
		return cmp.Or(v.Summary.Kind, otherwise)
	case v != nil && json.Unmarshal(v.Object, &object) == nil:
		return cmp.Or(object.Kind, otherwise)
	default:
		return otherwise
	}
}

// splitObject splits KIND/NAME or KIND/NAMESPACE/NAME. The namespace may be "".
func splitObject(text string) (kind, namespace, name string, err error) {
	kind, name, ok := strings.Cut(text, "/")
	if before, after, deeper := strings.Cut(name, "/"); deeper {
		namespace, name = before, after
	}
	if !ok || kind == "" || name == "" {
		return "", "", "", fmt.Errorf("invalid object %q: expected KIND/NAME or KIND/NAMESPACE/NAME", text)
	}
	return kind, namespace, name, nil
}

// find returns the vertex, or the missing object, that the user named.
func (k *kinds) find(text string) (client.Key, error) {
	kind, namespace, name, err := splitObject(text)
	if err != nil {
		return client.Key{}, err
	}
	resources, err := k.resources(kind)
	if err != nil {
		return client.Key{}, err
	}
	var here, elsewhere []client.Key
	var others []string
	for key := range k.everything() {
		switch {
		case !slices.Contains(resources, schema.GroupResource{Group: key.Group, Resource: key.Resource}):
		case key.Name != name:
			others = append(others, key.Name)
		case key.Namespace == namespace, namespace == "" && key.Namespace == k.namespace:
			here = append(here, key)
		case namespace == "":
			elsewhere = append(elsewhere, key)
		}
	}
	if len(here) == 0 {
		here = elsewhere
	}
	slices.SortFunc(here, client.Key.Compare)
	core := slices.DeleteFunc(slices.Clone(here), func(key client.Key) bool { return key.Group != "" })
	switch {
	case len(here) == 0:
		similar := func(n string) string { return kind + "/" + n }
		err := k.absent(text, resources[0], cmp.Or(namespace, k.namespace), name, didYouMean(name, others, similar))
		if near := advice.Nearest(name, others, 1); len(near) > 0 {
			err = k.cli.replaced(err, text, similar(near[0]))
		}
		return client.Key{}, err
	case len(here) == 1:
		return here[0], nil
	case len(core) == 1 && !strings.Contains(kind, "."):
		return core[0], nil
	default:
		var names []string
		for _, key := range here {
			names = append(names, printable.Text(key.String()))
		}
		return client.Key{}, fmt.Errorf("%s may be any of %s", text, strings.Join(names, ", "))
	}
}

// absent returns the error for an object that is not in the graph, and to which no object refers.
func (k *kinds) absent(text string, of schema.GroupResource, namespace, name, similar string) error {
	absent := wording.Absent{Resource: of.String(), Namespace: namespace, Name: name, Denied: true}
	if slices.ContainsFunc(gapsOf(k.graph), func(gap wording.Gap) bool { return gap.Denied() && gap.Covers(of.Group, of.Resource, namespace) }) {
		return errors.New(absent.Text())
	}
	return fmt.Errorf("%s is not in the graph%s", text, similar)
}

// everything returns all vertices and missing objects of the graph.
func (k *kinds) everything() map[client.Key]bool {
	all := make(map[client.Key]bool, len(k.graph.Vertices))
	for key := range k.graph.Vertices {
		all[key] = true
	}
	for key := range k.graph.Arcs {
		all[key.To] = true
	}
	return all
}

// resource returns the resource that the user named by kind: without a group, Kubernetes' own
// kinds have precedence.
func (k *kinds) resource(text string) (schema.GroupResource, error) {
	found, err := k.resources(text)
	if err != nil {
		return schema.GroupResource{}, err
	}
	core := slices.IndexFunc(found, func(r schema.GroupResource) bool { return r.Group == "" })
	switch {
	case len(found) == 1:
		return found[0], nil
	case core >= 0 && !strings.Contains(text, "."):
		return found[core], nil
	default:
		return schema.GroupResource{}, fmt.Errorf("%s is of several groups: write RESOURCE.GROUP, such as %s", text, found[0].String())
	}
}

// resources returns all resources that a kind, resource or short name may mean, with or without
// its group.
func (k *kinds) resources(kind string) ([]schema.GroupResource, error) {
	word, group, _ := strings.Cut(strings.ToLower(kind), ".")
	found := map[schema.GroupResource]bool{}
	for key := range k.everything() {
		if (word == key.Resource || word == strings.ToLower(k.kind(key))) && (group == "" || group == key.Group) {
			found[schema.GroupResource{Group: key.Group, Resource: key.Resource}] = true
		}
	}
	if len(found) == 0 {
		mapper, err := k.mapper()
		if err != nil {
			return nil, fmt.Errorf("kinds of the server: %w", err)
		}
		list, err := mapper.ResourcesFor(schema.GroupVersionResource{Group: group, Resource: word})
		switch {
		case meta.IsNoMatchError(err):
			return nil, k.cli.noKind(kind)
		case err != nil:
			return nil, fmt.Errorf("kinds of the server: %w", err)
		}
		for _, resource := range list {
			found[resource.GroupResource()] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupResource) int { return cmp.Compare(a.String(), b.String()) }), nil
}
