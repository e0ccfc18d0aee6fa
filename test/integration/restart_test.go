package integration

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
)

// TestRestartKeepsViewsReady: no GraphView loses its condition Ready while the operator
// restarts.
func TestRestartKeepsViewsReady(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMap(t, c, namespace, "before")
	views := make([]*v1alpha1.GraphView, 20)
	t.Run("one operator", func(t *testing.T) {
		startEngine(t, namespace, cluster.Config(), cluster.Config())
		for i := range views {
			views[i] = configMapsView(namespace)
			views[i].Name = fmt.Sprint("view-", i)
			// The controller manager adds kube-root-ca.crt when it likes.
			views[i].Spec.Queries[0].Include.Object = &v1alpha1.ObjectFilter{ObjectSelectorExpression: "name != 'kube-root-ca.crt'"}
			if err := c.Create(t.Context(), views[i]); err != nil {
				t.Fatal(err)
			}
		}
		for _, view := range views {
			waitOutcomes(t, c, view, outcomeReady...)
			waitVertices(t, c, view, 1)
		}
	})
	lost := observeReady(t, namespace)
	createConfigMap(t, c, namespace, "meanwhile")
	t.Run("the next", func(t *testing.T) {
		startEngine(t, namespace, cluster.Config(), cluster.Config())
		for _, view := range views {
			waitVertices(t, c, view, 2)
			waitOutcomes(t, c, view, outcomeReady...)
		}
	})
	remove(t, c, views[0])
	if seen := lost(); len(seen) > 0 {
		t.Errorf("seen while the operator restarted: %v", seen)
	}
}

// TestReadyEndsIfARestartCannotSync: a view that the next operator does not
// get to is not called ready for long.
func TestReadyEndsIfARestartCannotSync(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	view := configMapsView(namespace)
	create(t, c, view)
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	start := func(t *testing.T, engine *scripted) *controllers.Notifier {
		notifier := &controllers.Notifier{}
		startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{Clock: clock})
		return notifier
	}
	t.Run("one operator", func(t *testing.T) {
		engine := &scripted{}
		engine.status.Synced = true
		start(t, engine)
		waitOutcomes(t, c, view, outcomeReady...)
	})
	before := view.ResourceVersion
	engine := &scripted{}
	notifier := start(t, engine)
	engine.waitAsked(t, 0)
	asked := engine.timesAsked()
	notifier.Notify(nameOf(view))
	engine.waitAsked(t, asked)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
		t.Fatal(err)
	}
	if view.ResourceVersion != before {
		t.Errorf("written at once: %+v", view.Status.Conditions)
	}
	clock.SetTime(clock.Now().Add(time.Minute))
	notifier.Notify(nameOf(view))
	waitOutcomes(t, c, view, outcomeSyncing...)
}

// observeReady watches the GraphViews of a namespace until one is deleted, and returns
// what waits for that and tells which were seen without the condition Ready.
func observeReady(t *testing.T, namespace string) func() []string {
	t.Helper()
	c, err := client.NewWithWatch(cluster.Config(), client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(t.Context(), &v1alpha1.GraphViewList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	var lost []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer w.Stop()
		for event := range w.ResultChan() {
			view, ok := event.Object.(*v1alpha1.GraphView)
			switch {
			case !ok:
				lost = append(lost, fmt.Sprintf("the watch ended: %v", event.Object))
				return
			case event.Type == watch.Deleted:
				return
			case !meta.IsStatusConditionTrue(view.Status.Conditions, v1alpha1.ConditionReady):
				lost = append(lost, fmt.Sprintf("%s: %v", view.Name, outcomes(view)))
			}
		}
		lost = append(lost, "the watch ended early")
	}()
	return func() []string {
		<-done
		return lost
	}
}
