package integration

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/fixture"
)

// scripted is an engine that says what a test tells it to say.
type scripted struct {
	mu      sync.Mutex
	refuse  error
	views   map[graphview.Name]appliedView
	status  graphview.Status
	applies int
	asked   int
	// released, by namespace, are closed when specs of the namespace are applied.
	released map[string]chan struct{}
}

type appliedView struct {
	uid  string
	spec v1alpha1.GraphViewSpec
}

func (s *scripted) Apply(ctx context.Context, name graphview.Name, uid string, spec v1alpha1.GraphViewSpec) error {
	if released := s.released[name.Namespace]; released != nil {
		select {
		case <-released:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applies++
	if s.views == nil {
		s.views = map[graphview.Name]appliedView{}
	}
	s.views[name] = appliedView{uid, spec}
	return s.refuse
}

func (s *scripted) Refuse(name graphview.Name, _ string, _ *spec.InvalidError) {
	s.Remove(name)
}

func (s *scripted) Remove(name graphview.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.views, name)
}

func (s *scripted) Status(name graphview.Name) (graphview.Status, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	_, ok := s.views[name]
	return s.status, ok
}

func (s *scripted) view(name graphview.Name) (appliedView, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.views[name]
	return v, ok
}

// change changes what the engine says.
func (s *scripted) change(f func(*scripted)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *scripted) timesAsked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// waitAsked waits until the engine was asked more often than before.
func (s *scripted) waitAsked(t *testing.T, before int) {
	t.Helper()
	eventually(t, soon, func() string {
		if s.timesAsked() == before {
			return "the engine was not asked"
		}
		return ""
	})
}

// newManager returns a manager without ports.
func newManager(t *testing.T, as *rest.Config, with func(*ctrl.Options)) ctrl.Manager {
	t.Helper()
	o := ctrl.Options{
		Scheme: newScheme(t), Logger: testr.New(t), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Cache: controllers.CacheOptions(),
		// The managers of other tests have controllers of the same names.
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
	with(&o)
	mgr, err := ctrl.NewManager(as, o)
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// startController runs a manager with the reconciler for one namespace until
// the test ends; startControllerIn for several.
func startController(t *testing.T, as *rest.Config, namespace string, engine controllers.Engine, notifier *controllers.Notifier, o controllers.Options) *controllers.GraphViewReconciler {
	t.Helper()
	return startControllerIn(t, as, []string{namespace}, engine, notifier, o)
}

func startControllerIn(t *testing.T, as *rest.Config, namespaces []string, engine controllers.Engine, notifier *controllers.Notifier, o controllers.Options) *controllers.GraphViewReconciler {
	t.Helper()
	within := make(map[string]cache.Config)
	for _, namespace := range namespaces {
		within[namespace] = cache.Config{}
	}
	mgr := newManager(t, as, func(o *ctrl.Options) { o.Cache.DefaultNamespaces = within })
	reconciler := controllers.NewGraphViewReconciler(engine, notifier, o)
	if err := reconciler.SetupWithManager(t.Context(), mgr); err != nil {
		t.Fatal(err)
	}
	fixture.Start(t, mgr.Start)
	return reconciler
}

// controlled is a GraphView with its controller, whose engine is scripted. A test changes the fields before start.
type controlled struct {
	t        *testing.T
	client   client.Client
	as       *rest.Config // of the controller
	options  controllers.Options
	engine   *scripted
	notifier *controllers.Notifier
	view     *v1alpha1.GraphView
}

func newControlled(t *testing.T) *controlled {
	t.Helper()
	c := newClient(t)
	return &controlled{
		t: t, client: c, as: cluster.Config(), engine: &scripted{}, notifier: &controllers.Notifier{}, view: configMapsView(newNamespace(t, c)),
	}
}

// start starts the controller and creates the view.
func (c *controlled) start() {
	c.t.Helper()
	startController(c.t, c.as, c.view.Namespace, c.engine, c.notifier, c.options)
	create(c.t, c.client, c.view)
}

// update writes the view's spec.
func (c *controlled) update() {
	c.t.Helper()
	updateSpec(c.t, c.client, c.view)
}

// updateSpec writes a view's spec, whatever its controller has written to the view meanwhile.
func updateSpec(t *testing.T, c client.Client, view *v1alpha1.GraphView) {
	t.Helper()
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var now v1alpha1.GraphView
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), &now); err != nil {
			return err
		}
		view.ResourceVersion = now.ResourceVersion
		return c.Update(t.Context(), view)
	}); err != nil {
		t.Fatal(err)
	}
}

// read reads the view.
func (c *controlled) read() {
	c.t.Helper()
	if err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(c.view), c.view); err != nil {
		c.t.Fatal(err)
	}
}

// says changes the state of the scripted engine, and notifies the controller.
func (c *controlled) says(change func(*scripted)) {
	c.engine.change(change)
	c.notifier.Notify(nameOf(c.view))
}

// becomes waits until the view's conditions are those.
func (c *controlled) becomes(want ...string) {
	c.t.Helper()
	waitOutcomes(c.t, c.client, c.view, want...)
}

// message returns the message of a condition.
func (c *controlled) message(condition string) string {
	return meta.FindStatusCondition(c.view.Status.Conditions, condition).Message
}

// served returns the view as the engine has it, and whether it does.
func (c *controlled) served() (appliedView, bool) { return c.engine.view(nameOf(c.view)) }

// awaitExpression waits until the engine has the view with an expression for its resources.
func (c *controlled) awaitExpression(want string) {
	c.t.Helper()
	eventually(c.t, soon, func() string {
		if applied, ok := c.served(); !ok || applied.spec.Queries[0].Include.ResourceSelectorExpression != want {
			return fmt.Sprintf("the engine has %+v", applied)
		}
		return ""
	})
}

func configMapsView(namespace string) *v1alpha1.GraphView {
	return &v1alpha1.GraphView{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "view"},
		Spec: v1alpha1.GraphViewSpec{
			Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{
				ResourceSelectorExpression: "group == '' && resource == 'configmaps'",
			}}},
			Namespaces: &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{v1alpha1.NamespaceName(namespace)}},
		},
	}
}

func nameOf(view *v1alpha1.GraphView) graphview.Name {
	return graphview.Name{Namespace: view.Namespace, Name: view.Name}
}

// outcomes are the conditions of a view as tests want them: type=status/reason.
func outcomes(view *v1alpha1.GraphView) []string {
	var out []string
	for _, c := range view.Status.Conditions {
		// Those are about the objects, and about what the cluster serves.
		if c.Type != v1alpha1.ConditionHealthy && c.Type != v1alpha1.ConditionEffective {
			out = append(out, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
		}
		if c.ObservedGeneration != view.Generation {
			out = append(out, fmt.Sprintf("%s is of generation %d", c.Type, c.ObservedGeneration))
		}
	}
	slices.Sort(out)
	return out
}

// waitOutcomes waits until the view's conditions are those, and gets the view.
func waitOutcomes(t *testing.T, c client.Client, view *v1alpha1.GraphView, want ...string) {
	t.Helper()
	eventually(t, soon, func() string {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(view), view); err != nil {
			return err.Error()
		}
		return cmp.Diff(want, outcomes(view))
	})
}

var (
	outcomeSyncing  = []string{"Accepted=True/Accepted", "Complete=Unknown/Syncing", "Ready=False/Syncing"}
	outcomeReady    = []string{"Accepted=True/Accepted", "Complete=True/Complete", "Ready=True/Ready"}
	outcomeTooLarge = []string{"Accepted=True/Accepted", "Complete=Unknown/LimitExceeded", "Ready=False/LimitExceeded", "Stalled=True/LimitExceeded"}
)

func outcomeRefused(reason string) []string {
	return []string{"Accepted=False/" + reason, "Complete=Unknown/NotAccepted", "Ready=False/NotAccepted", "Stalled=True/NotAccepted"}
}
