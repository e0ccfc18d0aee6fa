package advice

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"graphview.dev/graphview/resources"
)

// TestSuggestionsAreBounded: what looks at every name that is served is bounded, however many names
// are compared, as is what is found.
func TestSuggestionsAreBounded(t *testing.T) {
	var served []resources.Resource
	for i := range 500 {
		served = append(served, resources.Resource{Group: "example.com", Version: "v1", Resource: fmt.Sprintf("resources%d", i), Kind: fmt.Sprintf("Kind%d", i), Namespaced: true})
	}
	compared := make([]Comparison, 256)
	for i := range compared {
		compared[i] = Comparison{"resource", strings.Repeat("x", 40) + fmt.Sprint(i)}
	}
	x := newIndex(served)
	for range 128 {
		if found := x.unknownNames("q", compared); len(found) > 0 {
			t.Fatalf("found %v", found)
		}
	}
	if len(x.looks) != maxLooks {
		t.Errorf("looked at all names for %d names, want %d", len(x.looks), maxLooks)
	}

	for i := range compared {
		compared[i].Text = fmt.Sprintf("Kind%d", i) // certainly mistakes
	}
	spec := Spec{Served: served, Roots: []Root{{Path: "r", Compared: compared}}}
	for range 128 {
		spec.Queries = append(spec.Queries, Query{Path: "q", Compared: compared})
	}
	if got := len(Of(t.Context(), spec).Findings); got != MaxFindings {
		t.Errorf("%d findings, want %d", got, MaxFindings)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Of(done, spec); len(got.Findings) > 0 {
		t.Errorf("%d findings for nobody", len(got.Findings))
	}
}

// TestNamesAreLookedUpOnce: one name is looked up once, in however many places it is.
func TestNamesAreLookedUpOnce(t *testing.T) {
	x := newIndex([]resources.Resource{{Version: "v1", Resource: "services", Kind: "Service", Namespaced: true}})
	name := []Comparison{{"resource", "serivces"}}
	for range 2 * maxLooks {
		if found := x.unknownNames("q", name); len(found) != 1 || !strings.HasSuffix(found[0].Message, "did you mean 'services'?") {
			t.Fatalf("found %v", found)
		}
	}
	if len(x.looks) != 1 {
		t.Errorf("looked %d times", len(x.looks))
	}
}
