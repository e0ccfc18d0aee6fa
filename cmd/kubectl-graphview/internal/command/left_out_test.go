package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGapLines: equal lines of several graphs are one line with their names.
func TestGapLines(t *testing.T) {
	var l gapLines
	for _, view := range []string{"shop/a", "shop/b", "shop/c", "shop/d"} {
		l.add(view, []string{"Left out: secrets."})
	}
	l.add("shop/e", []string{"Left out: pods.", "Inferred references were left out."})
	for several, want := range map[bool][]string{
		true: {
			"shop/a, shop/b, shop/c and 1 more graph: Left out: secrets.",
			"shop/e: Left out: pods.", "shop/e: Inferred references were left out.",
		},
		false: {"Left out: secrets.", "Left out: pods.", "Inferred references were left out."},
	} {
		if diff := cmp.Diff(want, l.lines(several)); diff != "" {
			t.Errorf("several graphs: %t (-want +got):\n%s", several, diff)
		}
	}
}
