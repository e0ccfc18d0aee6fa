package writer

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// readers follow a lens. They record when they are notified.
type readers struct {
	w           *world
	lens        *graph.Lens
	name        string
	subscribers int
	untold      int
	told        []time.Time
	arrived     []time.Time // when the changes of each notification were received
	published   int
	walked      int
	onPublished func()
}

func (r *readers) Subscribers() int                     { return r.subscribers }
func (r *readers) Told() int                            { return r.untold }
func (r *readers) Arrived(_ uint64, received time.Time) { r.arrived = append(r.arrived, received) }
func (r *readers) Published() {
	r.published++
	if r.onPublished != nil {
		r.onPublished()
	}
}
func (r *readers) Walked(int) { r.walked++ }

// follow adds readers of a lens of their own. They wait for changes until stop is closed.
func (w *world) follow(name string, subscribers int, stop <-chan struct{}) *readers {
	r := &readers{w: w, lens: w.lens(), name: name, subscribers: subscribers}
	w.Do(func() { w.Follow(r.lens, r) })
	go func() {
		for {
			select {
			case <-r.lens.Changed(r.lens.Head()):
				r.told = append(r.told, time.Now())
			case <-stop:
				return
			}
		}
	}()
	synctest.Wait()
	return r
}

// change changes the only object of each lens, in one event.
func (w *world) change(all ...*readers) {
	w.Do(func() {
		for _, r := range all {
			r.lens.Select(w.set(r.name), graph.Selection{Member: true})
		}
	})
	synctest.Wait()
}

// TestPublication: readers are notified of a change at once, then at most every d, and of the last
// change within d.
func TestPublication(t *testing.T) {
	for name, test := range map[string]struct {
		subscribers int
		d           time.Duration
	}{
		"none wait":      {},
		"few wait":       {subscribers: 10, d: 550 * time.Microsecond},
		"many wait":      {subscribers: 1000, d: 55 * time.Millisecond},
		"very many wait": {subscribers: 1_000_000, d: 55 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const changes, every = 500, 300 * time.Microsecond
				w, stop := start(t), make(chan struct{})
				r := w.follow("o", test.subscribers, stop)
				first := time.Now()
				last := first
				for range changes {
					last = time.Now()
					w.change(r)
					time.Sleep(every)
				}
				time.Sleep(test.d)
				synctest.Wait()
				close(stop)
				synctest.Wait()
				if !r.told[0].Equal(first) || r.told[len(r.told)-1].Before(last) || r.told[len(r.told)-1].After(last.Add(test.d)) {
					t.Errorf("notified %v after the first change, and %v after the last", r.told[0].Sub(first), r.told[len(r.told)-1].Sub(last))
				}
				for i, at := range r.told[1:] {
					if apart := at.Sub(r.told[i]); apart < test.d || apart > test.d+every {
						t.Errorf("notified after %v, want at most every %v", apart, test.d)
					}
				}
				if len(r.arrived) != len(r.told) || r.published != len(r.told) || !slices.IsSortedFunc(r.arrived, time.Time.Compare) || !r.arrived[0].Equal(first) {
					t.Errorf("%d notifications, of changes received at %d times, told %d times", len(r.told), len(r.arrived), r.published)
				}
			})
		})
	}
}

// TestReadersReadBetweenPublications: a reader that does not wait gets the last revision.
func TestReadersReadBetweenPublications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := start(t), make(chan struct{})
		defer close(stop)
		r := w.follow("o", 1000, stop)
		w.change(r)
		before := r.lens.Head()
		w.change(r)
		if r.lens.Head() == before || r.lens.Published() != before || len(r.told) != 1 {
			t.Errorf("revision %d of which %d is published, notified %d times; was %d", r.lens.Head(), r.lens.Published(), len(r.told), before)
		}
	})
}

// TestReadersThatHaveNotRun: the next publication waits until the readers of the last one have run, at most maxRest.
func TestReadersThatHaveNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := start(t), make(chan struct{})
		r := w.follow("o", 100, stop)
		w.change(r)
		w.Do(func() { r.untold = 100 })
		w.change(r)
		time.Sleep(maxRest / 2)
		synctest.Wait()
		if len(r.told) != 1 {
			t.Errorf("told %d times while readers have not run, want once", len(r.told))
		}
		w.Do(func() { r.untold = 0 })
		time.Sleep(maxPace)
		synctest.Wait()
		if len(r.told) != 2 {
			t.Errorf("told %d times after they have run, want twice", len(r.told))
		}
		w.Do(func() { r.untold = 1 }) // for ever
		w.change(r)
		time.Sleep(maxRest + maxPace)
		close(stop)
		synctest.Wait()
		if len(r.told) != 3 {
			t.Errorf("told %d times with a reader that never runs, want three times", len(r.told))
		}
	})
}

// TestQuietLens: readers of a lens that seldom changes are notified at once beside a lens with many
// readers that changes all the time.
func TestQuietLens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := start(t), make(chan struct{})
		defer close(stop)
		crowded, quiet := w.follow("crowded", 1000, stop), w.follow("quiet", 1, stop)
		for i := range 100 {
			w.change(crowded)
			if i%5 == 0 {
				now := time.Now()
				w.change(quiet)
				if last := quiet.told[len(quiet.told)-1]; !last.Equal(now) {
					t.Fatalf("change %d: notified %v before it", i, now.Sub(last))
				}
			}
			time.Sleep(time.Millisecond)
		}
		if n := len(crowded.told); n != 2 {
			t.Errorf("the many were notified %d times in 100 ms, want twice", n)
		}
	})
}

// TestLensesTogether: lenses that change all the time notify no more subscribers together than two
// processors can serve, in whatever order they began.
func TestLensesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lenses, lasts = 50, 300 * time.Millisecond
		w, stop := start(t), make(chan struct{})
		var all []*readers
		for i := range lenses {
			all = append(all, w.follow(fmt.Sprint("o", i), 1+i%20, stop))
			w.change(all[i])
		}
		notified := func() (subscribers int) {
			for _, r := range all {
				subscribers += len(r.told) * r.subscribers
			}
			return subscribers
		}
		before, began := notified(), time.Now()
		for time.Since(began) < lasts {
			w.change(all...)
			time.Sleep(100 * time.Microsecond)
		}
		took := time.Duration(notified()-before) * perSubscriber
		close(stop)
		if took > 2*lasts || took < lasts/2 {
			t.Errorf("notifications take %v of processors in %v, want at most two, and not much less", took, lasts)
		}
	})
}

// TestUsesArePublished: readers are notified if the kinds that the view watches change and no object.
func TestUsesArePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := start(t), make(chan struct{})
		defer close(stop)
		r := w.follow("o", 1000, stop)
		w.change(r)
		w.Do(func() { r.lens.Use(graph.Kind{Kind: "Secret"}, graph.Resource{Version: "v1", Resource: "secrets"}) })
		time.Sleep(maxPace)
		synctest.Wait()
		if len(r.told) != 2 {
			t.Errorf("notified %d times, want of the object and of the kind", len(r.told))
		}
	})
}

// TestReadersPassSteps: with one processor, a reader that waits for a change reads it before the
// writer locks the graph for the next step of the background.
func TestReadersPassSteps(t *testing.T) {
	const changes = 20
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	w, stop := start(t), make(chan struct{})
	r := &readers{lens: w.lens(), subscribers: 1}
	var steps, at atomic.Int64 // at: when the change was published
	r.onPublished = func() { at.Store(steps.Load()) }
	w.Do(func() { w.Follow(r.lens, r) })
	var background sync.WaitGroup
	for range 4 {
		background.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					w.Background([]Event{Func(func() { steps.Add(1) })})
				}
			}
		})
	}
	passed := 0
	for range changes {
		changed := r.lens.Changed(r.lens.Head())
		w.Send(Func(func() { r.lens.Select(w.set("o"), graph.Selection{Member: true}) }))
		<-changed
		if steps.Load() == at.Load() {
			passed++
		}
	}
	close(stop)
	background.Wait()
	// The scheduler looks elsewhere first once in a while.
	if passed < changes/2 {
		t.Errorf("%d of %d changes were read before the next step", passed, changes)
	}
}

// TestUnfollow: a follower that was removed is not called again.
func TestUnfollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := start(t), make(chan struct{})
		defer close(stop)
		r := w.follow("o", 1000, stop)
		w.change(r)
		w.change(r)
		w.Do(func() {
			w.Unfollow(r.lens)
			r.lens.Close()
		})
		published := r.published
		time.Sleep(maxPace)
		synctest.Wait()
		if r.published != published {
			t.Errorf("called %d times after that", r.published-published)
		}
	})
}

// TestWalkedOncePerBatch: a batch that becomes many revisions beside other lenses costs a lens what
// it costs alone.
func TestWalkedOncePerBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := start(t), make(chan struct{})
		defer close(stop)
		r := w.follow("o", 0, stop)
		w.Do(func() {
			for i := range 10 {
				r.lens.Select(w.set(fmt.Sprint("c", i)), graph.Selection{Member: true, Root: true})
			}
		})
		for i := range 2 {
			release := w.hold()
			synctest.Wait()
			for d, direction := range []graph.Direction{graph.Up, graph.Down, graph.Both} {
				w.Send(Func(func() {
					r.lens.SetRoots(true, graph.Walk{Direction: direction, Depth: 3})
					w.visit(fmt.Sprint("large", i, d), maxVisits)
				}))
			}
			release()
			w.Do(func() {})
			w.Do(func() {})
			if r.walked != i+1 {
				t.Errorf("%d walks of %d batches", r.walked, i+1)
			}
		}
	})
}

// TestEventsPassLateLenses: while many lenses of one owner are committed after one event, the event of another
// owner arrives with the next revision. A lens that was late without a change does not date its next event back.
func TestEventsPassLateLenses(t *testing.T) {
	const lenses, leaves, never = 40, 1_500, -1
	var w *world
	revision, ofEvent, ofLast := never, 0, 0
	var neighbour, idle *readers
	idleWasLate := false
	w = start(t, func() {
		if revision == never {
			return
		}
		idleWasLate = idleWasLate || slices.Contains(w.graph.Late(), idle.lens)
		if revision++; revision == 1 {
			w.Send(Func(func() { neighbour.lens.Select(w.set("event"), graph.Selection{Member: true, Root: true}) }))
		}
	})
	owned := func(name, owner string) graph.NodeID {
		return w.set(name, graph.Reference{Type: graph.OwnerReference, To: configMap, Scope: graph.ScopeNamespaced, Namespace: "shop", Name: owner})
	}
	ids := map[string]bool{}
	var all []*graph.Lens
	neighbour = &readers{lens: w.lens()}
	for range lenses {
		all = append(all, w.lens())
	}
	w.Do(func() {
		neighbour.lens.SetOwner(budget.NamespaceOwner("neighbour"))
		w.set("top")
		w.set("other")
		owned("middle", "top")
		for i := range leaves {
			owned(fmt.Sprint("leaf-", i), "middle")
			ids[fmt.Sprint("leaf-", i)] = false
		}
		ids["top"], ids["middle"] = true, false
	})
	for _, l := range all {
		w.Do(func() {
			l.SetOwner(budget.NamespaceOwner("shop"))
			l.SetRoots(true, graph.Walk{Direction: graph.Down})
			for name, root := range ids {
				l.Select(w.graph.Find(w.source, "shop", name), graph.Selection{Member: true, Root: root})
			}
			w.Follow(l, arrival(func() { ofLast = revision }))
		})
	}
	// The arcs of idle change too, but it shows none of them.
	idle = &readers{lens: w.lens()}
	w.Do(func() {
		idle.lens.SetOwner(budget.NamespaceOwner("shop"))
		idle.lens.SetRoots(true, graph.Walk{Direction: graph.Down})
		idle.lens.Select(w.graph.Find(w.source, "shop", "middle"), graph.Selection{Member: true})
	})
	for late := true; late; {
		w.Do(func() { late = w.graph.HasCleanup() })
	}
	w.Do(func() {
		w.Follow(neighbour.lens, arrival(func() { ofEvent = revision }))
		w.Follow(idle.lens, idle)
	})
	w.Do(func() { revision = 0; owned("middle", "other") })
	for late := true; late; {
		w.Do(func() { late = w.graph.HasCleanup() })
	}
	sent := time.Now()
	w.Do(func() { idle.lens.Select(w.set("event"), graph.Selection{Member: true, Root: true}) })
	if !idleWasLate || len(idle.arrived) != 1 || idle.arrived[0].Before(sent) {
		t.Errorf("a lens that was late (%t) and did not change then has an event that arrived at %v; want one, after %v", idleWasLate, idle.arrived, sent)
	}
	if ofEvent != 1 || ofLast < 3 {
		t.Errorf("the event that was sent after the first revision arrived after %d, and the last lens was committed after %d; want 1 and at least 3", ofEvent, ofLast)
	}
}

// arrival is a follower without readers.
type arrival func()

func (arrival) Subscribers() int            { return 0 }
func (arrival) Told() int                   { return 0 }
func (a arrival) Arrived(uint64, time.Time) { a() }
func (arrival) Published()                  {}
func (arrival) Walked(int)                  {}
