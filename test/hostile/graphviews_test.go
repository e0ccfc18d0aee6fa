package hostile

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyGraphViews: of a namespace's GraphViews a number is served, the oldest
// ones; the others say why they are not, and are when it is their turn.
func TestManyGraphViews(t *testing.T) {
	namespace := newNamespace(t, "graphviews")
	const served, more = 500, 20
	// What kubectl prints of each that is not accepted.
	refused := func() []string {
		return strings.Fields(kubectl(t, "get", "gv", "-n", namespace, "-o",
			`jsonpath={range .items[?(@.status.conditions[0].status=="False")]}{.metadata.name}={.status.conditions[0].reason} {end}`))
	}
	wantRefused := func(want int) {
		t.Helper()
		eventually(t, func() string {
			if got := refused(); len(got) != want || want > 0 && !strings.HasSuffix(got[0], "=LimitExceeded") {
				return fmt.Sprintf("%d are not accepted, want %d: %s", len(got), want, got)
			}
			return ""
		})
	}
	meanwhile(t, func(tries *tally) {
		defer kubectl(t, "delete", "gv", "-n", namespace, "--all", "--wait=false")
		var manifest strings.Builder
		for i := range served {
			manifest.WriteString(small(namespace, fmt.Sprintf("v%03d", i)) + "---\n")
		}
		apply(t, manifest.String())
		manifest.Reset()
		for i := range more {
			manifest.WriteString(small(namespace, fmt.Sprintf("a%03d", i)) + "---\n")
		}
		apply(t, manifest.String())
		wantRefused(more)
		first, _, _ := strings.Cut(refused()[0], "=")
		if got := condition(t, namespace, first, "Accepted"); !strings.Contains(got, "more than 500 GraphViews of one namespace") {
			t.Errorf("Accepted is %s", got)
		}
		tries.measure(t)
		tries.add(fmt.Sprintf("%d of %d are refused", more, served+more))
		kubectl(t, "delete", "gv", "-n", namespace, "v000", "v001", "a000")
		wantRefused(more - 3)
	})
}
