package graph

import (
	"maps"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/budget"
)

// leftOut takes in whose references the graph leaves out. That depends on the order of changes, so the
// model does not say which they are. The others are within the limit.
func (w *world) leftOut() {
	w.t.Helper()
	clear(w.m.unnamed)
	for id := range w.g.overLimit {
		w.m.unnamed[w.g.key(id)] = true
	}
	for namespace, n := range w.m.countNamed() {
		if n > w.m.mostNamed && len(w.g.sources) == len(w.m.sources) {
			w.t.Fatalf("namespace %s names %d, want at most %d", namespace, n, w.m.mostNamed)
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
	totals := w.m.countNamed()
	for id := range w.m.sources {
		for _, o := range w.m.objects[id] {
			k := Key{w.m.sources[id].resource, o.Namespace, o.Name}
			if n := countNames(o.References); w.m.unnamed[k] && totals[o.Namespace]+n <= w.m.mostNamed {
				w.t.Fatalf("the %d references of %+v are left out though there is room beside %d", n, k, totals[o.Namespace])
			}
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
	for key, b := range w.m.dropped {
		want[key] = b.Name()
	}
	for key := range w.m.unnamed {
		want[key] = budget.HeldBytes.Name()
	}
	if diff := cmp.Diff(want, told); diff != "" {
		w.t.Fatalf("who exceeds a bound (-want +told):\n%s", diff)
	}
}
