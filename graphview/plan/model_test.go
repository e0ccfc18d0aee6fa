package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	seeds "graphview.dev/test/seed"
)

// model is an engine whose watches list when the test says so.
type model struct {
	t       *testing.T
	r       *rand.Rand
	now     time.Time
	book    *Book[string]
	lastID  uint32
	watches map[watch.Key]*modelWatch
	views   map[string]*modelView
	// refused: the operator may not watch all namespaces.
	refused bool
}

type modelWatch struct {
	m      *model
	id     uint32
	key    watch.Key
	leases int
	state  watch.State
	// listing: a list is under way.
	listing bool
}

// list begins or completes a list.
func (w *modelWatch) list() {
	switch {
	case w.m.refused && w.key.Namespace == "" && w.state.Reason == watch.Forbidden:
	case w.m.refused && w.key.Namespace == "":
		w.state = watch.State{Reason: watch.Forbidden, Err: errors.New("forbidden"), Since: w.m.now}
		w.listing = false
		for _, v := range w.m.views {
			clear(v.shown) // what is forbidden is not shown
		}
	case w.listing:
		w.listing = false
		w.state = watch.State{Synced: true, Reason: watch.UpToDate}
	case !w.state.Synced:
		w.listing = true
	}
}

// has reports whether the watch has the objects of a namespace.
func (w *modelWatch) has(namespace string) bool {
	return w.state.Synced && (w.key.Namespace == namespace || w.key.Namespace == "")
}

type modelView struct {
	name    string
	program *spec.Program
	taps    map[Need]*modelTap
	// retiring are taps that wait for their successors.
	retiring map[*modelTap]bool
	out      Outline
	shown    map[string]bool // namespaces whose objects the view has had, of the present spec
}

type modelTap struct {
	watch         *modelWatch
	complete, had bool
	acquired      time.Time
}

func (t *modelTap) look() bool {
	t.complete = t.watch.state.Synced
	t.had = t.had || t.complete
	return t.complete
}

func (m *model) release(t *modelTap) {
	w := t.watch
	if w.leases--; w.leases == 0 {
		delete(m.watches, w.key)
	}
}

// step reconciles a view as its keeper does.
func (m *model) step(v *modelView) {
	s := Situation{
		Program: v.program, Selected: []resources.Selected{{Resource: podsResource}},
		Refused: make(map[resources.Resource]bool), Namespaces: setOf(numbered(30)...), Complete: true,
	}
	var current []WatchStatus
	for _, n := range slices.SortedFunc(maps.Keys(v.taps), ByKey) {
		t := v.taps[n]
		t.look()
		if n.OfNamespaces() {
			continue
		}
		if n.Everywhere() && t.watch.state.Reason == watch.Forbidden && m.now.Sub(t.watch.state.Since) >= 5*time.Second {
			s.Refused[podsResource] = true
		}
		current = append(current, WatchStatus{
			Key: n.Key, State: t.watch.state, Complete: t.complete,
			Late: !t.watch.state.Synced && m.now.Sub(t.acquired) > 10*time.Second,
		})
	}
	s.Watches = holdings(current...)
	v.out = m.book.Outline(v.name, s, m.now)
	for n, t := range v.taps {
		if v.out.Needed[n] {
			continue
		}
		delete(v.taps, n)
		if t.had {
			v.retiring[t] = true
		} else {
			m.release(t)
		}
	}
	for _, n := range slices.SortedFunc(maps.Keys(v.out.Needed), ByKey) {
		t := v.taps[n]
		if t == nil {
			w := m.watches[n.Key]
			if w == nil {
				m.lastID++
				w = &modelWatch{m: m, id: m.lastID, key: n.Key}
				m.watches[n.Key] = w
			}
			w.leases++
			t = &modelTap{watch: w, acquired: m.now}
			v.taps[n] = t
		}
	}
	done := true
	for _, t := range v.taps {
		done = t.look() && done
	}
	if done {
		for t := range v.retiring {
			m.release(t)
		}
		clear(v.retiring)
	}
}

func (v *modelView) names() []string {
	if names := v.program.Namespaces.Named(); names != nil {
		return names
	}
	return numbered(30)
}

// sources are the watches that bring the view a namespace.
func (v *modelView) sources(namespace string) (of []string) {
	for n, t := range v.taps {
		if n.OfObjects() && !v.out.Standby[n] && t.watch.has(namespace) {
			of = append(of, n.Key.String())
		}
	}
	return of
}

// keeps checks that a view never loses the objects that it has had.
func (m *model) keeps(v *modelView) {
	m.t.Helper()
	for _, n := range v.names() {
		has := len(v.sources(n)) > 0
		for t := range v.retiring {
			has = has || t.watch.has(n)
		}
		for need, t := range v.taps {
			has = has || v.out.Standby[need] && t.had && t.watch.has(n)
		}
		if v.shown[n] && !has {
			m.t.Fatalf("view %s has lost namespace %s; it needs %v", v.name, n, slices.Collect(maps.Keys(v.out.Needed)))
		}
		if has {
			v.shown[n] = true
		}
	}
}

func (m *model) change() {
	switch name := fmt.Sprint(m.r.IntN(24)); m.r.IntN(12) {
	case 0, 1, 2:
		v := m.views[name]
		if v == nil {
			v = &modelView{name: name, taps: make(map[Need]*modelTap), retiring: make(map[*modelTap]bool)}
			m.views[name] = v
		}
		include := v1alpha1.Include{ResourceSelectorExpression: "true"}
		if m.r.IntN(4) == 0 {
			include.Object = &v1alpha1.ObjectFilter{LabelSelector: "a=b"}
		}
		declared := v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{{Include: &include}}}
		if m.r.IntN(20) > 0 {
			from, n := m.r.IntN(12), 1+m.r.IntN(3)
			if m.r.IntN(6) == 0 {
				n = maxNamespaceWatches - 1 + m.r.IntN(3)
			}
			declared.Namespaces = &v1alpha1.Namespaces{Names: namespaceNames(numbered(30)[from : from+n]...)}
		}
		var err error
		if v.program, err = spec.Compile(m.t.Context(), nil, declared); err != nil {
			m.t.Fatal(err)
		}
		v.shown = make(map[string]bool)
		m.step(v)
	case 3:
		if v := m.views[name]; v != nil {
			delete(m.views, name)
			m.book.Forget(name, m.now)
			for _, t := range v.taps {
				m.release(t)
			}
			for t := range v.retiring {
				m.release(t)
			}
		}
	case 4:
		m.now = m.now.Add(time.Duration(m.r.IntN(90)) * time.Second)
	case 5:
		m.refused = m.r.IntN(20) == 0
	case 6, 7, 8:
		for _, w := range m.inOrder() {
			if m.r.IntN(3) == 0 {
				w.list()
			}
		}
	default:
		if v := m.views[name]; v != nil {
			m.step(v)
			m.keeps(v)
		}
	}
}

// inOrder returns the watches in the order in which they began.
func (m *model) inOrder() []*modelWatch {
	return slices.SortedFunc(maps.Values(m.watches), func(a, b *modelWatch) int { return cmp.Compare(a.id, b.id) })
}

// TestEachNamespaceHasOneSource: specs change, other views come and go, watches list, are
// refused and are late. A view keeps what it has, and ends with exactly one watch that brings the
// objects of each of its namespaces.
func TestEachNamespaceHasOneSource(t *testing.T) {
	for episode := range uint64(60) {
		m := &model{
			t: t, r: rand.New(rand.NewPCG(seeds.Of(t), episode)), now: time.Unix(1, 0),
			watches: make(map[watch.Key]*modelWatch), views: make(map[string]*modelView),
		}
		m.book = NewBook(Options[string]{Linger: time.Minute, Notify: func(string) {}})
		for range 400 {
			m.change()
		}
		m.refused = false
		for range 40 {
			for _, w := range m.inOrder() {
				w.list()
			}
			m.now = m.now.Add(time.Minute)
			for _, name := range slices.Sorted(maps.Keys(m.views)) {
				m.step(m.views[name])
				m.keeps(m.views[name])
			}
		}
		for _, v := range m.views {
			for _, n := range v.names() {
				if of := v.sources(n); len(of) != 1 {
					t.Fatalf("episode %d: view %s takes %s from %q, want one watch", episode, v.name, n, of)
				}
			}
			if len(v.retiring) > 0 {
				t.Fatalf("episode %d: view %s still has %d former watches", episode, v.name, len(v.retiring))
			}
		}
	}
}
