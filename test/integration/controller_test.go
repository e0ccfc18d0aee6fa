package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/fixture"
)

// soon is how long a test waits for what should take a second, on a busy machine too.
const soon = time.Minute

func TestControllerFollowsTheEngine(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine, notifier := &scripted{}, &controllers.Notifier{}
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{})
	view := configMapsView(namespace)
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeSyncing...)
	applied, _ := engine.view(nameOf(view))
	want := appliedView{string(view.UID), spec.Spec{
		Queries: []spec.Query{{Include: &spec.Include{
			ResourceSelectorExpression: "group == '' && resource == 'configmaps'",
		}}},
		Namespaces: &spec.Namespaces{Names: []string{namespace}},
	}}
	if diff := cmp.Diff(want, applied, cmp.AllowUnexported(appliedView{})); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}

	row := graphview.ResourceStatus{Version: "v1", Resource: "configmaps", Namespaced: true, Objects: 3, Synced: true}
	engine.change(func(s *scripted) {
		s.status = graphview.Status{
			Synced: true, Resources: []graphview.ResourceStatus{row},
			Vertices: 3, Arcs: 2, Roots: 1, Subscribers: 4, Warnings: []string{"w"},
		}
	})
	notifier.Notify(nameOf(view))
	waitOutcomes(t, c, view, outcomeReady...)
	wantStatus := v1alpha1.GraphViewStatus{
		ObservedGeneration: 1,
		Conditions:         view.Status.Conditions,
		Resources:          []v1alpha1.ResourceStatus{{Version: "v1", Resource: "configmaps", Namespaced: true, Objects: 3, Synced: true}},
		ResourceCount:      1, Vertices: 3, Arcs: 2, Roots: 1, Subscribers: 4, Warnings: []string{"w"},
	}
	if diff := cmp.Diff(wantStatus, view.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}

	// Ready stays True when a resource appears later. Complete becomes False when a resource
	// cannot be read.
	engine.change(func(s *scripted) {
		s.status.Synced = false
		s.status.Resources = append(s.status.Resources, graphview.ResourceStatus{Version: "v1", Resource: "secrets", Message: "forbidden"})
	})
	notifier.Notify(nameOf(view))
	waitOutcomes(t, c, view, "Accepted=True/Accepted", "Complete=False/ResourcesUnreadable", "Ready=True/Ready")
	if got := meta.FindStatusCondition(view.Status.Conditions, "Complete").Message; got != "secrets: forbidden" {
		t.Errorf("Complete says %q", got)
	}

	engine.change(func(s *scripted) { s.status.LimitExceeded = "more than 2 vertices" })
	notifier.Notify(nameOf(view))
	waitOutcomes(t, c, view, outcomeTooLarge...)

	// Tried again, it has to sync before it is ready again.
	engine.change(func(s *scripted) { s.status = graphview.Status{} })
	notifier.Notify(nameOf(view))
	waitOutcomes(t, c, view, outcomeSyncing...)
}

// TestControllerReadsLargeSpecs: the cache does not keep a large spec. The engine gets it all the same,
// and the GraphView loses nothing but its old status.
func TestControllerReadsLargeSpecs(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine, notifier := &scripted{}, &controllers.Notifier{}
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{})
	view := configMapsView(namespace)
	view.Annotations, view.Labels = map[string]string{"example.com/note": "kept"}, map[string]string{"team": "kept"}
	long := strings.Repeat(" || resource == 'configmaps'", 300)
	view.Spec.Queries[0].Include.ResourceSelectorExpression += long
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeSyncing...)
	for _, want := range []string{view.Spec.Queries[0].Include.ResourceSelectorExpression, "true" + long} {
		view.Spec.Queries[0].Include.ResourceSelectorExpression = want
		if err := c.Update(t.Context(), view); err != nil {
			t.Fatal(err)
		}
		eventually(t, soon, func() string {
			if applied, ok := engine.view(nameOf(view)); !ok || applied.spec.Queries[0].Include.ResourceSelectorExpression != want {
				return fmt.Sprintf("the engine has %+v", applied)
			}
			return ""
		})
		engine.change(func(s *scripted) { s.status = graphview.Status{Synced: true, Vertices: len(want)} })
		notifier.Notify(nameOf(view))
		waitOutcomes(t, c, view, outcomeReady...)
		if got := view.Spec.Queries[0].Include.ResourceSelectorExpression; got != want || view.Annotations["example.com/note"] != "kept" || view.Labels["team"] != "kept" {
			t.Errorf("the GraphView has become %+v with the expression %q", view.ObjectMeta, got)
		}
	}
}

// TestLargeSpecsAreReadOnce: the spec of a GraphView that the cache does not keep is read when it changes,
// and not whenever the view is reconciled.
func TestLargeSpecsAreReadOnce(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	var read atomic.Int64
	as := rest.CopyConfig(cluster.Config())
	as.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/graphviews/view") {
				read.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	engine, notifier := &scripted{}, &controllers.Notifier{}
	startController(t, as, namespace, engine, notifier, controllers.Options{})
	view := configMapsView(namespace)
	long := strings.Repeat(" || resource == 'configmaps'", 300)
	view.Spec.Queries[0].Include.ResourceSelectorExpression += long
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeSyncing...)
	engine.change(func(s *scripted) { s.status = graphview.Status{Served: true, Synced: true} })
	for n := range 10 {
		engine.change(func(s *scripted) { s.status.Vertices = n })
		asked := engine.timesAsked()
		notifier.NotifyNow(nameOf(view))
		engine.waitAsked(t, asked)
	}
	waitOutcomes(t, c, view, outcomeReady...)
	// For the reconciles before and after the spec is applied, to apply it, and for the advice about its
	// namespaces.
	if most := int64(4); read.Load() > most {
		t.Errorf("the spec was read %d times for one generation, want at most %d times", read.Load(), most)
	}
	before := read.Load()
	view.Spec.Queries[0].Include.ResourceSelectorExpression = "true" + long
	if err := c.Update(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	eventually(t, soon, func() string {
		if applied, _ := engine.view(nameOf(view)); applied.spec.Queries[0].Include.ResourceSelectorExpression != "true"+long {
			return fmt.Sprintf("the engine has %+v", applied)
		}
		return ""
	})
	if read.Load() == before {
		t.Error("the new spec was not read")
	}
}

// TestSlowSpecsHoldUpNoTenant: a tenant whose specs take long to compile holds up no other tenant.
// Its own views are refused and deleted meanwhile.
func TestSlowSpecsHoldUpNoTenant(t *testing.T) {
	c := newClient(t)
	slow, quick := newNamespace(t, c), newNamespace(t, c)
	released := make(chan struct{})
	engine, notifier := &scripted{released: map[string]chan struct{}{slow: released}}, &controllers.Notifier{}
	startControllerIn(t, cluster.Config(), []string{slow, quick}, engine, notifier, controllers.Options{})
	var views []*v1alpha1.GraphView
	for i := range 20 {
		view := configMapsView(slow)
		view.Name = fmt.Sprintf("view-%d", i)
		create(t, c, view)
		views = append(views, view)
	}
	view := configMapsView(quick)
	create(t, c, view)
	waitOutcomes(t, c, view, outcomeSyncing...)

	refused, gone := views[0], views[1]
	refused.Spec.ServiceAccountName = "absent"
	if err := c.Update(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, refused, outcomeRefused(v1alpha1.ReasonServiceAccountNotFound)...)
	close(released)
	for _, view := range views[2:] {
		waitOutcomes(t, c, view, outcomeSyncing...)
	}
	for _, view := range []*v1alpha1.GraphView{refused, gone} {
		if _, ok := engine.view(nameOf(view)); ok {
			t.Errorf("the engine has %s", nameOf(view))
		}
	}
}

func TestControllerReportsAndClearsErrors(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine := &scripted{refuse: &spec.InvalidError{
		Reason: v1alpha1.ReasonInvalidExpression, Errors: []error{fmt.Errorf("spec.queries[0]: oops")},
	}}
	notifier := &controllers.Notifier{}
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{})
	view := configMapsView(namespace)
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeRefused("InvalidExpression")...)
	if got, want := meta.FindStatusCondition(view.Status.Conditions, "Accepted").Message, engine.refuse.Error(); got != want {
		t.Errorf("Accepted says %q, want %q", got, want)
	}

	engine.change(func(s *scripted) { s.refuse, s.status.Synced = nil, true })
	view.Spec.Queries[0].Include.ResourceSelectorExpression = "true"
	if err := c.Update(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeReady...)
	wantEvents(t, c, view, "Warning InvalidExpression Compile", "Normal Accepted Compile", "Normal Ready Serve", "Normal Complete Read")
}

// wantEvents waits for the Events of a view, in any order.
func wantEvents(t *testing.T, c client.Client, view *v1alpha1.GraphView, want ...string) {
	t.Helper()
	slices.Sort(want)
	eventually(t, soon, func() string {
		var list eventsv1.EventList
		if err := c.List(t.Context(), &list, client.InNamespace(view.Namespace)); err != nil {
			return err.Error()
		}
		var got []string
		for _, e := range list.Items {
			if e.Regarding.UID == view.UID && e.ReportingController == "graphview-controller" {
				got = append(got, e.Type+" "+e.Reason+" "+e.Action)
			}
		}
		slices.Sort(got)
		return cmp.Diff(want, got)
	})
}

func TestControllerHoldsCountsBack(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine, notifier := &scripted{status: graphview.Status{Synced: true}}, &controllers.Notifier{}
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	const interval = 500 * time.Millisecond
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{Clock: clock, StatusInterval: interval})
	view := configMapsView(namespace)
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeReady...)
	before := view.ResourceVersion

	// The clock stands still, so counts are held back however often they change.
	for i := range 3 {
		asked := engine.timesAsked()
		engine.change(func(s *scripted) { s.status.Vertices = i + 1 })
		notifier.Notify(nameOf(view))
		engine.waitAsked(t, asked)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
		t.Fatal(err)
	}
	if view.ResourceVersion != before {
		t.Errorf("counts were written at once: %+v", view.Status)
	}

	// There is no further notification: the delayed status is written after the interval.
	clock.SetTime(clock.Now().Add(interval))
	eventually(t, soon, func() string {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
			return err.Error()
		}
		return cmp.Diff(int64(3), view.Status.Vertices)
	})

	// An unchanged status is not written again.
	before = view.ResourceVersion
	for range 3 {
		asked := engine.timesAsked()
		clock.SetTime(clock.Now().Add(time.Hour))
		notifier.Notify(nameOf(view))
		engine.waitAsked(t, asked)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
		t.Fatal(err)
	}
	if view.ResourceVersion != before {
		t.Errorf("an equal status was written: %+v", view.Status)
	}
}

func TestControllerRetriesAfterConflicts(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine, notifier := &scripted{}, &controllers.Notifier{}
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{})
	view := configMapsView(namespace)
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeSyncing...)
	for i := range 5 {
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"edit":"%d"}}}`, i))
		if err := c.Patch(t.Context(), view.DeepCopy(), patch); err != nil {
			t.Fatal(err)
		}
		engine.change(func(s *scripted) { s.status.LimitExceeded = map[bool]string{true: "too large"}[i%2 == 0] })
		notifier.Notify(nameOf(view))
		if i%2 == 0 {
			waitOutcomes(t, c, view, outcomeTooLarge...)
		} else {
			waitOutcomes(t, c, view, outcomeSyncing...)
		}
	}
}

// TestControllerWritesWhenElected: a replica that is not elected serves views and writes nothing.
func TestControllerWritesWhenElected(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine, notifier := &scripted{status: graphview.Status{Synced: true}}, &controllers.Notifier{}
	election := newElection(t, namespace, "this")
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{Election: election})
	view := configMapsView(namespace)
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	eventually(t, soon, func() string {
		if engine.timesAsked() == 0 {
			return "a replica that is not elected serves no views"
		}
		return ""
	})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
		t.Fatal(err)
	}
	if len(view.Status.Conditions) > 0 {
		t.Errorf("a replica that is not elected wrote %+v", view.Status)
	}
	fixture.Start(t, election.Run)
	waitOutcomes(t, c, view, outcomeReady...)
}

func TestControllerForgetsDeletedViews(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine, notifier := &scripted{}, &controllers.Notifier{}
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{})
	for range 2 {
		view := configMapsView(namespace)
		if err := c.Create(t.Context(), view); err != nil {
			t.Fatal(err)
		}
		waitOutcomes(t, c, view, outcomeSyncing...)
		if applied, _ := engine.view(nameOf(view)); applied.uid != string(view.UID) {
			t.Errorf("applied with UID %q, want %q", applied.uid, view.UID)
		}
		if err := c.Delete(t.Context(), view); err != nil {
			t.Fatal(err)
		}
		eventually(t, soon, func() string {
			if _, ok := engine.view(nameOf(view)); ok {
				return "the engine still has the view"
			}
			return ""
		})
	}
}

func TestControllerChecksServiceAccounts(t *testing.T) {
	c := newClient(t)
	namespace := newNamespace(t, c)
	engine, notifier := &scripted{status: graphview.Status{Synced: true}}, &controllers.Notifier{}
	startController(t, cluster.Config(), namespace, engine, notifier, controllers.Options{RequireServiceAccount: true})
	view := configMapsView(namespace)
	if err := c.Create(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeRefused("ServiceAccountRequired")...)

	view.Spec.ServiceAccountName = "viewer"
	if err := c.Update(t.Context(), view); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeRefused("ServiceAccountNotFound")...)

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "viewer"}}
	if err := c.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeReady...)
	if applied, _ := engine.view(nameOf(view)); applied.spec.ServiceAccountName != "viewer" {
		t.Errorf("applied for ServiceAccount %q", applied.spec.ServiceAccountName)
	}

	if err := c.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	waitOutcomes(t, c, view, outcomeRefused("ServiceAccountNotFound")...)
	if _, ok := engine.view(nameOf(view)); ok {
		t.Error("the engine still serves a view whose ServiceAccount is gone")
	}
}
