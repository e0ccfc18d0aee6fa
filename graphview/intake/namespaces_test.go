package intake

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
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
