package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/oracle"
)

// runEngine runs an engine until the test ends.
func runEngine(t *testing.T, o graphview.Options) *graphview.Engine {
	t.Helper()
	return runEngineAs(t, o, cluster.Config())
}

// runEngineAs runs one that reads as somebody else than the administrator.
func runEngineAs(t *testing.T, o graphview.Options, config *rest.Config) *graphview.Engine {
	t.Helper()
	o.Config = config
	o.Logger = testr.New(t)
	engine, err := graphview.NewEngine(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- engine.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("engine: %v", err)
		}
	})
	return engine
}

// specOf is an oracle's view as the engine wants it.
func specOf(t testing.TB, v oracle.View) graphview.Spec {
	t.Helper()
	var spec graphview.Spec
	for _, q := range v.Queries {
		var out graphview.Query
		if q.Include != nil {
			out.Include = &graphview.Include{
				ResourceSelectorExpression: q.Include.ResourceSelectorExpression,
				Object: graphview.ObjectFilter{
					LabelSelector: q.Include.Object.LabelSelector, FieldSelector: q.Include.Object.FieldSelector,
					ObjectSelectorExpression: q.Include.Object.ObjectSelectorExpression, JSONPath: q.Include.Object.JSONPath,
				},
			}
		}
		if q.Exclude != nil {
			out.Exclude = &graphview.Exclude{ResourceSelectorExpression: q.Exclude.ResourceSelectorExpression}
		}
		spec.Queries = append(spec.Queries, out)
	}
	if n := v.Namespaces; n != nil {
		spec.Namespaces = &graphview.Namespaces{
			Names: n.Names, LabelSelector: n.LabelSelector, FieldSelector: n.FieldSelector, ObjectSelectorExpression: n.ObjectSelectorExpression,
		}
	}
	if r := v.Roots; r != nil {
		spec.Roots = &graphview.Roots{ObjectSelectorExpressions: r.ObjectSelectorExpressions}
		for _, name := range r.IgnoreArcDirection {
			typ, ok := graph.ParseArcType(name)
			if !ok {
				t.Fatalf("arc type %q", name)
			}
			spec.Roots.IgnoreArcDirection = append(spec.Roots.IgnoreArcDirection, typ)
		}
	}
	return spec
}

// graphFollower applies a subscription's frames to a reference client.
type graphFollower struct {
	mu     sync.Mutex
	client oracle.Client
	err    error
	done   chan struct{}
}

func follow(ctx context.Context, v *graphview.View) *graphFollower {
	f := &graphFollower{client: oracle.Client{Strict: true}, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		s := v.Subscribe(graphview.SubscribeOptions{})
		defer s.Close()
		for {
			frames, err := s.Next(ctx)
			f.mu.Lock()
			for _, frame := range frames {
				if err := f.client.Apply(frame.JSON); err != nil && f.err == nil {
					f.err = fmt.Errorf("apply %.300s: %w", frame.JSON, err)
				}
			}
			if err != nil && f.err == nil && !errors.Is(err, context.Canceled) {
				f.err = err
			}
			f.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return f
}

// differs says how the follower's graph differs from the oracle's, now.
func (f *graphFollower) differs(want oracle.Graph) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err.Error()
	}
	if !f.client.Synced() {
		return fmt.Sprintf("not synced; warnings: %v", f.client.Warnings())
	}
	return oracle.Compare(want, f.client.Graph())
}

// views over one namespace and its neighbour, of every sort that a spec allows.
func testViews(red, blue string) map[string]oracle.View {
	include := func(expression string, filter oracle.Filter) oracle.Query {
		return oracle.Query{Include: &oracle.Include{ResourceSelectorExpression: expression, Object: filter}}
	}
	exclude := oracle.Query{Exclude: &oracle.Exclude{ResourceSelectorExpression: "resource in ['events', 'controllerrevisions', 'leases']"}}
	core := "group in ['', 'apps', 'batch', 'discovery.k8s.io']"
	both := &oracle.Namespaces{Names: []string{red, blue}}
	web := "group == 'apps' && resource == 'deployments' && name.startsWith('web')"
	return map[string]oracle.View{
		"everything": {Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both},
		"one namespace": {
			Queries:    []oracle.Query{exclude, include(core, oracle.Filter{})},
			Namespaces: &oracle.Namespaces{Names: []string{red}},
		},
		"rooted": {
			Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both,
			Roots: &oracle.Roots{ObjectSelectorExpressions: []string{web}},
		},
		"rooted against owners": {
			Queries: []oracle.Query{exclude, include(core+" && namespaced", oracle.Filter{})}, Namespaces: both,
			Roots: &oracle.Roots{ObjectSelectorExpressions: []string{web}, IgnoreArcDirection: []string{"or"}},
		},
		"filtered": {
			Queries: []oracle.Query{
				include("resource == 'pods' && group == ''", oracle.Filter{LabelSelector: "tier in (front, back)"}),
				include("resource == 'configmaps'", oracle.Filter{ObjectSelectorExpression: "!has(obj.data) || !('hidden' in obj.data)"}),
				include("resource == 'services' && group == ''", oracle.Filter{FieldSelector: "metadata.name!=svc-1"}),
				include("resource == 'secrets'", oracle.Filter{ObjectSelectorExpression: "'tier' in labels"}),
			},
			Namespaces: both,
		},
		"parts": {
			Queries: []oracle.Query{
				include("resource in ['pods', 'configmaps', 'secrets'] && group == ''", oracle.Filter{JSONPath: "{.metadata.labels}"}),
			},
			Namespaces: both,
		},
		"namespaces by label": {
			Queries:    []oracle.Query{include("resource in ['pods', 'configmaps', 'serviceaccounts'] && group == ''", oracle.Filter{})},
			Namespaces: &oracle.Namespaces{LabelSelector: "colour=of-" + red},
		},
		"namespaces by expression": {
			Queries:    []oracle.Query{include("resource in ['pods', 'configmaps'] && group == ''", oracle.Filter{})},
			Namespaces: &oracle.Namespaces{ObjectSelectorExpression: fmt.Sprintf("name == '%s' && labels[?'colour'].orValue('') != ''", blue)},
		},
	}
}

// TestGraphEqualsOracle changes two namespaces at random, with real controllers
// at work in them, and wants every view's subscribers to end with the graph
// that fresh lists give.
func TestGraphEqualsOracle(t *testing.T) {
	c := newClient(t)
	red, blue := newNamespace(t, c), newNamespace(t, c)
	engine := runEngine(t, graphview.Options{})
	views := testViews(red, blue)
	var followers sync.Map
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	join := func(which string) {
		for name := range views {
			v, ok := engine.View(graphview.Name{Namespace: red, Name: name})
			if !ok {
				t.Fatalf("no view %q", name)
			}
			followers.Store(name+", joined "+which, follow(ctx, v))
		}
	}
	for name, v := range views {
		if err := engine.Apply(graphview.Name{Namespace: red, Name: name}, "uid-"+name, specOf(t, v)); err != nil {
			t.Fatal(err)
		}
	}
	join("at the start")

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := workload{t: t, c: c, r: rand.New(rand.NewPCG(seed, 1)), namespaces: []string{red, blue}}
	for range 3 {
		for range 60 {
			w.step()
		}
		join(fmt.Sprint("after ", w.steps))
	}

	for name, v := range views {
		eventually(t, 60*time.Second, func() string {
			want, err := oracle.Build(t.Context(), cluster.Config(), v)
			if err != nil {
				t.Fatal(err)
			}
			var why string
			followers.Range(func(key, f any) bool {
				if len(key.(string)) > len(name) && key.(string)[:len(name)+1] == name+"," {
					if d := f.(*graphFollower).differs(want); d != "" {
						status, _ := engine.Status(graphview.Name{Namespace: red, Name: name})
						why = fmt.Sprintf("%s, of %d vertices and %d arcs; oracle %d and %d (-oracle +client):\n%s",
							key, status.Vertices, status.Arcs, len(want.Vertices), len(want.Arcs), d)
						return false
					}
				}
				return true
			})
			return why
		})
	}
	stop()
	followers.Range(func(_, f any) bool {
		<-f.(*graphFollower).done
		return true
	})
}

// workload makes, changes and deletes objects at random.
type workload struct {
	t          *testing.T
	c          client.Client
	r          *rand.Rand
	namespaces []string
	steps      int
}

func (w *workload) step() {
	w.t.Helper()
	w.steps++
	ctx := w.t.Context()
	meta := metav1.ObjectMeta{Namespace: w.namespaces[w.r.IntN(len(w.namespaces))], Labels: w.labels()}
	var o client.Object
	switch w.r.IntN(8) {
	case 0:
		data := map[string]string{"key": fmt.Sprint(w.r.IntN(5))}
		if w.r.IntN(3) == 0 {
			data["hidden"] = "yes"
		}
		meta.Name = fmt.Sprint("config-", w.r.IntN(5))
		o = &corev1.ConfigMap{ObjectMeta: meta, Data: data}
	case 1:
		meta.Name = fmt.Sprint("secret-", w.r.IntN(5))
		o = &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"password": fmt.Sprint(w.r.Int())}}
	case 2:
		meta.Name = fmt.Sprint("account-", w.r.IntN(3))
		o = &corev1.ServiceAccount{ObjectMeta: meta, ImagePullSecrets: []corev1.LocalObjectReference{{Name: fmt.Sprint("secret-", w.r.IntN(5))}}}
	case 3:
		meta.Name = fmt.Sprint("svc-", w.r.IntN(3))
		o = &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"tier": w.tier()}, Ports: []corev1.ServicePort{{Port: 80}},
		}}
	case 4:
		replicas := int32(w.r.IntN(4))
		meta.Name = fmt.Sprint("web-", w.r.IntN(2))
		template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": meta.Name, "tier": w.tier()}}, Spec: w.podSpec()}
		o = &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": meta.Name}}, Template: template,
		}}
	case 5:
		meta.Name = fmt.Sprint("pod-", w.r.IntN(6))
		o = &corev1.Pod{ObjectMeta: meta, Spec: w.podSpec()}
	case 6:
		w.relabel(ctx)
		return
	case 7:
		w.relabelNamespace(ctx)
		return
	}
	if w.r.IntN(4) == 0 {
		if err := w.c.Delete(ctx, o, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			w.t.Fatalf("delete %T: %v", o, err)
		}
		return
	}
	err := w.c.Create(ctx, o)
	if apierrors.IsAlreadyExists(err) {
		if _, isPod := o.(*corev1.Pod); isPod {
			return
		}
		o.SetResourceVersion("")
		old := o.DeepCopyObject().(client.Object)
		if err := w.c.Get(ctx, client.ObjectKeyFromObject(o), old); err != nil {
			if apierrors.IsNotFound(err) {
				return
			}
			w.t.Fatal(err)
		}
		o.SetResourceVersion(old.GetResourceVersion())
		if s, ok := o.(*corev1.Service); ok {
			s.Spec.ClusterIP = old.(*corev1.Service).Spec.ClusterIP
		}
		err = w.c.Update(ctx, o)
	}
	// A controller may have been faster, a finalizer slower, and a pod's
	// ServiceAccount may not be there: none of it matters.
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err) {
		w.t.Fatalf("write %T %s: %v", o, o.GetName(), err)
	}
}

func (w *workload) tier() string { return []string{"front", "back", "none"}[w.r.IntN(3)] }

func (w *workload) labels() map[string]string {
	if w.r.IntN(3) == 0 {
		return nil
	}
	return map[string]string{"tier": w.tier()}
}

func (w *workload) podSpec() corev1.PodSpec {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}}}
	if w.r.IntN(2) == 0 {
		spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprint("config-", w.r.IntN(6))},
		}}}
	}
	if w.r.IntN(2) == 0 {
		spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: fmt.Sprint("secret-", w.r.IntN(6))}}}}
	}
	return spec
}

// relabel changes the labels of some pod, as people and controllers do.
func (w *workload) relabel(ctx context.Context) {
	var pods corev1.PodList
	if err := w.c.List(ctx, &pods, client.InNamespace(w.namespaces[w.r.IntN(len(w.namespaces))])); err != nil {
		w.t.Fatal(err)
	}
	if len(pods.Items) == 0 {
		return
	}
	pod := &pods.Items[w.r.IntN(len(pods.Items))]
	patch := client.MergeFrom(pod.DeepCopy())
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["tier"] = w.tier()
	if err := w.c.Patch(ctx, pod, patch); client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
}

func (w *workload) relabelNamespace(ctx context.Context) {
	ns := &corev1.Namespace{}
	if err := w.c.Get(ctx, client.ObjectKey{Name: w.namespaces[w.r.IntN(len(w.namespaces))]}, ns); err != nil {
		w.t.Fatal(err)
	}
	patch := client.MergeFrom(ns.DeepCopy())
	if w.r.IntN(2) == 0 {
		ns.Labels["colour"] = "of-" + w.namespaces[0]
	} else {
		delete(ns.Labels, "colour")
	}
	if err := w.c.Patch(ctx, ns, patch); err != nil {
		w.t.Fatal(err)
	}
}
