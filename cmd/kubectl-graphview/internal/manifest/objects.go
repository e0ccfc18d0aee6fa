package manifest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// noServiceAccount is the reason of a finding that the operator refuses a GraphView for.
const noServiceAccount advice.Reason = "ServiceAccountNotFound"

// Object is what is known of an object of a cluster.
type Object struct {
	Name   string
	Labels map[string]string
}

// serviceAccount finds a ServiceAccount that does not exist.
func (c *Cluster) serviceAccount(ctx context.Context, view *v1alpha1.GraphView) []advice.Finding {
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
	return []advice.Finding{{
		Reason: noServiceAccount, Path: "spec.serviceAccountName",
		Message: fmt.Sprintf("there is no ServiceAccount %q in namespace %q%s", named, namespace, meant(named, names)),
	}}
}

// labelIn finds labels in an expression.
var labelIn = regexp.MustCompile(`\blabels(?:\.(\w+)|\[['"]([^'"]+)['"]\])`)

// objects finds names and labels that no selected object has. It finds nothing if some of the
// objects are not known.
func (c *Cluster) objects(ctx context.Context, view *v1alpha1.GraphView) []advice.Finding {
	declared, err := validation.SpecOf(&view.Spec)
	if err != nil || c.Objects == nil {
		return nil
	}
	program, err := spec.Compile(ctx, declared)
	if err != nil {
		return nil
	}
	names, labels, ok := c.selected(ctx, program)
	if !ok || len(names) == 0 {
		return nil
	}
	var found []advice.Finding
	absent := func(path, what, name string, all map[string]bool) {
		if all[name] {
			return
		}
		var others []string
		for other := range all {
			others = append(others, other)
		}
		found = append(found, advice.Finding{Reason: advice.NoRoots, Path: path, Message: fmt.Sprintf("no selected object has the %s '%s'%s", what, name, meant(name, others))})
	}
	for _, root := range program.Roots {
		for _, compared := range root.Compared() {
			if compared.Variable == "name" {
				absent(root.Path, "name", compared.Text, names)
			}
		}
		for _, match := range labelIn.FindAllStringSubmatch(root.Expression, -1) {
			absent(root.Path, "label", cmp.Or(match[1], match[2]), labels)
		}
	}
	for i := range program.Queries {
		if selector := program.Queries[i].Labels; selector != nil {
			requirements, _ := selector.Requirements()
			for _, r := range requirements {
				absent(fmt.Sprintf("spec.queries[%d].include.object.labelSelector", i), "label", r.Key(), labels)
			}
		}
	}
	return slices.Compact(found)
}

// selected returns the names and the labels of the objects of the resources that the queries
// select. ok is false if some are not known.
func (c *Cluster) selected(ctx context.Context, program *spec.Program) (names, labels map[string]bool, ok bool) {
	namespaces := []string{""}
	if program.Spec.Namespaces != nil && len(program.Spec.Namespaces.Names) > 0 {
		namespaces = program.Spec.Namespaces.Names
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

// meant is what may have been meant.
func meant(name string, others []string) string {
	if near := advice.Nearest(name, others, 1); len(near) > 0 {
		return fmt.Sprintf("; did you mean '%s'?", near[0])
	}
	return ""
}
