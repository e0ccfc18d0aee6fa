package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
	"graphview.dev/stream/format"
)

// question has the flags that describe an ad-hoc view.
type question struct {
	resources     []string
	exclude       []string
	resourceCEL   string
	labels        string
	fields        string
	cel           string
	jsonPath      string
	roots         []string
	rootCEL       []string
	against       []string
	allNamespaces bool
	namespaces    []string // instead of the user's one
}

func (c *cli) query() *cobra.Command {
	var (
		q       question
		s       shape
		output  string
		follows bool
	)
	from := source{cli: c, parse: c.nothing("; --root names what to begin with"), adHoc: true, withoutManifests: true}
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Draw an ad-hoc graph without a GraphView",
		Long: `Draw, or follow, the graph that flags describe. It exists only while the command
runs and contains only what you may list and watch. Without --resources it selects
all namespaced resources but events and others that say little.

With --reverse the tree begins at each --root and leads to what owns it and what
refers to it. A --root that does not exist is an error.

It takes the ClusterRole graphview-requester, or --local.`,
		Example: `  kubectl graphview query -n shop --root deployment/web
  kubectl graphview query -n shop --resources pods,configmaps -l app=web
  kubectl graphview query -n shop --root deployment/web -o table
  kubectl graphview query -n shop --root deployment/web -o html >web.html
  kubectl graphview query -A --resources pods --cel "obj.status.phase == 'Pending'" -w`,
		RunE: from.run(func(cmd *cobra.Command, _ target) error {
			if !slices.Contains(queryOutputs, output) {
				return c.wrongOutput(cmd, output, queryOutputs)
			}
			if follows && slices.Contains([]string{formatHTML, outputTable, outputWide, outputName, outputYAML}, output) {
				return usagef(cmd, "-o %s is the graph as it is now: leave -w out", output)
			}
			v, err := c.open("")
			if err != nil {
				return err
			}
			defer v.close()
			if c.local.serves() {
				q.namespaces, q.allNamespaces = c.local.namespaces, len(c.local.namespaces) == 0
			}
			r, err := q.spec(v.namespace, c.mapper)
			if err != nil {
				return c.named(err)
			}
			begin := r.Roots
			if s.reverse && begin != nil {
				// Roots lead to the objects that they use. Users of an object can be anywhere
				// in the graph.
				if follows || output != outputTree {
					return usagef(cmd, "--reverse with roots draws a tree: leave out -w and -o")
				}
				s.from, r.Roots = expressionsOf(begin), nil
			}
			content := client.ContentObject
			if slices.Contains([]string{formatHTML, outputTable, outputWide, outputName}, output) {
				content = client.ContentSummary // all that a page draws, and a table says
			}
			f := v.request(r, content)
			defer f.Close()
			if follows {
				return c.print(cmd.Context(), f, output == outputJSON, newJournal(c, v.namespace, f.Graph(), false, false))
			}
			g, failed := f.complete(cmd.Context())
			if g == nil {
				return failed
			}
			if begin != nil && failed == nil && (content == client.ContentObject || len(q.rootCEL) == 0) {
				if err := q.wantRoots(cmd.Context(), g, expressionsOf(begin)); err != nil {
					c.leftOut(c.ErrOut, answerFrom(v, g, false).LeftOut())
					return err
				}
			}
			switch output {
			case outputTree:
				err = c.draw(cmd.Context(), v, g, s, expressionsOf(r.Roots))
			case outputTable, outputWide:
				err = c.writeTable(v.namespace, g)
			case outputName:
				err = c.writeAnswer(output, v, g)
			case outputYAML:
				err = c.writeObject(output, messageOf(g))
			case outputJSON:
				err = writeJSON(c.Out, g)
			case formatHTML:
				err = c.writePage(q.where(v.namespace)+"/query", g)
			default:
				err = formatted(g).Write(c.Out, format.Format(output))
			}
			if err != nil {
				return err
			}
			return failed
		}),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&q.resources, "resources", nil, "Resources to include, as for kubectl get: pods,deployments.apps")
	flags.StringSliceVar(&q.exclude, "exclude", nil, "Resources to leave out")
	flags.StringVar(&q.resourceCEL, "resource-cel", "", "A CEL expression that selects resources instead, over group, version, resource, kind and namespaced")
	flags.StringVarP(&q.labels, "selector", "l", "", "A label selector for objects")
	flags.StringVar(&q.fields, "field-selector", "", "A field selector for objects")
	flags.StringVar(&q.cel, "cel", "", "A CEL expression that selects objects, over obj, name, namespace, labels and annotations")
	flags.StringVar(&q.jsonPath, "json-path", "", "The part of each object to get, as for kubectl get -o jsonpath")
	flags.StringSliceVar(&q.roots, "root", nil, "KIND/NAME to begin with; objects that it does not lead to are left out")
	flags.StringArrayVar(&q.rootCEL, "root-cel", nil, "A CEL expression that selects objects to begin with")
	flags.StringSliceVar(&q.against, "against", []string{string(client.Owner)}, "Types of references to follow against their direction as well: or, r, t")
	flags.BoolVarP(&q.allNamespaces, "all-namespaces", "A", false, "All namespaces")
	flags.BoolVarP(&follows, "watch", "w", false, "Follow the graph, a line for each change")
	flags.StringVarP(&output, "output", "o", outputTree, "One of "+strings.Join(queryOutputs, ", ")+"; with -w json is the messages of the stream protocol, anything else text")
	s.addTo(cmd)
	c.addInferred(cmd)
	c.addWait(cmd)
	from.addFlags(cmd)
	return cmd
}

// wantRoots returns an error if an object that the user named is missing in the graph, or if an
// expression selects no object of it.
func (q *question) wantRoots(ctx context.Context, g *client.Graph, expressions []string) error {
	for i, expression := range expressions {
		found, err := roots(ctx, g, []string{expression})
		if err != nil {
			return err
		}
		switch named := i - len(q.rootCEL); {
		case len(found) > 0:
		case named >= 0:
			return fmt.Errorf("--root %s: there is no such object among those that the query selects", q.roots[named])
		default:
			return fmt.Errorf("--root-cel %s: it is true of no object that the query selects", expression)
		}
	}
	return nil
}

const outputTree = "tree"

var queryOutputs = slices.Concat([]string{outputTree}, getFormats)

// where the question looks.
func (q *question) where(namespace string) string {
	if q.allNamespaces {
		return "all namespaces"
	}
	return strings.Join(q.in(namespace), ",")
}

// in returns the namespaces of the question, by default the user's one.
func (q *question) in(namespace string) []string {
	if len(q.namespaces) > 0 {
		return q.namespaces
	}
	return []string{namespace}
}

// spec returns the ad-hoc view that the flags describe.
func (q *question) spec(namespace string, mapper func() (meta.RESTMapper, error)) (v1alpha1.GraphViewSpec, error) {
	var r v1alpha1.GraphViewSpec
	if len(q.exclude) > 0 {
		text, err := selection(q.exclude, mapper)
		if err != nil {
			return r, err
		}
		r.Queries = append(r.Queries, v1alpha1.Query{Exclude: &v1alpha1.Exclude{ResourceSelectorExpression: text}})
	}
	include := v1alpha1.Include{ResourceSelectorExpression: "namespaced && !(" + unwatched + ")"}
	switch {
	case q.resourceCEL != "":
		include.ResourceSelectorExpression = q.resourceCEL
	case len(q.resources) > 0:
		text, err := selection(q.resources, mapper)
		if err != nil {
			return r, err
		}
		include.ResourceSelectorExpression = text
	}
	if q.labels+q.fields+q.cel+q.jsonPath != "" {
		include.Object = &v1alpha1.ObjectFilter{LabelSelector: q.labels, FieldSelector: q.fields, ObjectSelectorExpression: q.cel, JSONPath: q.jsonPath}
	}
	r.Queries = append(r.Queries, v1alpha1.Query{Include: &include})
	if !q.allNamespaces {
		r.Namespaces = &v1alpha1.Namespaces{}
		for _, name := range q.in(namespace) {
			r.Namespaces.Names = append(r.Namespaces.Names, v1alpha1.NamespaceName(name))
		}
	}
	var expressions []v1alpha1.Expression
	for _, text := range q.rootCEL {
		expressions = append(expressions, v1alpha1.Expression(text))
	}
	for _, root := range q.roots {
		text, err := rootExpression(root, mapper)
		if err != nil {
			return r, err
		}
		expressions = append(expressions, v1alpha1.Expression(text))
	}
	if len(expressions) > 0 {
		r.Roots = &v1alpha1.Roots{ObjectSelectorExpressions: expressions}
		for _, t := range q.against {
			r.Roots.IgnoreArcDirection = append(r.Roots.IgnoreArcDirection, v1alpha1.ArcType(t))
		}
	}
	return r, nil
}

// expressionsOf returns the expressions of roots, none for nil.
func expressionsOf(roots *v1alpha1.Roots) []string {
	if roots == nil {
		return nil
	}
	texts := make([]string, 0, len(roots.ObjectSelectorExpressions))
	for _, expression := range roots.ObjectSelectorExpressions {
		texts = append(texts, string(expression))
	}
	return texts
}

// selection returns an expression for resources by their names.
func selection(names []string, mapper func() (meta.RESTMapper, error)) (string, error) {
	var terms []string
	for _, name := range names {
		resource, err := resolve(name, mapper)
		if err != nil {
			return "", err
		}
		terms = append(terms, fmt.Sprintf("(group == %s && resource == %s)", quote(resource.Group), quote(resource.Resource)))
	}
	return strings.Join(terms, " || "), nil
}

func rootExpression(text string, mapper func() (meta.RESTMapper, error)) (string, error) {
	kind, name, ok := strings.Cut(text, "/")
	namespace, after, deeper := strings.Cut(name, "/")
	if deeper {
		name = after
	}
	if !ok || name == "" {
		return "", fmt.Errorf("invalid object %q in --root: expected KIND/NAME or KIND/NAMESPACE/NAME, such as deployment/%s", text, text)
	}
	resource, err := resolve(kind, mapper)
	if err != nil {
		return "", err
	}
	expression := fmt.Sprintf("group == %s && resource == %s && name == %s", quote(resource.Group), quote(resource.Resource), quote(name))
	if deeper {
		expression += " && namespace == " + quote(namespace)
	}
	return expression, nil
}

func resolve(name string, mapper func() (meta.RESTMapper, error)) (schema.GroupResource, error) {
	m, err := mapper()
	if err != nil {
		return schema.GroupResource{}, fmt.Errorf("resources of the server: %w", err)
	}
	word, group, _ := strings.Cut(strings.ToLower(name), ".")
	resource, err := m.ResourceFor(schema.GroupVersionResource{Group: group, Resource: word})
	switch {
	case meta.IsNoMatchError(err):
		return schema.GroupResource{}, noResourceError(name)
	case err != nil:
		return schema.GroupResource{}, fmt.Errorf("resources of the server: %w", err)
	}
	return resource.GroupResource(), nil
}

// noResourceError is the name of a resource that the server does not know.
type noResourceError string

func (e noResourceError) Error() string {
	return fmt.Sprintf("the server has no resource %q (see kubectl api-resources)", string(e))
}

// named returns the error for a resource that does not exist with the name that was meant, and others unchanged.
func (c *cli) named(err error) error {
	if name, ok := errors.AsType[noResourceError](err); ok {
		return c.noKind(string(name))
	}
	return err
}

// quote returns a string of CEL. Go escapes these names in the same way.
func quote(text string) string { return strconv.Quote(text) }
