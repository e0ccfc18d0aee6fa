package watch

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	seeds "graphview.dev/test/seed"
)

// TestForeignObjectsArePassedOver: of a namespace that nobody wants nothing is told,
// whatever is in it, and a watch goes on behind what it has passed.
func TestForeignObjectsArePassedOver(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	s.put("shop", "cart", 1)
	s.put("foreign", "x", 1)
	l := followSpaces(t, s, m)()
	l.want("shop")
	m.equals(s, l)
	s.send("ADDED", `{"metadata":{"name":7,"namespace":"foreign","resourceVersion":"VERSION"}}`)
	s.send("ADDED", `{"metadata":7}`)
	s.send("MODIFIED", `7`)
	s.put("shop", "cart", 2)
	m.told("shop", "cart", "map[n:2]")
	s.put("foreign", "x", 2)
	s.remove("foreign", "x")
	s.put("shop", "cart", 3)
	m.told("shop", "cart", "map[n:3]")
	s.hangUp(false)
	s.put("shop", "cart", 4)
	m.told("shop", "cart", "map[n:4]")
	m.equals(s, l)
	if n := m.lines("invalid") + m.lines("set foreign") + m.lines("delete"); n > 0 {
		t.Errorf("told of foreign objects: %q", m.log)
	}
	if n := s.requests("list"); n != 1 {
		t.Errorf("%d lists, want one", n)
	}
}

// TestForgets: what the last lease wants no more is forgotten, with its faults.
func TestForgets(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	for i := range 3 * forgetChunk {
		s.put("a", fmt.Sprint("x", i), i)
	}
	s.put("b", "y", 1)
	lease := followSpaces(t, s, m)
	first, second := lease(), lease()
	first.want("a", "b")
	second.want("b")
	m.equals(s, first, second)
	s.send("ADDED", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"bad","namespace":"a","resourceVersion":"VERSION"},"spec":"`+"\xff"+`"}`)
	m.until(func() string {
		if len(m.log) > 0 && strings.HasPrefix(m.log[len(m.log)-1], "invalid a/bad: not") {
			return ""
		}
		return "not told of what cannot be read"
	})
	first.lease.Release()
	m.equals(s, second)
	if got := m.lines("invalid a/bad: <nil>"); got != 1 {
		t.Errorf("the fault was taken back %d times", got)
	}
	if got := m.lines("delete a/"); got != 3*forgetChunk {
		t.Errorf("%d objects were deleted, want %d", got, 3*forgetChunk)
	}
}

// TestDeletionsHaveABound: a namespace whose objects come and go faster than it can be
// listed costs what the bound allows.
func TestDeletionsHaveABound(t *testing.T) {
	n := &Wanted{namespace: "a"}
	f := &fill{of: n, told: make(map[string]uint64)}
	n.fill = f
	for i := range 2 * maxTold {
		f.note(&document{name: fmt.Append(nil, i), resourceVersion: []byte("7")})
	}
	if len(f.told) > maxTold {
		t.Errorf("%d deletions are noted", len(f.told))
	}
}

// TestWantsAtRandom: leases want and give up namespaces while objects change, watches
// end and lists come late. What is retained ends as what there is.
func TestWantsAtRandom(t *testing.T) {
	const rounds, steps = 40, 60
	r := rand.New(rand.NewPCG(seeds.Of(t), 20))
	s, m := newSpaces(t), newMirror(t)
	s.pageOf = 3
	s.lastVersion = r.IntN(4) == 0
	var chance sync.Mutex
	roll := func(n int) int {
		chance.Lock()
		defer chance.Unlock()
		return r.IntN(n)
	}
	// Some answers are held up until more has changed, or until the round ends.
	free, calm := make(chan struct{}), false
	s.after = func(request string) {
		if roll(3) > 0 || request == "event" && roll(10) > 0 {
			return
		}
		s.mu.Lock()
		changed, until, calm := s.changed, free, calm
		s.mu.Unlock()
		if calm {
			return
		}
		for range 1 + roll(8) {
			select {
			case <-changed:
			case <-until:
				return
			}
			s.mu.Lock()
			changed = s.changed
			s.mu.Unlock()
		}
	}
	s.answer = func(string) int {
		if roll(12) > 0 {
			return 0
		}
		return []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusGone, http.StatusForbidden}[roll(4)]
	}
	namespace := func() string { return fmt.Sprint("ns-", roll(6)) }
	lease := followSpaces(t, s, m)
	leases := make([]*wanting, 3)
	for i := range leases {
		leases[i] = lease()
		leases[i].want(namespace())
	}
	for range rounds {
		s.script(func() { free, calm = make(chan struct{}), false })
		for range steps {
			switch roll(20) {
			case 0, 1:
				var some []string
				for range roll(4) {
					some = append(some, namespace())
				}
				leases[roll(len(leases))].want(some...)
			case 2:
				s.hangUp(roll(3) == 0)
			case 3:
				s.send("BOOKMARK", `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"VERSION"}}`)
			case 4, 5, 6, 7, 8:
				s.remove(namespace(), fmt.Sprint("pod-", roll(8)))
			default:
				s.put(namespace(), fmt.Sprint("pod-", roll(8)), roll(3))
			}
		}
		s.script(func() {
			close(free)
			calm = true
		})
		m.equals(s, leases...)
		if t.Failed() {
			return
		}
	}
}
