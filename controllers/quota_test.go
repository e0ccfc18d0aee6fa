package controllers

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// TestQuota: the oldest GraphViews are served, in whatever order GraphViews are created and
// deleted, if each view that the quota names asks again.
func TestQuota(t *testing.T) {
	const limit, names = 5, 12
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			q := newQuota(limit)
			there, answers := map[string]*v1alpha1.GraphView{}, map[string]bool{}
			list := func() ([]v1alpha1.GraphView, error) {
				var all []v1alpha1.GraphView
				for _, view := range there {
					all = append(all, *view)
				}
				return all, nil
			}
			var ask func(name string)
			follow := func(moved []graphview.Name) {
				for _, name := range moved {
					ask(name.Name)
				}
			}
			ask = func(name string) {
				if view := there[name]; view != nil {
					served, moved, err := q.enter(view, list)
					if err != nil {
						t.Fatal(err)
					}
					answers[name] = served
					follow(moved)
					return
				}
				delete(answers, name)
				follow(q.leave(graphview.Name{Namespace: "a", Name: name}))
			}
			for step := range 300 {
				name := fmt.Sprint(random.IntN(names))
				if random.IntN(3) == 0 {
					delete(there, name)
				} else if there[name] == nil || random.IntN(4) == 0 {
					// A GraphView that is created again under the same name has another UID.
					there[name] = &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name,
						UID: types.UID(fmt.Sprint(step)), CreationTimestamp: metav1.NewTime(time.Unix(int64(random.IntN(6)), 0))}}
				}
				ask(name)
				want := map[string]bool{}
				for i, view := range slices.SortedFunc(maps.Values(there), func(x, y *v1alpha1.GraphView) int {
					return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), cmp.Compare(x.Name, y.Name))
				}) {
					want[view.Name] = i < limit
				}
				if diff := gocmp.Diff(want, answers); diff != "" {
					t.Fatalf("step %d (-want +got):\n%s", step, diff)
				}
			}
		})
	}
}
