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

// TestForeignObjectsAreSkipped: a partial watch tells nothing of other namespaces, whatever
// is in them, and resumes behind what it has skipped.
func TestForeignObjectsAreSkipped(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	s.put("shop", "cart", 1)
	s.put("foreign", "x", 1)
	m.want("shop")
	w := followSpaces(t, s, m)
	m.equals(s, w)
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
	m.equals(s, w)
	if n := m.lines("invalid") + m.lines("set foreign") + m.lines("delete"); n > 0 {
		t.Errorf("told of foreign objects: %q", m.log)
	}
	if n := s.requests("list"); n != 1 {
		t.Errorf("%d lists, want one", n)
	}
}

// TestNamespacesChangeWithAList: a partial watch reads its namespaces when a list begins. It
// reports new namespaces after their objects, and does not report unchanged objects.
func TestNamespacesChangeWithAList(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	for _, namespace := range []string{"a", "b", "c"} {
		s.put(namespace, "x", 1)
	}
	m.want("a", "b")
	w := followSpaces(t, s, m)
	m.equals(s, w)
	s.send("ADDED", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"bad","namespace":"a","resourceVersion":"VERSION"},"spec":"`+"\xff"+`"}`)
	m.until(func() string {
		if len(m.log) > 0 && strings.HasPrefix(m.log[len(m.log)-1], "invalid a/bad: not") {
			return ""
		}
		return "not told of what cannot be read"
	})
	m.want("b", "c")
	s.put("c", "x", 2)
	s.put("b", "x", 2)
	m.told("b", "x", "map[n:2]")
	if n := m.lines("set c/"); n > 0 {
		t.Errorf("told of a namespace between two lists: %q", m.log)
	}
	reached, release := s.hold("list", true)
	w.Relist()
	<-reached
	m.until(func() string {
		if got := m.state.Namespaces; !m.state.Synced || len(got) != 1 || !got["b"] {
			return fmt.Sprintf("while the list is under way the state is %+v, want the namespace b", m.state)
		}
		return ""
	})
	release()
	m.equals(s, w)
	if got := m.lines("set b/"); got != 2 {
		t.Errorf("told %d times of b/x, which changed once", got)
	}
	if got := m.lines("invalid a/bad: <nil>"); got != 1 {
		t.Errorf("the fault was taken back %d times", got)
	}
	if n := s.requests("list"); n != 2 {
		t.Errorf("%d lists, want two", n)
	}
}

// TestRelistDuringAList: a Relist counts for the next list if the present one has its
// namespaces already.
func TestRelistDuringAList(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	s.put("a", "x", 1)
	s.put("b", "x", 1)
	m.want("a")
	reached, release := s.hold("list", true)
	w := followSpaces(t, s, m)
	<-reached
	m.want("a", "b")
	w.Relist()
	w.Relist()
	release()
	m.equals(s, w)
	if n := s.requests("list"); n != 2 {
		t.Errorf("%d lists, want two", n)
	}
}

// TestNamespacesAtRandom: namespaces are wanted and given up while objects change, watches
// end and lists come late or fail. After the last list, the watch retains what there is.
func TestNamespacesAtRandom(t *testing.T) {
	const rounds, steps = 40, 60
	r := rand.New(rand.NewPCG(seeds.Of(t), 20))
	s, m := newSpaces(t), newMirror(t)
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
	m.want(namespace())
	w := followSpaces(t, s, m)
	for range rounds {
		s.script(func() { free, calm = make(chan struct{}), false })
		for range steps {
			switch roll(20) {
			case 0, 1:
				var some []string
				for range roll(4) {
					some = append(some, namespace())
				}
				m.want(some...)
				w.Relist()
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
		m.equals(s, w)
		if t.Failed() {
			return
		}
	}
}
