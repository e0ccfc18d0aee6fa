package graphview

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// keptView is a view that the test keeps, step by step.
type keptView struct {
	*keeper

	t       *testing.T
	catalog *resources.Catalog
}

func keepByHand(t *testing.T, o Options, objects int) *keptView {
	t.Helper()
	o.Config = configmaps.Serve(t, objects)
	return keepOf(t, startEngine(t, o), Name{Namespace: "shop", Name: "flow"}, configMapsResource)
}

// keepOf keeps a view of an engine whose cluster serves some resources.
func keepOf(t *testing.T, e *Engine, name Name, served ...resources.Resource) *keptView {
	t.Helper()
	k := newKeeper(newView(e, name, "1"))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	k.life = ctx
	k.view.evaluator.Begin(k.life)
	k.start()
	e.running.Go(func() {
		<-k.life.Done()
		k.finish()
	})
	return &keptView{keeper: k, t: t, catalog: resources.NewCatalog(served, nil)}
}

func (k *keptView) apply(declared v1alpha1.GraphViewSpec) {
	k.t.Helper()
	program, err := spec.Compile(k.t.Context(), nil, declared)
	if err != nil {
		k.t.Fatal(err)
	}
	k.view.setProgram(program, nil)
}

// until keeps the view until something holds.
func (k *keptView) until(what string, holds func() bool) {
	k.t.Helper()
	timeout := time.After(patience.For(time.Minute))
	for !holds() {
		k.step(k.life, k.catalog)
		k.view.engine.writer.Do(func() {})
		select {
		case <-timeout:
			k.t.Fatalf("not within a minute: %s", what)
		case <-k.view.evaluator.Kicks():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// isEmptied reports whether the view exceeds a limit and has released its watches.
func (k *keptView) isEmptied() bool {
	now := k.view.state.Now()
	return now.Phase == delivery.Limited && now.Limits == k.limits
}

func selecting(object v1alpha1.ObjectFilter) v1alpha1.GraphViewSpec {
	return v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "resource == 'configmaps'", Object: &object}}}}
}

// A limit that the previous spec exceeded does not apply to the spec that corrects it.
func TestLimitEndsWithItsSpec(t *testing.T) {
	k := keepByHand(t, Options{MaxVertices: 5}, 10)
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.step(k.life, k.catalog)
	for k.view.lens.Vertices() <= 5 {
		k.view.engine.writer.Do(func() {})
	}
	k.apply(selecting(v1alpha1.ObjectFilter{ObjectSelectorExpression: "name == 'c1'"}))
	k.until("one vertex", func() bool {
		if err := k.view.Err(); err != nil {
			t.Fatalf("the spec is not served: %v", err)
		}
		return k.view.synced() && k.view.lens.Vertices() == 1
	})
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.until("too many", k.isEmptied)
	if k.view.lens.Vertices() != 0 || len(k.taps.needed) != 0 {
		t.Errorf("%d vertices, %d watches of a view that is not served", k.view.lens.Vertices(), len(k.taps.needed))
	}
}

// TestViewThatWasNotServed: a view that is served again has another lens, and holds nothing of the former one. A
// subscriber that continues is sent the graph as a whole.
func TestViewThatWasNotServed(t *testing.T) {
	for name, end := range map[string]func(k *keptView){
		"its spec was refused": func(k *keptView) { k.view.setSpec(nil, &spec.InvalidError{Errors: []error{errors.New("no")}}) },
		"it exceeded a limit":  func(k *keptView) { k.view.limit(k.view.state.Now().Generation, errors.New("too much")) },
	} {
		t.Run(name, func(t *testing.T) {
			k := keepByHand(t, Options{}, 3)
			read := func(since string) (rev, text string) {
				ctx, cancel := context.WithTimeout(t.Context(), patience.For(time.Minute))
				defer cancel()
				s := k.view.Subscribe(delivery.SubscribeOptions{Since: since})
				defer s.Close()
				for rev == "" {
					frames, err := s.Next(ctx)
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range frames {
						rev, text = f.Rev, text+string(f.JSON)
					}
				}
				return rev, text
			}
			k.apply(selecting(v1alpha1.ObjectFilter{}))
			k.until("synced", k.view.synced)
			rev, _ := read("")
			former := k.view.lens
			end(k)
			k.until("it is not served", func() bool { return k.planned == 0 })
			if n := k.view.lens.Vertices(); n > 0 || k.view.lens == former || len(k.taps.all()) > 0 {
				t.Errorf("a view that is not served has %d objects and %d watches; its former lens: %t", n, len(k.taps.all()), k.view.lens == former)
			}
			k.apply(selecting(v1alpha1.ObjectFilter{}))
			k.until("served again", k.view.synced)
			if _, text := read(rev); !strings.Contains(text, `"reset":true`) || !strings.Contains(text, "c0") || !strings.Contains(text, "c2") {
				t.Errorf("a subscriber that continues is sent %s", text)
			}
			k.view.engine.writer.Do(func() {})
			if n := k.view.engine.Size().Lenses; n != 1 {
				t.Errorf("the graph has %d lenses", n)
			}
		})
	}
}

// A fault of the program at one view is that view's condition.
func TestPanicIsTheViewsCondition(t *testing.T) {
	k := keepByHand(t, Options{}, 1)
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.view.program.Queries = nil // what it selects is of no query
	k.selection = selection{program: k.view.program, catalog: k.catalog, chosen: []resources.Selected{{Resource: configMapsResource}}}
	k.until("the view is not served", func() bool { return k.view.Err() != nil })
	if err := k.view.Err(); !strings.Contains(err.Error(), "a fault of its own") {
		t.Errorf("error: %v", err)
	}
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.until("a changed spec is served", func() bool { return k.view.synced() && k.view.Err() == nil })
}

// A replay that a changed spec has ended is made up for.
func TestReplayThatEndedEarly(t *testing.T) {
	k := keepByHand(t, Options{}, 10)
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.until("synced", func() bool { return k.view.synced() })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, of := range k.taps.needed {
		k.taps.replay(ended, of, nil)
		if of.State() != intake.Behind {
			t.Fatal("a replay that was ended is taken for one that was not")
		}
	}
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.until("all replayed", func() bool {
		for _, of := range k.taps.needed {
			if of.State() != intake.Complete {
				return false
			}
		}
		return true
	})
}

// TestPlansEnd: the plan of a spec ends when the spec changes, and when its owner may hold no more memory.
func TestPlansEnd(t *testing.T) {
	for name, end := range map[string]func(k *keptView){
		"the spec changes":        func(k *keptView) { k.apply(selecting(v1alpha1.ObjectFilter{LabelSelector: "a=b"})) },
		"its owner may hold less": func(k *keptView) { k.view.limit(k.view.state.Now().Generation, &budget.Overdrawn{}) },
	} {
		t.Run(name, func(t *testing.T) {
			k := keepByHand(t, Options{}, 1)
			k.apply(selecting(v1alpha1.ObjectFilter{}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			k.view.nextProgram(cancel)
			if end(k); ctx.Err() == nil {
				t.Error("it goes on")
			}
		})
	}
}

// Resource selectors are evaluated once for a catalogue, and are charged to the
// view.
func TestResourceSelectorsAreCharged(t *testing.T) {
	k := keepByHand(t, Options{}, 1)
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.step(k.life, k.catalog)
	cost := k.view.engine.processors.Cost.Load()
	if cost == 0 {
		t.Error("nothing is charged")
	}
	k.step(k.life, k.catalog)
	if again := k.view.engine.processors.Cost.Load(); again != cost {
		t.Errorf("the same catalogue cost %d more", again-cost)
	}

	k = keepByHand(t, Options{Budget: 3_000}, 1)
	costly := selecting(v1alpha1.ObjectFilter{})
	costly.Queries[0].Include.ResourceSelectorExpression = "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, a + b > 0))"
	for range 60 {
		costly.Queries = append(costly.Queries, costly.Queries[0])
	}
	for i := range costly.Queries {
		costly.Queries[i] = v1alpha1.Query{Include: &v1alpha1.Include{ResourceSelectorExpression: costly.Queries[i].Include.ResourceSelectorExpression + fmt.Sprintf(" && resource == '%d'", i)}}
	}
	k.apply(costly)
	k.until("it costs too much", func() bool { return k.view.Err() != nil })
}

// TestMemoryOfANamespace: a view whose namespace may hold no more memory is not served, says why, and is
// served when there is room again.
func TestMemoryOfANamespace(t *testing.T) {
	k := keepByHand(t, Options{HeldBytes: 1 << 20}, 3)
	others := k.view.engine.ledger.Account(budget.NamespaceOwner("shop"))
	if err := others.Set(budget.Elements, 480<<10); err != nil {
		t.Fatal(err)
	}
	k.apply(selecting(v1alpha1.ObjectFilter{LabelSelector: "a=b"}))
	k.until("refused because of its watch", k.isEmptied)
	if n := k.view.account.Held(); n != 0 || len(k.taps.needed) != 0 {
		t.Errorf("a view that is not served holds %d bytes and %d watches", n, len(k.taps.needed))
	}
	if limit := k.view.Status().LimitExceeded; !strings.Contains(limit, "of namespace shop hold 0 MiB") {
		t.Errorf("its status says %q", limit)
	}
	others.Close()
	k.view.retry()
	k.until("served", func() bool { return k.view.Err() == nil && k.view.synced() })
	if n := k.view.account.Held(); n < watchBytes {
		t.Errorf("a view with a watch of its own holds %d bytes", n)
	}
	// The watch of all objects is shared.
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.until("served, too", func() bool {
		return k.planned == k.view.state.Now().Generation && k.view.synced() && len(k.taps.retiring) == 0 && k.view.account.Held() < watchBytes
	})
}

// TestRightsBeyondTheLedger: a view whose account would be asked about more than its namespace may hold
// asks nothing and is not served.
func TestRightsBeyondTheLedger(t *testing.T) {
	var asked atomic.Int64
	k := keepByHand(t, Options{HeldBytes: 1120 * rightBytes, Review: func(_ context.Context, _ user.Info, q access.Question) (bool, error) {
		if i, err := strconv.Atoi(strings.TrimPrefix(q.Namespace, "n")); err == nil && i >= 200 {
			asked.Add(1)
		}
		return false, nil
	}}, 1)
	declared := selecting(v1alpha1.ObjectFilter{})
	declared.ServiceAccountName = "reader"
	for _, names := range []int{200, 400, 200} {
		wantServed := names == 200
		declared.Namespaces = &v1alpha1.Namespaces{}
		for i := range names {
			declared.Namespaces.Names = append(declared.Namespaces.Names, v1alpha1.NamespaceName(fmt.Sprintf("n%d", i)))
		}
		k.apply(declared)
		k.until("answered or refused", func() bool {
			last := access.Place{Resource: "configmaps", Namespace: fmt.Sprintf("n%d", names-1)}
			if k.rights != nil {
				_, answered := k.rights.allowed(last)
				return answered
			}
			return k.isEmptied()
		})
		if _, known := k.view.engine.MayListNamespaces(Name{Namespace: "shop", Name: "reader"}); known != wantServed {
			t.Errorf("%d namespaces: whether the account may list namespaces is known: %t", names, known)
		}
		if served := k.view.Err() == nil; served != wantServed {
			t.Errorf("%d namespaces: served %t", names, served)
		}
	}
	if held := k.view.account.Held(); asked.Load() > 0 || held < 200*rightBytes || held > 202*rightBytes {
		t.Errorf("%d questions about rights without room, %d bytes are held", asked.Load(), held)
	}
}

// TestProgramWithoutRoom: a spec whose program has no room is accepted and not served. The view keeps no spec, and is
// served when the spec is applied again, which its status asks for when there is room. Other namespaces do not notice.
func TestProgramWithoutRoom(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 1), HeldBytes: 2 << 20})
	others := e.ledger.Account(budget.NamespaceOwner("shop"))
	if err := others.Set(budget.Programs, 1<<20-10_000); err != nil {
		t.Fatal(err)
	}
	late, early := Name{Namespace: "shop", Name: "late"}, Name{Namespace: "bank", Name: "early"}
	for _, name := range []Name{late, early} {
		if err := e.Apply(t.Context(), name, name.Name, selecting(v1alpha1.ObjectFilter{})); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what string, holds func(late, early Status) bool) {
		t.Helper()
		patience.Await(t, what, func() bool {
			a, _ := e.Status(late)
			b, _ := e.Status(early)
			return holds(a, b)
		})
	}
	until("one is refused and the other is served", func(late, early Status) bool {
		return strings.Contains(late.LimitExceeded, "namespace shop") && !late.Unapplied && early.Served
	})
	others.Close()
	e.retryNext("shop")
	until("the spec is to be applied again", func(late, _ Status) bool { return late.Unapplied })
	if err := e.Apply(t.Context(), late, late.Name, selecting(v1alpha1.ObjectFilter{})); err != nil {
		t.Fatal(err)
	}
	until("both are served", func(late, early Status) bool { return late.Served && early.Served })

	// While memory is short, the owner with the most memory loses a view. An owner with little memory
	// loses none.
	if err := others.Set(budget.Elements, 400_000); err != nil {
		t.Fatal(err)
	}
	e.Relieve()
	e.Relieve()
	until("the one that holds most is refused", func(late, early Status) bool { return late.LimitExceeded != "" && early.Served })
	if err := e.ledger.Account(budget.NamespaceOwner("bank")).Set(budget.Elements, 400_000); err != nil {
		t.Fatal(err)
	}
	e.Relieve()
	until("both are refused", func(late, early Status) bool { return late.LimitExceeded != "" && early.LimitExceeded != "" })
	e.Relieve() // there is no view left
}

// TestEditAfterExceededBudget: once expressions cost too much, some objects were not
// evaluated. An edit of the spec evaluates them, though its watches stay the same.
func TestEditAfterExceededBudget(t *testing.T) {
	k := keepByHand(t, Options{Budget: smallBudget}, 3)
	declared := selecting(v1alpha1.ObjectFilter{ObjectSelectorExpression: "name != ''"})
	counts := &k.view.engine.intake.Counts
	synced := func() bool { return k.view.synced() && k.view.lens.Vertices() == 3 }
	k.apply(declared)
	k.until("synced", synced)
	for _, exceeded := range []bool{false, true} {
		before := counts.Sets.Load() + counts.Replays.Load()
		if exceeded {
			k.view.evaluator.Budget().Charge(2 * smallBudget)
		}
		toggleInferred(&declared)
		k.apply(declared)
		k.until("synced", synced)
		if again := counts.Sets.Load() + counts.Replays.Load() - before; (again > 0) != exceeded {
			t.Errorf("budget exceeded: %t; %d objects were evaluated again", exceeded, again)
		}
	}
}

// TestEditsDoNotAddUp: however often a spec changes before its watches have synced, the view
// holds only the watches of the current spec and of the last synced spec.
func TestEditsDoNotAddUp(t *testing.T) {
	k := keepByHand(t, Options{SyncTimeout: time.Hour}, 3)
	k.apply(selecting(v1alpha1.ObjectFilter{}))
	k.until("synced", func() bool { return k.view.synced() && k.view.lens.Vertices() == 3 })
	for i := range 20 {
		k.apply(selecting(v1alpha1.ObjectFilter{LabelSelector: fmt.Sprint(configmaps.Unanswered, "=", i)}))
		k.step(k.life, k.catalog)
		if n := k.view.engine.Watches(); n > 2 {
			t.Fatalf("%d watches after %d edits, want 2", n, i+1)
		}
		if n := k.view.lens.Vertices(); n != 3 {
			t.Fatalf("%d vertices after %d edits, want those of the spec that was complete", n, i+1)
		}
	}
	k.apply(selecting(v1alpha1.ObjectFilter{ObjectSelectorExpression: "name == 'c1'"}))
	k.until("the last spec is complete", func() bool {
		return k.view.synced() && k.planned == k.view.state.Now().Generation && k.view.lens.Vertices() == 1 && k.view.engine.Watches() == 1
	})
}
