package plan_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// A view of Pods in two namespaces has a watch of each, until other views have a watch of all namespaces.
func ExampleClaims_Outline() {
	program, err := spec.Compile(context.Background(), nil, spec.Spec{
		Queries:    []spec.Query{{Include: &spec.Include{ResourceSelectorExpression: "resource == 'pods'"}}},
		Namespaces: &spec.Namespaces{Names: []string{"bank", "shop"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	claims := plan.ClaimsOf(plan.Situation{
		Program:  program,
		Selected: []resources.Selected{{Resource: resources.Resource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}},
	})
	show := func(shared map[watch.Key]plan.Share) {
		outline := claims.Outline(shared, nil)
		for _, need := range slices.SortedFunc(maps.Keys(outline.Needed), plan.ByKey) {
			fmt.Printf("%s in %q\n", need.Key.Resource.Resource, need.Key.Namespace)
		}
	}
	show(nil)
	shared := make(map[watch.Key]plan.Share)
	for key := range claims.Demands {
		shared[key] = plan.Share{}
	}
	fmt.Println(strings.Repeat("-", 10))
	show(shared)
	// Output:
	// pods in "bank"
	// pods in "shop"
	// ----------
	// pods in ""
}
