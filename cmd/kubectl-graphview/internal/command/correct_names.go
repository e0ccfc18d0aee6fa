package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
)

// resourcesOf returns the resources that a word may mean: a kind, a resource or a short name. answers reports whether
// the server said so.
func (c *cli) resourcesOf(word string) (found []schema.GroupVersionResource, answers bool) {
	mapper, err := c.mapper()
	if err != nil {
		return nil, false
	}
	resource, group, _ := strings.Cut(strings.ToLower(word), ".")
	found, err = mapper.ResourcesFor(schema.GroupVersionResource{Group: group, Resource: resource})
	return found, err == nil || meta.IsNoMatchError(err)
}

// isKind reports whether a word is a kind, a resource or a short name, as far as the server says. If it does not
// answer, the command asks it again, and has the error.
func (c *cli) isKind(word string) bool {
	found, answers := c.resourcesOf(word)
	return !answers || len(found) > 0
}

// isExisting reports whether a word is a file or folder.
func isExisting(word string) bool {
	_, err := os.Stat(word)
	return err == nil
}

// pathsAsFrom returns an error if arguments are files or folders of manifests.
func (s *source) pathsAsFrom(cmd *cobra.Command, args []string) error {
	if s.withoutManifests {
		return nil
	}
	c := s.cli
	words, path := slices.Clone(c.args), ""
	for _, word := range args {
		if !strings.ContainsAny(word, "/.") && !c.local.files.given() || !isExisting(word) {
			continue
		}
		kind, _, _ := strings.Cut(word, "/")
		isManifest := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(word))
		if found, _ := c.resourcesOf(kind); len(found) > 0 && !isManifest {
			continue
		}
		if at := slices.Index(words, word); at >= 0 {
			words, path = slices.Insert(words, at, "--from"), word
		}
	}
	if path == "" {
		return nil
	}
	return typed(usagef(cmd, "%s is a file or folder: --from looks at manifests", path), words)
}

// asView returns the error for an argument KIND/NAME or NAMESPACE/NAME that names a GraphView, and nil for an object.
func (c *cli) asView(cmd *cobra.Command, word string) error {
	kind, namespace, name, err := splitObject(word)
	isObject := err == nil
	if !isObject || c.local.serves() {
		return nil
	}
	found, answers := c.resourcesOf(kind)
	switch {
	case slices.ContainsFunc(found, isGraphView):
	case len(found) > 0, !answers, namespace != "", !c.hasGraph(cmd.Context(), kind, name):
		return nil
	default:
		namespace = kind
	}
	if namespace != "" {
		*c.config.Namespace = namespace
	}
	err = usagef(cmd, "%q is a GraphView: its NAME is enough, and -n has its namespace", word)
	if slices.Contains([]string{"explain", "impact"}, cmd.Name()) { // they take an object
		return c.correct(err, nil, []string{"tree", name})
	}
	return c.correct(err, cmd, []string{name})
}

// isGraphView reports whether a resource has GraphViews or their graphs.
func isGraphView(r schema.GroupVersionResource) bool {
	return r.Group == v1alpha1.GroupVersion.Group && r.Resource == "graphviews" || r.Group == "stream.graphview.dev" && r.Resource == "graphs"
}

// hasGraph reports whether the user may see a graph of that name.
func (c *cli) hasGraph(ctx context.Context, namespace, name string) bool {
	v, err := c.open("")
	if err != nil {
		return false
	}
	defer v.close()
	graphs, err := v.client.List(ctx, namespace)
	return err == nil && slices.ContainsFunc(graphs, func(g client.Listed) bool { return g.Name == name })
}

// asObject returns the error for a word that is no KIND/NAME, with the objects of that name in a GraphView, or without
// a view in those of the namespace.
func (c *cli) asObject(cmd *cobra.Command, view, word string) error {
	ctx := cmd.Context()
	views := []string{view}
	switch {
	case c.local.serves():
		views = []string{localName}
	case view == "":
		views = nil
		graphs, _ := c.listGraphs(ctx, false) // its error is that of the next command
		for i := range graphs {
			views = append(views, graphs[i].Name)
		}
	}
	if slices.Contains(views, word) && view == "" && !c.local.serves() {
		err := usagef(cmd, "%q is a GraphView, and %s takes an object, KIND/NAME; tree shows the names", word, cmd.Name())
		return c.correct(err, nil, []string{"tree", word})
	}
	var similar []string
	for _, name := range views[:min(len(views), mostLookedUp)] {
		similar = append(similar, c.objectsNamed(ctx, name, word)...)
	}
	slices.Sort(similar)
	similar = slices.Compact(similar)
	if len(similar) > 0 {
		names := similar[:min(len(similar), mostSimilar)]
		err := usagef(cmd, "%q is no object: expected KIND/NAME; did you mean %s?", word, eitherOf(names))
		return c.replaced(err, word, similar[0])
	}
	err := usagef(cmd, "%q is no object: expected KIND/NAME, such as pod/%[1]s; tree shows the names", word)
	if view == "" {
		return err
	}
	return c.correct(err, nil, []string{"tree", view})
}

// objectsNamed returns the objects of a graph that have a name, as KIND/NAME. A graph that does not answer has none.
func (c *cli) objectsNamed(ctx context.Context, view, name string) []string {
	v, err := c.open(view)
	if err != nil {
		return nil
	}
	defer v.close()
	g, err := v.summaries(ctx)
	if err != nil {
		return nil
	}
	k := c.newKinds(v.namespace, g)
	var names []string
	for key := range g.Vertices {
		if key.Name == name && key.Namespace == v.namespace {
			names = append(names, fmt.Sprintf("%s/%s", strings.ToLower(k.kind(key)), name))
		}
	}
	return names
}
