package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
)

// explainKind prints the sources of the references and of the health of a kind.
func (c *cli) explainKind(cmd *cobra.Command, text string) error {
	ctx := cmd.Context()
	v, err := c.open("")
	if err != nil {
		return err
	}
	defer v.close()
	k := c.newKinds(v.namespace, &client.Graph{})
	if !c.isKind(text) {
		err := c.asObject(cmd, "", text)
		if _, named := errors.AsType[*correction](err); named {
			return err
		}
		return cmp.Or(c.kindLike(text), err)
	}
	resources, err := k.resources(text)
	if err != nil {
		return err
	}
	rules, unread := v.referenceRules(ctx)
	for i, resource := range resources {
		if i > 0 {
			fmt.Fprintln(c.Out)
		}
		kind := health.Kind{Group: resource.Group, Kind: k.kind(client.Key{Group: resource.Group, Resource: resource.Resource})}
		fmt.Fprintln(c.Out, c.paint.Strong(kind.Kind+dotted(kind.Group)))
		fmt.Fprintln(c.Out, "Health, the first that has an opinion:")
		for _, r := range rules {
			if health.Kind(r.Spec.From) == kind && r.Spec.Health != nil {
				fmt.Fprintf(c.Out, "  ReferenceRule %s%s: %s\n", r.Name, acceptance(r), oneLine(r.Spec.Health.Expression))
			}
		}
		fmt.Fprintf(c.Out, "  GraphView: %s\n", health.Describe(kind))
		inForce := slices.DeleteFunc(slices.Clone(rules), func(r *v1alpha1.ReferenceRule) bool {
			return health.Kind(r.Spec.From) != kind || len(r.Spec.References) == 0 || acceptance(r) != ""
		})
		if err := c.explainReferences(ctx, v.config, graph.Kind(kind), inForce); err != nil {
			return err
		}
		for _, r := range rules {
			if n := len(r.Spec.References); health.Kind(r.Spec.From) == kind && n > 0 {
				fmt.Fprintf(c.Out, "  ReferenceRule %s%s: %s\n", r.Name, acceptance(r), count(n, "reference"))
			}
		}
	}
	if unread != nil {
		fmt.Fprintf(c.ErrOut, "ReferenceRules are not known: %s\n", errorText(bare(unread)))
	}
	return nil
}

func dotted(group string) string {
	if group == "" {
		return ""
	}
	return "." + group
}

// acceptance returns a remark if a rule is not in force.
func acceptance(r *v1alpha1.ReferenceRule) string {
	if meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.ConditionAccepted) {
		return ""
	}
	return " (not accepted)"
}

// referenceRules returns the ReferenceRules of the cluster, by name. It prints a note if the
// user may not list them.
func (v *view) referenceRules(ctx context.Context) ([]*v1alpha1.ReferenceRule, error) {
	objects, err := v.dynamic()
	if err != nil {
		return nil, err
	}
	list, err := objects.Resource(v1alpha1.GroupVersion.WithResource("referencerules")).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil // the CustomResourceDefinition is not installed
	}
	if err != nil {
		return nil, fmt.Errorf("list ReferenceRules: %w", err)
	}
	rules := make([]*v1alpha1.ReferenceRule, len(list.Items))
	for i := range list.Items {
		rules[i] = &v1alpha1.ReferenceRule{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, rules[i]); err != nil {
			return nil, fmt.Errorf("read ReferenceRule %s: %w", list.Items[i].GetName(), err)
		}
	}
	slices.SortFunc(rules, func(a, b *v1alpha1.ReferenceRule) int { return cmp.Compare(a.Name, b.Name) })
	return rules, nil
}
