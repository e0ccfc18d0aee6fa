package intake

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/resources"
)

func TestNamespaceSet(t *testing.T) {
	var s namespaceSet
	if s.Set("red", false) || !s.Set("red", true) || s.Set("red", true) {
		t.Error("Set does not report changes")
	}
	given := s.All()
	s.Set("blue", true)
	s.Set("red", false)
	if diff := cmp.Diff(map[string]bool{"red": true}, given); diff != "" {
		t.Errorf("a returned set changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"blue": true}, s.All()); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

// TestNamespaceSetIsNotCopiedForEach: allocations grow linearly with the number of namespaces,
// not with its square.
func TestNamespaceSetIsNotCopiedForEach(t *testing.T) {
	fill := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			var s namespaceSet
			for i := range n {
				s.Set(fmt.Sprint("ns-", i), true)
			}
			s.All()
		})
	}
	if few, many := fill(500), fill(5_000); many > 20*few {
		t.Errorf("%.0f allocations for 500 namespaces, %.0f for 5,000", few, many)
	}
}

// TestNamespacesAreShared: the watches of a view have one set of its namespaces, also after namespaces came. A copy for
// each watch of each view would take more memory than they are charged for.
func TestNamespacesAreShared(t *testing.T) {
	var selected namespaceSet
	selected.Set("red", true)
	var watches [3]Namespaces
	for _, late := range []string{"blue", "green", "white"} {
		selected.Set(late, true)
		judged := selected.All()
		for i := range watches {
			added, all := watches[i].Extend(&Judge{Resource: resources.Resource{Resource: "pods", Namespaced: true}, Namespaces: judged})
			if all || !slices.Contains(added, late) || len(watches[i].Names) != len(judged) {
				t.Fatalf("%s is added to %v: %v", late, watches[i].Names, added)
			}
			if reflect.ValueOf(watches[i].Names).Pointer() != reflect.ValueOf(judged).Pointer() {
				t.Errorf("watch %d has a copy after %s came", i, late)
			}
		}
	}
	// A set that lacks a namespace of the watch is no substitute.
	if added, _ := watches[0].Extend(&Judge{Resource: resources.Resource{Resource: "pods", Namespaced: true}, Namespaces: map[string]bool{"red": true, "black": true, "grey": false}}); len(added) != 1 ||
		!watches[0].Has("blue") || !watches[0].Has("black") || watches[0].Has("grey") || selected.All()["black"] {
		t.Errorf("two judges have %v", watches[0].Names)
	}
}
