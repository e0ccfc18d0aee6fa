package manifest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// Object has the known facts about an object of a cluster.
type Object struct {
	Name   string
	Labels map[string]string
}

// lister is the type of Cluster.Objects.
type lister = func(ctx context.Context, r resources.Resource, namespace string) (all []Object, ok bool)

// remembered returns a lister that lists each resource and namespace only once.
func remembered(list lister) lister {
	type place struct{ group, version, resource, namespace string }
	type result struct {
		all []Object
		ok  bool
	}
	results := map[place]result{}
	return func(ctx context.Context, r resources.Resource, namespace string) ([]Object, bool) {
		at := place{r.Group, r.Version, r.Resource, namespace}
		if _, known := results[at]; !known {
			all, ok := list(ctx, r, namespace)
			results[at] = result{all, ok}
		}
		return results[at].all, results[at].ok
	}
}

// serviceAccount returns an error if the named ServiceAccount does not exist.
func (c *Cluster) serviceAccount(ctx context.Context, view *v1alpha1.GraphView) error {
	if c.Objects == nil || view.Spec.ServiceAccountName == "" {
		return nil
	}
	namespace := cmp.Or(view.Namespace, c.Namespace)
	all, ok := c.Objects(ctx, resources.Resource{Version: "v1", Resource: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true}, namespace)
	named := view.Spec.ServiceAccountName
	var names []string
	for _, o := range all {
		names = append(names, o.Name)
	}
	if !ok || slices.Contains(names, named) {
		return nil
	}
	return &spec.InvalidError{Reason: v1alpha1.ReasonServiceAccountNotFound, Errors: []error{
		fmt.Errorf("spec.serviceAccountName: there is no ServiceAccount %q in namespace %q%s", named, namespace, didYouMean(named, names)),
	}}
}

// labelIn finds labels in an expression.
var labelIn = regexp.MustCompile(`\blabels(?:\.(\w+)|\[['"]([^'"]+)['"]\])`)

// mention is a name or a label that a spec expects of a selected object.
type mention struct{ path, what, text string }

// mentions returns the names and labels in the roots and the label selectors of a spec.
func mentions(program *spec.Program) []mention {
	var all []mention
	for _, root := range program.Roots {
		for _, compared := range root.Compared() {
			if compared.Variable == "name" {
				all = append(all, mention{root.Path, "name", compared.Text})
			}
		}
		for _, match := range labelIn.FindAllStringSubmatch(root.Expression, -1) {
			all = append(all, mention{root.Path, "label", cmp.Or(match[1], match[2])})
		}
	}
	for i := range program.Queries {
		if selector := program.Queries[i].Labels; selector != nil {
			requirements, _ := selector.Requirements()
			for _, r := range requirements {
				all = append(all, mention{fmt.Sprintf("spec.queries[%d].include.object.labelSelector", i), "label", r.Key()})
			}
		}
	}
	return all
}

// objects finds names and labels that no selected object has. It finds none if some of the
// objects are not known. It lists objects only if the spec mentions names or labels.
func (c *Cluster) objects(ctx context.Context, program *spec.Program) []advice.Finding {
	all := mentions(program)
	if len(all) == 0 || c.Objects == nil {
		return nil
	}
	names, labels, ok := c.selected(ctx, program)
	if !ok || len(names) == 0 {
		return nil
	}
	var found []advice.Finding
	for _, m := range all {
		have := names
		if m.what == "label" {
			have = labels
		}
		if !have[m.text] {
			found = append(found, advice.Finding{
				Reason: advice.NoRoots, Path: m.path,
				Message: fmt.Sprintf("no selected object has the %s '%s'%s", m.what, m.text, didYouMean(m.text, slices.Collect(maps.Keys(have)))),
			})
		}
	}
	return slices.Compact(found)
}

// selected returns the names and the labels of the objects of the resources that the queries
// select. ok is false if some are not known.
func (c *Cluster) selected(ctx context.Context, program *spec.Program) (names, labels map[string]bool, ok bool) {
	namespaces := []string{""}
	if named := program.Namespaces.Named(); named != nil {
		namespaces = named
	}
	names, labels = map[string]bool{}, map[string]bool{}
	for _, r := range c.Served.All() {
		if !selects(ctx, program, r) {
			continue
		}
		in := namespaces
		if !r.Namespaced {
			in = []string{""}
		}
		for _, namespace := range in {
			all, known := c.Objects(ctx, r, namespace)
			if !known {
				return nil, nil, false
			}
			for _, o := range all {
				names[o.Name] = true
				for key := range o.Labels {
					labels[key] = true
				}
			}
		}
	}
	return names, labels, true
}

// selects reports whether the first query that matches a resource includes it.
func selects(ctx context.Context, program *spec.Program, r resources.Resource) bool {
	for i := range program.Queries {
		if matches, _, err := program.Queries[i].Resource.Matches(ctx, expr.Resource(r)); err == nil && matches {
			return program.Queries[i].Include
		}
	}
	return false
}

// didYouMean returns a question with a similar name, "" without one.
func didYouMean(name string, others []string) string {
	if near := advice.Nearest(name, others, 1); len(near) > 0 {
		return fmt.Sprintf("; did you mean '%s'?", near[0])
	}
	return ""
}
