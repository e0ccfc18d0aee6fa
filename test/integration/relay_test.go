package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/relayed"
	"graphview.dev/test/subscriber"
)

// TestBrokenRelay: a subscriber whose view is held by another replica continues after the
// connection between the two replicas is broken. It is not reset.
func TestBrokenRelay(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMaps(t, c, namespace, 3)
	views := relayed.New(t, runEngine(t, graphview.Options{Recall: true}), cluster.Config())
	name, selected := graphview.Name{Namespace: namespace, Name: "web"}, configMaps(namespace)
	if err := views.Apply(t.Context(), name, "uid", specOf(t, selected)); err != nil {
		t.Fatal(err)
	}
	view, ok := views.Graphs().Find(name)
	if !ok {
		t.Fatal("no view")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	subscription := view.Subscribe(delivery.SubscribeOptions{Access: relayed.Everything()})
	f := followStream(ctx, subscriber.Batches(
		func() ([]*delivery.Frame, error) { return subscription.Next(ctx) },
		func(frame *delivery.Frame) []byte { return frame.JSON },
	))
	t.Cleanup(func() {
		stop()
		<-f.done
		subscription.Close()
	})
	becomes(t, f, selected)
	resets := f.Resets()
	for i := range 3 {
		// A connection that breaks at once says that its replica is in trouble.
		time.Sleep(1100 * time.Millisecond)
		if n := views.Cut(); n <= int64(i) {
			t.Fatalf("the replicas have made %d connections before cut %d", n, i+1)
		}
		createConfigMap(t, c, namespace, fmt.Sprint("later", i))
		becomes(t, f, selected)
	}
	if n := f.Resets(); n != resets {
		t.Errorf("%d resets", n-resets)
	}
	if n := f.Redundant(); n > 0 {
		t.Errorf("%d elements were sent again", n)
	}
}
