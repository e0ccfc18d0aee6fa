package graph

import (
	"maps"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
)

// leftOut takes in whose references the graph leaves out. That depends on the order of changes, so the
// model does not say which they are. The others are within the limits.
func (w *world) leftOut() {
	w.t.Helper()
	clear(w.m.unnamed)
	clear(w.m.unselected)
	for id, left := range w.g.leftOut {
		key := w.g.key(id)
		if left.names > 0 {
			w.m.unnamed[key] = true
		}
		if left.matches > 0 {
			w.m.unselected[key] = true
		}
	}
	for key, o := range w.m.all() {
		if requirements(o.References) > w.m.mostRequirements {
			w.m.unselected[key] = true
		}
	}
	if len(w.g.sources) != len(w.m.sources) {
		return // objects of removed sources are counted
	}
	for namespace, n := range w.m.countNamed() {
		if n > w.m.mostNamed {
			w.t.Fatalf("namespace %s names %d, want at most %d", namespace, n, w.m.mostNamed)
		}
	}
	for namespace, n := range w.m.countMatched() {
		if n > w.m.mostOfNamespace {
			w.t.Fatalf("selectors of namespace %s match %d, want at most %d", namespace, n, w.m.mostOfNamespace)
		}
	}
}

// retry has those read again whose references were left out and have room. Nothing else is left out.
func (w *world) retry() {
	w.update(func() {
		for _, u := range w.g.RetryReferences() {
			for _, id := range u.Sources {
				o := w.m.objects[id][u.Namespace+"/"+u.Name]
				w.g.Set(id, &o)
			}
		}
	})
	named, matched := w.m.countNamed(), w.m.countMatched()
	for k, o := range w.m.all() {
		names, matches := 0, 0
		if w.m.unnamed[k] {
			names = countNames(o.References)
		}
		if w.m.unselected[k] && requirements(o.References) <= w.m.mostRequirements {
			matches = w.m.countMatches(o.References)
		}
		if names+matches > 0 && named[o.Namespace]+names <= w.m.mostNamed && matched[o.Namespace]+matches <= w.m.mostOfNamespace {
			w.t.Fatalf("%d references and %d matches of %+v are left out though there is room beside %d and %d", names, matches, k, named[o.Namespace], matched[o.Namespace])
		}
	}
}

// exceedances takes in whom the graph says to exceed a bound.
func (w *world) exceedances() {
	for _, x := range w.g.Exceedances() {
		for _, id := range x.Sources {
			if src, ok := w.m.sources[id]; ok {
				w.tell(Key{src.resource, x.Namespace, x.Name}, x.Err)
			}
		}
	}
}

// tell takes in whether an object exceeds a bound.
func (w *world) tell(key Key, err error) {
	if delete(w.exceed, key); err != nil {
		w.exceed[key] = err.(*budget.Exceeded).Bound //nolint:errorlint // it is not wrapped
	}
}

// forget forgets the bounds of objects that no source sees. The graph does not report that a removed object
// ceases to exceed a bound.
func (w *world) forget() {
	maps.DeleteFunc(w.exceed, func(key Key, _ *budget.Bound) bool { return !w.m.holds(key) })
}

// checkBounds compares the objects beyond a bound with the reported ones.
func (w *world) checkBounds() {
	w.t.Helper()
	told := map[Key]string{}
	for key, b := range w.exceed {
		told[key] = b.Name()
	}
	want := map[Key]string{}
	for key := range w.m.unselected {
		want[key] = requirementsOfObject.Name()
	}
	for id, left := range w.g.leftOut {
		if left.names+left.matches > 0 {
			want[w.g.key(id)] = budget.HeldBytes.Name()
		}
	}
	if diff := cmp.Diff(want, told); diff != "" {
		w.t.Fatalf("who exceeds a bound (-want +told):\n%s", diff)
	}
}
