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
	t.Parallel()
	c := newControlled(t)
	c.start()
	c.becomes(outcomeSyncing...)
	applied, _ := c.served()
	want := appliedView{string(c.view.UID), v1alpha1.GraphViewSpec{
		Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{
			ResourceSelectorExpression: "group == '' && resource == 'configmaps'",
		}}},
		Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{v1alpha1.NamespaceName(c.view.Namespace)}},
	}}
	if diff := cmp.Diff(want, applied, cmp.AllowUnexported(appliedView{})); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}

	row := v1alpha1.ResourceStatus{Version: "v1", Resource: "configmaps", Namespaced: true, Objects: 3, Synced: true}
	c.says(func(s *scripted) {
		s.status = graphview.Status{
			Synced: true, Resources: []v1alpha1.ResourceStatus{row},
			Vertices: 3, Arcs: 2, Roots: 1, Subscribers: 4, Warnings: []string{"w"},
		}
	})
	c.becomes(outcomeReady...)
	wantStatus := v1alpha1.GraphViewStatus{
		ObservedGeneration: 1,
		Conditions:         c.view.Status.Conditions,
		Resources:          []v1alpha1.ResourceStatus{{Version: "v1", Resource: "configmaps", Namespaced: true, Objects: 3, Synced: true}},
		ResourceCount:      1, Vertices: 3, Arcs: 2, Roots: 1, Subscribers: 4, Warnings: []string{"w"},
	}
	if diff := cmp.Diff(wantStatus, c.view.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}

	// Ready stays True when a resource appears later. Complete becomes False when a resource
	// cannot be read.
	c.says(func(s *scripted) {
		s.status.Synced = false
		s.status.Resources = append(s.status.Resources, v1alpha1.ResourceStatus{Version: "v1", Resource: "secrets", Message: "forbidden"})
	})
	c.becomes("Accepted=True/Accepted", "Complete=False/ResourcesUnreadable", "Ready=True/Ready")
	if got := c.message("Complete"); got != "secrets: forbidden" {
		t.Errorf("Complete says %q", got)
	}

	c.says(func(s *scripted) { s.status.LimitExceeded = "more than 2 vertices" })
	c.becomes(outcomeTooLarge...)

	// Tried again, it has to sync before it is ready again.
	c.says(func(s *scripted) { s.status = graphview.Status{} })
	c.becomes(outcomeSyncing...)
}

// TestControllerReadsLargeSpecs: the cache does not keep a large spec. The engine gets it all the same,
// and the GraphView loses nothing but its old status.
func TestControllerReadsLargeSpecs(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	c.view.Annotations, c.view.Labels = map[string]string{"example.com/note": "kept"}, map[string]string{"team": "kept"}
	long := strings.Repeat(" || resource == 'configmaps'", 300)
	c.view.Spec.Queries[0].Include.ResourceSelectorExpression += long
	c.start()
	c.becomes(outcomeSyncing...)
	for _, want := range []string{c.view.Spec.Queries[0].Include.ResourceSelectorExpression, "true" + long} {
		c.view.Spec.Queries[0].Include.ResourceSelectorExpression = want
		c.update()
		c.awaitExpression(want)
		c.says(func(s *scripted) { s.status = graphview.Status{Synced: true, Vertices: len(want)} })
		c.becomes(outcomeReady...)
		if got := c.view.Spec.Queries[0].Include.ResourceSelectorExpression; got != want || c.view.Annotations["example.com/note"] != "kept" || c.view.Labels["team"] != "kept" {
			t.Errorf("the GraphView has become %+v with the expression %q", c.view.ObjectMeta, got)
		}
	}
}

// TestLargeSpecsAreReadOnce: the spec of a GraphView that the cache does not keep is read when it changes,
// and not whenever the view is reconciled.
func TestLargeSpecsAreReadOnce(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	var read atomic.Int64
	c.as = rest.CopyConfig(c.as)
	c.as.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/graphviews/view") {
				read.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	long := strings.Repeat(" || resource == 'configmaps'", 300)
	c.view.Spec.Queries[0].Include.ResourceSelectorExpression += long
	c.start()
	c.becomes(outcomeSyncing...)
	c.engine.change(func(s *scripted) { s.status = graphview.Status{Served: true, Synced: true} })
	for n := range 10 {
		c.engine.change(func(s *scripted) { s.status.Vertices = n })
		asked := c.engine.timesAsked()
		c.notifier.NotifyNow(nameOf(c.view))
		c.engine.waitAsked(t, asked)
	}
	c.becomes(outcomeReady...)
	// For the reconciles before and after the spec is applied, to apply it, and for the advice about its
	// namespaces.
	if most := int64(4); read.Load() > most {
		t.Errorf("the spec was read %d times for one generation, want at most %d times", read.Load(), most)
	}
	before := read.Load()
	c.view.Spec.Queries[0].Include.ResourceSelectorExpression = "true" + long
	c.update()
	c.awaitExpression("true" + long)
	if read.Load() == before {
		t.Error("the new spec was not read")
	}
}

// TestSlowSpecsHoldUpNoTenant: a tenant whose specs take long to compile holds up no other tenant.
// Its own views are refused and deleted meanwhile.
func TestSlowSpecsHoldUpNoTenant(t *testing.T) {
	t.Parallel()
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
	updateSpec(t, c, refused)
	remove(t, c, gone)
	waitOutcomes(t, c, refused, outcomeRefused(v1alpha1.ReasonServiceAccountNotFound)...)
	close(released)
	for _, view := range views[2:] {
		waitOutcomes(t, c, view, outcomeSyncing...)
	}
	for _, view := range []*v1alpha1.GraphView{refused, gone} {
		eventually(t, soon, func() string { // the deletion may have come after the specs were released
			if _, ok := engine.view(nameOf(view)); ok {
				return fmt.Sprintf("the engine has %s", nameOf(view))
			}
			return ""
		})
	}
}

func TestControllerReportsAndClearsErrors(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	c.engine.refuse = &spec.InvalidError{Reason: v1alpha1.ReasonInvalidExpression, Errors: []error{fmt.Errorf("spec.queries[0]: oops")}}
	c.start()
	c.becomes(outcomeRefused("InvalidExpression")...)
	if got, want := c.message("Accepted"), c.engine.refuse.Error(); got != want {
		t.Errorf("Accepted says %q, want %q", got, want)
	}

	c.engine.change(func(s *scripted) { s.refuse = nil })
	c.view.Spec.Queries[0].Include.ResourceSelectorExpression = "true"
	c.update()
	c.becomes(outcomeSyncing...)
	c.says(func(s *scripted) { s.status.Synced = true })
	c.becomes(outcomeReady...)
	wantEvents(t, c.client, c.view,
		"Warning InvalidExpression Compile", "Normal Accepted Compile", syncingEvent, "Normal Ready Serve", "Normal Complete Read")
}

// syncingEvent is made only if the controller finds a view before it is synced.
const syncingEvent = "Normal Syncing Serve"

// wantEvents waits for the Events of a view, in any order. One of syncing may come unless it is wanted.
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
			event := e.Type + " " + e.Reason + " " + e.Action
			if e.Regarding.UID == view.UID && e.ReportingController == "graphview-controller" && (event != syncingEvent || slices.Contains(want, event)) {
				got = append(got, event)
			}
		}
		slices.Sort(got)
		return cmp.Diff(want, got)
	})
}

func TestControllerHoldsCountsBack(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	c.engine.status.Synced = true
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	const interval = 500 * time.Millisecond
	c.options = controllers.Options{Clock: clock, StatusInterval: interval}
	c.start()
	c.becomes(outcomeReady...)
	before := c.view.ResourceVersion

	// The clock stands still, so counts are held back however often they change.
	for i := range 3 {
		asked := c.engine.timesAsked()
		c.says(func(s *scripted) { s.status.Vertices = i + 1 })
		c.engine.waitAsked(t, asked)
	}
	c.read()
	if c.view.ResourceVersion != before {
		t.Errorf("counts were written at once: %+v", c.view.Status)
	}

	// There is no further notification: the delayed status is written after the interval.
	clock.SetTime(clock.Now().Add(interval))
	eventually(t, soon, func() string {
		c.read()
		return cmp.Diff(int64(3), c.view.Status.Vertices)
	})

	// An unchanged status is not written again.
	before = c.view.ResourceVersion
	for range 3 {
		asked := c.engine.timesAsked()
		clock.SetTime(clock.Now().Add(time.Hour))
		c.notifier.Notify(nameOf(c.view))
		c.engine.waitAsked(t, asked)
	}
	c.read()
	if c.view.ResourceVersion != before {
		t.Errorf("an equal status was written: %+v", c.view.Status)
	}
}

func TestControllerRetriesAfterConflicts(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	c.start()
	c.becomes(outcomeSyncing...)
	for i := range 5 {
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"edit":"%d"}}}`, i))
		if err := c.client.Patch(t.Context(), c.view.DeepCopy(), patch); err != nil {
			t.Fatal(err)
		}
		c.says(func(s *scripted) { s.status.LimitExceeded = map[bool]string{true: "too large"}[i%2 == 0] })
		if i%2 == 0 {
			c.becomes(outcomeTooLarge...)
		} else {
			c.becomes(outcomeSyncing...)
		}
	}
}

// TestControllerWritesWhenElected: a replica that is not elected serves views and writes nothing.
func TestControllerWritesWhenElected(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	c.engine.status.Synced = true
	election := newElection(t, c.view.Namespace, "this")
	c.options = controllers.Options{Election: election}
	c.start()
	eventually(t, soon, func() string {
		if c.engine.timesAsked() == 0 {
			return "a replica that is not elected serves no views"
		}
		return ""
	})
	c.read()
	if len(c.view.Status.Conditions) > 0 {
		t.Errorf("a replica that is not elected wrote %+v", c.view.Status)
	}
	fixture.Start(t, election.Run)
	c.becomes(outcomeReady...)
}

func TestControllerForgetsDeletedViews(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	c.start()
	for again := range 2 {
		if again > 0 {
			c.view = configMapsView(c.view.Namespace)
			create(t, c.client, c.view)
		}
		c.becomes(outcomeSyncing...)
		if applied, _ := c.served(); applied.uid != string(c.view.UID) {
			t.Errorf("applied with UID %q, want %q", applied.uid, c.view.UID)
		}
		remove(t, c.client, c.view)
		eventually(t, soon, func() string {
			if _, ok := c.served(); ok {
				return "the engine still has the view"
			}
			return ""
		})
	}
}

func TestControllerChecksServiceAccounts(t *testing.T) {
	t.Parallel()
	c := newControlled(t)
	c.engine.status.Synced = true
	c.options = controllers.Options{RequireServiceAccount: true}
	c.start()
	c.becomes(outcomeRefused("ServiceAccountRequired")...)

	c.view.Spec.ServiceAccountName = "viewer"
	c.update()
	c.becomes(outcomeRefused("ServiceAccountNotFound")...)

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.view.Namespace, Name: "viewer"}}
	create(t, c.client, account)
	c.becomes(outcomeReady...)
	if applied, _ := c.served(); applied.spec.ServiceAccountName != "viewer" {
		t.Errorf("applied for ServiceAccount %q", applied.spec.ServiceAccountName)
	}

	remove(t, c.client, account)
	c.becomes(outcomeRefused("ServiceAccountNotFound")...)
	if _, ok := c.served(); ok {
		t.Error("the engine still serves a view whose ServiceAccount is gone")
	}
}
