package integration

import (
	"fmt"
	"testing"
	"time"

	"graphview.dev/graphview"
	"graphview.dev/test/oracle"
)

// TestSharedWatchRetainsSelectedNamespaces: many views of single namespaces share a watch, which
// retains only namespaces that a view selects. A namespace that a view selects later is
// complete at once, and soon part of the shared watch. The next list drops namespaces that no
// view selects any more.
func TestSharedWatchRetainsSelectedNamespaces(t *testing.T) {
	c := newClient(t)
	namespaces := make([]string, 20)
	for i := range namespaces {
		namespaces[i] = newNamespace(t, c)
		createConfigMaps(t, c, namespaces[i], 2)
	}
	foreign := newNamespace(t, c)
	createConfigMaps(t, c, foreign, 30)
	e := runEngine(t, graphview.Options{Linger: 100 * time.Millisecond})
	views := make(map[string]oracle.View)
	followers := make(map[string]*graphFollower)
	declare := func(name string, namespaces ...string) {
		views[name] = configMaps(namespaces...)
		view := mustApply(t, e, name, views[name])
		if followers[name] == nil {
			followers[name] = follow(t.Context(), view)
		}
	}
	remove := func(name string) {
		t.Helper()
		if n := followers[name].Redundant(); n > 0 {
			t.Errorf("%s: %d elements were sent again", name, n)
		}
		e.Remove(graphview.Name{Namespace: "views", Name: name})
		delete(views, name)
		delete(followers, name)
	}
	shown := func() {
		t.Helper()
		for name, v := range views {
			becomes(t, followers[name], v)
		}
	}
	// retained waits until each view has its graph, and the engine what is in some view.
	retained := func(when string) {
		t.Helper()
		want := make(map[string]bool)
		shown()
		for _, v := range views {
			graph, err := oracle.Build(t.Context(), cluster.Config(), v)
			if err != nil {
				t.Fatal(err)
			}
			for id := range graph.Vertices {
				want[id.String()] = true
			}
		}
		eventually(t, time.Minute, func() string {
			if got := e.Retained(); got != len(want) {
				return fmt.Sprintf("%s: %d objects are retained, want %d", when, got, len(want))
			}
			return ""
		})
	}
	for i, namespace := range namespaces[:18] {
		declare(fmt.Sprint("single", i), namespace)
	}
	watchesBecome(t, e, "eighteen views", 1)
	retained("eighteen views")

	declare("single18", namespaces[18])
	retained("one more view")
	createMore(t, c, namespaces[18])
	createMore(t, c, foreign)
	retained("one more object")
	declare("single18", namespaces[18], namespaces[19])
	retained("one more namespace of a view")
	another := newNamespace(t, c)
	createConfigMaps(t, c, another, 1)
	declare("single18", another)
	retained("another namespace instead of two")
	declare("single18", namespaces[0])
	remove("single1")
	shown()
	watchesBecome(t, e, "eighteen views again", 1)

	// A view of more namespaces than are watched one by one wants no more either.
	declare("most", namespaces[2:16]...)
	shown()
	declare("most", namespaces[5:20]...)
	retained("other ones")
	watchesBecome(t, e, "beside a view of many namespaces", 1)

	// A view of everything has everything watched, for as long as it is there.
	everything := configMaps()
	everything.Namespaces = nil
	mustApply(t, e, "everything", everything)
	eventually(t, time.Minute, func() string {
		if got := e.Retained(); got < 20*2+30 {
			return fmt.Sprintf("%d objects are retained beside a view of everything", got)
		}
		return ""
	})
	watchesBecome(t, e, "beside a view of everything", 1)
	e.Remove(graphview.Name{Namespace: "views", Name: "everything"})
	retained("without the view of everything")
	watchesBecome(t, e, "without the view of everything", 1)
	for i := range 19 {
		if name := fmt.Sprint("single", i); followers[name] != nil {
			remove(name)
		}
	}
	shown()
	createMore(t, c, namespaces[19])
	shown()
	for name := range followers {
		remove(name)
	}
}
