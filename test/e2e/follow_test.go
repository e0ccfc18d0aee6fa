package e2e

import (
	"fmt"
	"testing"
)

// Subscribers that know a view's name alone, by two roads and since different
// times, end with the graph that fresh lists give, after a random series of
// changes with real controllers at work.
func TestSubscribersEqualOracle(t *testing.T) {
	namespace := newNamespace(t)
	views := map[string]string{"whole": in(namespace, wholeView), "rooted": in(namespace, rootedView)}
	for name, spec := range views {
		declare(t, namespace, name, spec)
	}
	subscribers := map[string]map[string]*stream{}
	join := func(how string, r road) {
		for name := range views {
			if subscribers[name] == nil {
				subscribers[name] = map[string]*stream{}
			}
			subscribers[name][how] = subscribe(t, r, namespace, name)
		}
	}
	changes := newWorkload(t, namespace)

	join("through the API server, from the start", throughAPIServer(t))
	change(t, changes, 100)
	join("on its own port, later", ownPort(t))
	change(t, changes, 100)

	for name, spec := range views {
		eventually(t, func() string {
			want := expected(t, namespace, name, spec)
			for how, s := range subscribers[name] {
				if diff := s.Differs(want); diff != "" {
					return fmt.Sprintf("%s, %s (-oracle +subscriber):\n%s", name, how, diff)
				}
			}
			got, _ := statusOf(t, namespace, name)
			if got.Vertices != len(want.Vertices) || got.Arcs != len(want.Arcs) || got.Subscribers != len(subscribers[name]) {
				return fmt.Sprintf("%s: status of %d vertices, %d arcs and %d subscribers, want %d, %d and %d",
					name, got.Vertices, got.Arcs, got.Subscribers, len(want.Vertices), len(want.Arcs), len(subscribers[name]))
			}
			return ""
		})
	}
}

// A change of the spec reaches an open stream as the difference.
func TestSpecChangesUnderStream(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	whole, rooted := in(namespace, wholeView), in(namespace, rootedView)
	declare(t, namespace, "view", whole)
	for way, r := range roads(t) {
		s := subscribe(t, r, namespace, "view")
		for _, spec := range []string{whole, rooted, whole} {
			apply(t, graphView(t, namespace, "view", spec))
			eventually(t, func() string { return s.Differs(expected(t, namespace, "view", spec)) })
		}
		for _, m := range s.received() {
			if m.Reset {
				t.Errorf("%s: the stream began anew", way)
			}
		}
	}
}
