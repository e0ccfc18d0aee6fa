package plan_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// A view of Pods in two namespaces has a watch of each, until other views have a watch of all namespaces.
func ExampleBook_Outline() {
	compile := func(namespaces ...v1alpha1.NamespaceName) *spec.Program {
		program, err := spec.Compile(context.Background(), nil, v1alpha1.GraphViewSpec{
			Queries:    []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "resource == 'pods'"}}},
			Namespaces: &v1alpha1.Namespaces{Names: namespaces},
		})
		if err != nil {
			panic(err)
		}
		return program
	}
	book := plan.NewBook(plan.Options[string]{Notify: func(view string) { fmt.Println("ask again for", view) }})
	pods := []resources.Selected{{Resource: resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}}
	outline := func(view string, program *spec.Program) {
		o := book.Outline(view, plan.Situation{Program: program, Selected: pods}, time.Now())
		for _, need := range slices.SortedFunc(maps.Keys(o.Needed), plan.ByKey) {
			fmt.Printf("%s: %s in %q\n", view, need.Key.Resource.Resource, need.Key.Namespace)
		}
	}
	outline("storefront", compile("bank", "shop"))
	outline("everything", compile())
	outline("storefront", compile("bank", "shop"))
	// Output:
	// storefront: pods in "bank"
	// storefront: pods in "shop"
	// ask again for storefront
	// everything: pods in ""
	// storefront: pods in ""
}
