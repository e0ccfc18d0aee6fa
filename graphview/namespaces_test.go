package graphview

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamespaceSet(t *testing.T) {
	var s namespaceSet
	if s.set("red", false) || !s.set("red", true) || s.set("red", true) {
		t.Error("a change is not told from none")
	}
	given := s.all()
	s.set("blue", true)
	s.set("red", false)
	if diff := cmp.Diff(map[string]bool{"red": true}, given); diff != "" {
		t.Errorf("a set that was given away changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"blue": true}, s.all()); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

// TestNamespaceSetIsNotCopiedForEach: what n namespaces allocate grows as n does,
// not as its square.
func TestNamespaceSetIsNotCopiedForEach(t *testing.T) {
	fill := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			var s namespaceSet
			for i := range n {
				s.set(fmt.Sprint("ns-", i), true)
			}
			s.all()
		})
	}
	if few, many := fill(500), fill(5_000); many > 20*few {
		t.Errorf("%.0f allocations for 500 namespaces, %.0f for 5,000", few, many)
	}
}
