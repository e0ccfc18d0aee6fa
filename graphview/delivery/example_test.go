package delivery_test

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// A subscription has no queue. Messages are made from the graph when the subscriber asks for them, so two
// changes of an object are one message.
func ExampleSubscription_Poll() {
	pod, pods := graph.Kind{Kind: "Pod"}, graph.Resource{Version: "v1", Resource: "pods"}
	var lens *graph.Lens
	var source graph.SourceID
	shared := graph.New(nil)
	shared.Update(func() {
		source, lens = shared.AddSource(pod, pods, graph.ScopeNamespaced), shared.NewLens()
		lens.Watch(source)
		lens.Use(pod, pods)
	})
	version := uint64(0)
	set := func(name string) {
		version++
		shared.Update(func() {
			id := shared.Set(source, &graph.Object{Namespace: "shop", Name: name, UID: name, Version: version, Hash: version})
			lens.Select(id, graph.Selection{Member: true})
		})
	}

	publisher := delivery.NewPublisher(delivery.PublisherOptions{
		Name: "shop/web", UID: "1", Run: delivery.NewRun(), Shared: &delivery.Shared{}, Warnings: delivery.NewWarnings(func() {}),
		State: delivery.NewViewState(), Logger: logr.Discard(), Notify: func() {}, Hold: func(budget.Use, int64) error { return nil },
	})
	publisher.SetLens(lens)
	subscription := publisher.Subscribe(delivery.SubscribeOptions{Content: delivery.KeysOnly})
	defer subscription.Close()
	set("web-1")
	set("web-1")
	for {
		frames, wait, err := subscription.Poll()
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, frame := range frames {
			fmt.Println(string(frame.Actions))
			if frame.Rev != "" {
				return
			}
		}
		if err := wait(context.Background()); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// {"svx":{"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"web-1"}}}
}
