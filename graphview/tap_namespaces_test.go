package graphview

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/intake"
)

// TestNewNamespace: a namespace that one view begins to select costs no more beside
// views that select many namespaces than beside none.
func TestNewNamespace(t *testing.T) {
	const views, names = 50, 400
	k := keepByHand(t, Options{}, 1)
	e := k.view.engine
	for range views {
		other := newKeeper(newView(e, Name{Namespace: "shop", Name: "other"}, "2"))
		leased := acquireTapOf(t, e, other.view)
		other.taps.needed[leased.need] = leased
		other.taps.setJudge(leased, &intake.Judge{Resource: configMapsResource, Namespaces: setOf(numbered(names)...)})
		leased.attach()
		t.Cleanup(func() {
			leased.detach()
			e.intake.Release(leased.lease)
		})
	}
	leased := acquireTapOf(t, e, k.view)
	k.taps.needed[leased.need] = leased
	set := setOf("ns-000")
	k.taps.setJudge(leased, &intake.Judge{Resource: configMapsResource, Namespaces: set})
	leased.attach()
	i := 0
	allocations := testing.AllocsPerRun(20, func() {
		set = maps.Clone(set)
		set[fmt.Sprint("new-", i)] = true
		i++
		k.taps.setJudge(leased, &intake.Judge{Resource: configMapsResource, Namespaces: set})
	})
	if allocations > 20 {
		t.Errorf("one more namespace of one view takes %.0f allocations beside %d views of %d namespaces", allocations, views, names)
	}
}

// TestNamespacesAreForgotten: a view is asked about a namespace for as long as it may have
// something of it, and not for longer.
func TestNamespacesAreForgotten(t *testing.T) {
	k := keepByHand(t, Options{}, 3)
	many := selecting(v1alpha1.ObjectFilter{})
	many.Namespaces = &v1alpha1.Namespaces{Names: namespaceNames(append(numbered(16), "shop")...)} // more than are watched one by one
	k.apply(many)
	k.until("synced", func() bool { return k.view.synced() && k.view.lens.Vertices() == 3 })
	concerned := func() (namespaces []string) {
		for _, followed := range k.taps.needed {
			for _, namespace := range []string{"ns-000", "ns-008", "ns-020", "shop"} {
				if followed.lease.Feed.Taps().For(namespace).Len() > 0 {
					namespaces = append(namespaces, namespace)
				}
			}
		}
		return namespaces
	}
	if diff := cmp.Diff([]string{"ns-000", "ns-008", "shop"}, concerned()); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	for _, names := range [][]string{numbered(19)[2:], numbered(28)[9:]} {
		many.Namespaces = &v1alpha1.Namespaces{Names: namespaceNames(names...)}
		k.apply(many)
		k.until("synced again", func() bool {
			return k.view.synced() && k.planned == k.view.state.Now().Generation && k.view.lens.Vertices() == 0
		})
	}
	if diff := cmp.Diff([]string{"ns-020"}, concerned()); diff != "" {
		t.Errorf("when others are selected (-want +got):\n%s", diff)
	}
	all := selecting(v1alpha1.ObjectFilter{})
	k.apply(all)
	k.until("everything", func() bool { return k.view.synced() && k.view.lens.Vertices() == 3 })
	if diff := cmp.Diff([]string{"ns-000", "ns-008", "ns-020", "shop"}, concerned()); diff != "" {
		t.Errorf("when all are selected (-want +got):\n%s", diff)
	}
	k.apply(many)
	k.until("fewer", func() bool { return k.view.synced() && k.view.lens.Vertices() == 0 })
	k.until("the others are forgotten", func() bool { return slices.Equal(concerned(), []string{"ns-020"}) })
}

// TestWarningsStayInTheirNamespace: an object that cannot be decoded is a warning of the
// views of its namespace, however many others share the watch.
func TestWarningsStayInTheirNamespace(t *testing.T) {
	k := keepByHand(t, Options{}, 1)
	many := selecting(v1alpha1.ObjectFilter{})
	many.Namespaces = &v1alpha1.Namespaces{Names: namespaceNames(append(numbered(16), "shop")...)} // more than are watched one by one
	k.apply(many)
	k.until("synced", func() bool { return k.view.synced() })
	for _, followed := range k.taps.needed {
		for namespace, want := range map[string]int{"elsewhere": 0, "shop": 1} {
			followed.lease.Feed.Invalid(namespace, "broken", errors.New("no JSON"))
			k.view.engine.writer.Do(func() {})
			if got := len(k.view.Status().Warnings); got != want {
				t.Errorf("%s: %d warnings, want %d", namespace, got, want)
			}
			followed.lease.Feed.Invalid(namespace, "broken", nil)
			k.view.engine.writer.Do(func() {})
			if got := len(k.view.Status().Warnings); got != 0 {
				t.Errorf("%s: %d warnings when the object can be decoded again", namespace, got)
			}
		}
	}
}
