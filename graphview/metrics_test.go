package graphview

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMostOf: a metric names a bounded number of views, those with the greatest values, and loses
// no value of the others.
func TestMostOf(t *testing.T) {
	all := map[Name]int{}
	for i := range maxNamedViews + 3 {
		all[Name{Namespace: "shop", Name: fmt.Sprintf("view-%03d", i)}] = 1
	}
	all[Name{Namespace: "shop", Name: "view-102"}] = 7
	most := mostOf(all)
	want := map[string]int{"named": maxNamedViews, "others": 3, "worst": 7}
	got := map[string]int{"named": len(most) - 1, "others": most[Name{}], "worst": most[Name{Namespace: "shop", Name: "view-102"}]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	few := map[Name]int{{Namespace: "shop", Name: "web"}: 2}
	if diff := cmp.Diff(few, mostOf(few)); diff != "" {
		t.Errorf("a few (-want +got):\n%s", diff)
	}
}
