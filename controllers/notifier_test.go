package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"graphview.dev/graphview"
)

// queue remembers what was added to it.
type queue struct {
	workqueue.TypedRateLimitingInterface[ctrl.Request]
	added []string
}

func (q *queue) AddAfter(request ctrl.Request, _ time.Duration) {
	q.added = append(q.added, request.String())
}

func TestNotifier(t *testing.T) {
	var n Notifier
	a, b := graphview.Name{Namespace: "ns", Name: "a"}, graphview.Name{Namespace: "ns", Name: "b"}
	n.Notify(a)
	n.take(a)

	q := &queue{}
	if err := n.Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	n.Notify(a)
	n.Notify(a)
	n.Notify(b)
	n.take(a)
	n.Notify(a)
	n.Notify(b)
	if diff := cmp.Diff([]string{"ns/a", "ns/b", "ns/a"}, q.added); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
}

func BenchmarkNotify(b *testing.B) {
	n := Notifier{}
	if err := n.Start(b.Context(), &queue{}); err != nil {
		b.Fatal(err)
	}
	name := graphview.Name{Namespace: "ns", Name: "a"}
	for b.Loop() {
		n.Notify(name)
	}
}
