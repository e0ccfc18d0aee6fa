package graphview

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/spec"
)

// TestTapIndex: a tap is asked about the namespaces that it reaches, and about all if
// it has no bounds.
func TestTapIndex(t *testing.T) {
	names := make(map[*tap]string)
	reaching := func(name string, namespaces ...string) *tap {
		made := &tap{reach: newReach()}
		made.reach.extend(&judge{resource: podsResource, namespaces: setOf(namespaces...)})
		names[made] = name
		return made
	}
	unbounded := &tap{}
	everywhere := &tap{reach: newReach()}
	everywhere.reach.extend(&judge{resource: podsResource})
	names[unbounded], names[everywhere] = "unbounded", "everywhere"
	x := indexTaps([]*tap{reaching("a", "a"), unbounded, reaching("ab", "a", "b"), everywhere, reaching("none")})
	for namespace, want := range map[string][]string{
		"a": {"unbounded", "everywhere", "a", "ab"}, "b": {"unbounded", "everywhere", "ab"}, "c": {"unbounded", "everywhere"},
	} {
		var got []string
		for _, concerned := range x.concerned(namespace) {
			got = append(got, names[concerned])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", namespace, diff)
		}
	}
}

// TestReachGrows: what a view may have had, it is asked about until it has been told
// that it has it no more.
func TestReachGrows(t *testing.T) {
	r := newReach()
	for _, step := range []struct {
		judge judge
		grows bool
	}{
		{judge{resource: podsResource, namespaces: setOf("a", "b")}, true},
		{judge{resource: podsResource, namespaces: setOf("b")}, false},
		{judge{resource: podsResource, namespaces: setOf("c")}, true},
		{judge{resource: podsResource, namespaces: setOf("a", "c"), waits: true}, true},
		{judge{resource: podsResource, namespaces: setOf("d")}, false},
	} {
		if got := r.extend(&step.judge); got != step.grows {
			t.Errorf("with %v it grows: %t", step.judge.namespaces, got)
		}
	}
	if tapped := (&tap{reach: r}); !tapped.concerns("z") {
		t.Error("a view that waits for its namespaces is not asked about all")
	}
}

// TestNothingIsToldOfOtherNamespaces: an object that cannot be decoded is told to
// views of its namespace, however many others share the watch.
func TestNothingIsToldOfOtherNamespaces(t *testing.T) {
	k := keepByHand(t, Options{}, 1)
	many := selecting(spec.ObjectFilter{})
	many.Namespaces = &spec.Namespaces{Names: append(numbered(9), "shop")} // more than are watched one by one
	k.apply(many)
	k.until("synced", func() bool { return k.view.synced.Load() })
	for _, followed := range k.taps {
		for namespace, want := range map[string]int{"elsewhere": 0, "shop": 1} {
			followed.feed.Invalid(namespace, "broken", errors.New("no JSON"))
			k.view.engine.do(func() {})
			if got := len(k.view.Status().Warnings); got != want {
				t.Errorf("%s: %d warnings, want %d", namespace, got, want)
			}
			followed.feed.Invalid(namespace, "broken", nil)
			k.view.engine.do(func() {})
		}
	}
}
