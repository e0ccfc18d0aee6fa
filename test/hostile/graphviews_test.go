package hostile

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestManyGraphViews: of a namespace's GraphViews a number is served, the oldest
// ones; the others say why they are not, and are when it is their turn.
func TestManyGraphViews(t *testing.T) {
	namespace := newNamespace(t, "graphviews")
	const served, more = 500, 20
	views := declaredT(t, namespace)
	// Names and reasons of the refused GraphViews.
	refused := func() (all []string) {
		list, err := views.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			if words := strings.Fields(said(&o, "Accepted")); len(words) > 1 && words[0] == "False" {
				all = append(all, o.GetName()+"="+words[1])
			}
		}
		return all
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
		defer deleteViews(t, namespace)
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
		for _, name := range []string{"v000", "v001", "a000"} {
			if err := views.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
		wantRefused(more - 3)
	})
}
