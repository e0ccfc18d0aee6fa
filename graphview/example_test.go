package graphview_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
)

// A view shows the Deployments of a namespace and their references. A subscriber gets its graph, and then
// each change.
func ExampleView_Subscribe() { //nolint:testableexamples // it needs an API server
	engine, err := graphview.NewEngine(graphview.Options{Config: &rest.Config{Host: "https://kubernetes.example.com"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx) }()
	defer func() { cancel(); <-ended }()

	name := graphview.Name{Namespace: "shop", Name: "web"}
	if err := engine.Apply(ctx, name, "uid", v1alpha1.GraphViewSpec{
		Queries:    []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "resource in ['deployments', 'configmaps', 'secrets']"}}},
		Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{"shop"}},
	}); err != nil {
		fmt.Println(err)
		return
	}
	view, _ := engine.View(name)
	subscription := view.Subscribe(delivery.SubscribeOptions{})
	defer subscription.Close()
	for {
		frames, err := subscription.Next(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, frame := range frames {
			fmt.Println(string(frame.JSON))
		}
	}
}
