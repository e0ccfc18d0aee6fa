package rights

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/test/seed"
)

// TestRightsFollow changes permissions at random and compares what two
// subscribers of different views may see with what the authority says.
func TestRightsFollow(t *testing.T) { synctest.Test(t, testRightsFollow) }

func testRightsFollow(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	resources, namespaces := []string{"pods", "secrets", "nodes"}, []string{"", "red", "blue", "green"}
	place := func() access.Place {
		return access.Place{Resource: resources[random.IntN(3)], Namespace: namespaces[random.IntN(4)]}
	}
	granted := func() access.Place {
		if random.IntN(8) == 0 {
			return allOf(place())
		}
		return place()
	}
	a := newAuthority()
	truth := func(who string, p access.Place) bool {
		may := func(p access.Place) bool {
			return a.rules[fmt.Sprintf("%s list %s/%s", who, p.Resource, p.Namespace)] && a.rules[fmt.Sprintf("%s watch %s/%s", who, p.Resource, p.Namespace)]
		}
		return may(everything) || may(everywhere(p)) || may(allOf(p)) || may(p)
	}
	perms := a.start()
	type subscriber struct {
		who   string
		lease *Lease
		asked map[access.Place]bool
	}
	var all []subscriber
	for n := range 6 {
		who, view := []string{"ann", "bob"}[n%2], view{Name: strconv.Itoa(n / 4)}
		l, _ := take(t, perms, who, view, Terms{})
		t.Cleanup(l.Release)
		all = append(all, subscriber{who, l, map[access.Place]bool{}})
	}
	for range 500 {
		for range random.IntN(3) {
			p := granted()
			rule := fmt.Sprintf("%s %s %s/%s", []string{"ann", "bob"}[random.IntN(2)], []string{"list", "watch"}[random.IntN(2)], p.Resource, p.Namespace)
			a.set(random.IntN(3) > 0, rule)
		}
		for _, i := range perms.identities {
			perms.recheck(t.Context(), i)
		}
		one := all[random.IntN(len(all))]
		p := place()
		one.asked[p] = true
		resolve(t, one.lease, p)
		for _, s := range all {
			s.lease.Changed()
			rights := s.lease.Rights()
			for p := range s.asked {
				if got, known := rights.Allowed(p); known && got != truth(s.who, p) {
					t.Fatalf("%s, %v: %t", s.who, p, got)
				}
			}
			for _, other := range all {
				same := cmp.Equal(s.lease.scope.rights.answers, other.lease.scope.rights.answers)
				if equal := rights.Digest() == other.lease.scope.rights.Digest(); equal != same {
					t.Fatalf("%s and %s: equal digests %t, equal answers %t", s.who, other.who, equal, same)
				}
			}
		}
	}
}
