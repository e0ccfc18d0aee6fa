package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
)

// slowEngine takes a second for a spec.
type slowEngine struct {
	Engine

	mu      sync.Mutex
	applied []string // uid/name of an account, which is that of the spec
	fails   error
	status  graphview.Status
}

func (e *slowEngine) told() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.applied)
}

func (e *slowEngine) Apply(ctx context.Context, _ graphview.Name, uid string, declared v1alpha1.GraphViewSpec) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.applied = append(e.applied, uid+"/"+declared.ServiceAccountName)
	return e.fails
}

func (e *slowEngine) Status(graphview.Name) (graphview.Status, bool) { return e.status, true }

// applierUnderTest has one GraphView, whose spec is called like its generation. It must be made in a
// synctest bubble.
type applierUnderTest struct {
	*applier

	generation atomic.Int64
	engine     *slowEngine
	answered   atomic.Int32 // calls of applied
	unread     error        // of read
}

var web = graphview.Name{Namespace: "shop", Name: "web"}

func newApplierUnderTest(ctx context.Context) *applierUnderTest {
	u := &applierUnderTest{engine: &slowEngine{}}
	u.generation.Store(1)
	u.applier = newApplier(ctx, applierOptions{
		engine: u.engine,
		read: func(context.Context, graphview.Name) (*v1alpha1.GraphView, error) {
			v := u.view()
			return &v1alpha1.GraphView{
				ObjectMeta: metav1.ObjectMeta{UID: types.UID(v.uid), Generation: v.generation},
				Spec:       v1alpha1.GraphViewSpec{ServiceAccountName: fmt.Sprint(v.generation)},
			}, u.unread
		},
		applied: func(graphview.Name, error) { u.answered.Add(1) },
	})
	return u
}

func (u *applierUnderTest) view() version { return version{"a", u.generation.Load()} }

func TestApplier(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(t *testing.T, u *applierUnderTest)
		want []string // what the engine has been told
	}{
		"an answer is returned once": {
			do: func(t *testing.T, u *applierUnderTest) {
				u.engine.fails = errors.New("a fault")
				if known, err := u.apply(web, u.view()); known || err != nil {
					t.Errorf("at first: %t, %v", known, err)
				}
				time.Sleep(2 * time.Second)
				if known, err := u.apply(web, u.view()); !known || !errors.Is(err, u.engine.fails) || u.answered.Load() != 1 {
					t.Errorf("applied: %t, %v, told %d times", known, err, u.answered.Load())
				}
				if known, _ := u.apply(web, u.view()); known {
					t.Error("the answer is returned again")
				}
				time.Sleep(2 * time.Second)
			},
			want: []string{"a/1", "a/1"},
		},
		"a spec that is edited meanwhile is applied after it": {
			do: func(t *testing.T, u *applierUnderTest) {
				u.apply(web, u.view())
				time.Sleep(500 * time.Millisecond)
				u.generation.Store(2)
				u.apply(web, u.view())
				time.Sleep(time.Second)
				if known, _ := u.apply(web, u.view()); known || u.answered.Load() != 1 {
					t.Errorf("the answer about generation 1 is taken for that about 2, told %d times", u.answered.Load())
				}
				time.Sleep(2 * time.Second)
				if known, err := u.apply(web, u.view()); !known || err != nil {
					t.Errorf("in the end: %t, %v", known, err)
				}
			},
			want: []string{"a/1", "a/2"},
		},
		"a spec that was not checked is not applied": {
			do: func(t *testing.T, u *applierUnderTest) {
				checked := u.view()
				u.generation.Store(2)
				u.apply(web, checked)
				time.Sleep(time.Second)
				if u.answered.Load() != 1 {
					t.Error("the view is not reconciled again")
				}
			},
		},
		"a spec that cannot be read is tried again with the queue's back-off": {
			do: func(t *testing.T, u *applierUnderTest) {
				u.unread = errors.New("the API server does not answer")
				u.apply(web, u.view())
				time.Sleep(time.Second)
				if known, err := u.apply(web, u.view()); !known || !errors.Is(err, u.unread) {
					t.Errorf("answer: %t, %v, want the error, which the reconcile returns", known, err)
				}
			},
		},
		"a view that is deleted is not applied": {
			do: func(_ *testing.T, u *applierUnderTest) {
				u.apply(web, u.view())
				time.Sleep(500 * time.Millisecond)
				u.stop(web)
				time.Sleep(2 * time.Second)
			},
		},
		"the views of an owner wait for each other, and those of others do not": {
			do: func(_ *testing.T, u *applierUnderTest) {
				for i := range 2 * appliedAtOnce {
					u.apply(graphview.Name{Namespace: "shop", Name: fmt.Sprint(i)}, u.view())
				}
				u.apply(graphview.Name{Namespace: "bank", Name: "web"}, u.view())
				time.Sleep(1500 * time.Millisecond)
			},
			want: slices.Repeat([]string{"a/1"}, appliedAtOnce+1),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				u := newApplierUnderTest(t.Context()) // life outlives the manager
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if err := u.Start(ctx); err != nil {
						t.Error(err)
					}
				}()
				test.do(t, u)
				cancel()
				<-ended
				u.apply(web, version{"late", 1})
				synctest.Wait()
				if !slices.Equal(u.engine.told(), test.want) {
					t.Errorf("applied %v, want %v", u.engine.told(), test.want)
				}
			})
		})
	}
}

// TestFailedApplyIsRepeated: a spec that the engine failed to apply is applied again.
func TestFailedApplyIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newApplierUnderTest(t.Context())
		u.engine.fails = errors.New("a fault")
		r := NewGraphViewReconciler(u.engine, &Notifier{}, Options{})
		r.applier = u.applier
		view := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{UID: "a", Generation: 1}}
		var record record
		for range 2 {
			if known, _ := r.apply(t.Context(), web, view, &record); known {
				t.Error("a failure counts as a verdict")
			}
			time.Sleep(2 * time.Second)
		}
		u.engine.fails = nil
		if known, err := r.apply(t.Context(), web, view, &record); known || err != nil {
			t.Errorf("at once: %t, %v", known, err)
		}
		time.Sleep(2 * time.Second)
		if known, err := r.apply(t.Context(), web, view, &record); !known || err != nil || len(u.engine.told()) != 2 {
			t.Errorf("known %t, %v, applied %d times, want twice", known, err, len(u.engine.told()))
		}
	})
}

// oneViewClient has one GraphView in its cache.
type oneViewClient struct {
	client.Client

	view *v1alpha1.GraphView
}

func (c oneViewClient) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if view, ok := into.(*v1alpha1.GraphView); ok {
		c.view.DeepCopyInto(view)
	}
	return nil
}

// TestUnappliedSpec: the spec of a view whose owner could hold no more memory is applied again when the engine asks
// for it, and not otherwise, also by a replica that writes no status.
func TestUnappliedSpec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newApplierUnderTest(t.Context())
		r := NewGraphViewReconciler(u.engine, &Notifier{}, Options{Election: &Election{term: &term{}}})
		r.applier = u.applier
		r.client = oneViewClient{
			view: &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name, UID: "a", Generation: 1}},
		}
		for i, applied := range []int{1, 1, 2, 2} {
			u.engine.status = graphview.Status{LimitExceeded: "no memory", Unapplied: i == 2}
			for range 2 {
				if _, err := r.Reconcile(t.Context(), requestFor(web)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				u.engine.status.Unapplied = false
			}
			if n := len(u.engine.told()); n != applied {
				t.Errorf("applied %d times after %d rounds, want %d", n, i+1, applied)
			}
		}
	})
}

// TestEditsDoNotDelayReadiness: the engine knows a view whose spec it was told, though its author has
// edited it since.
func TestEditsDoNotDelayReadiness(t *testing.T) {
	r := NewGraphViewReconciler(nil, &Notifier{}, Options{})
	r.initial.list([]graphview.Name{web})
	r.applied(t.Context(), web, context.Canceled)
	select {
	case <-r.Known():
		t.Error("a view is known that the engine has not been told of")
	default:
	}
	r.applied(t.Context(), web, &spec.InvalidError{})
	select {
	case <-r.Known():
	default:
		t.Error("a view that the engine has been told of is not known")
	}
}
