package watch

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestForbiddenEndsFills: what is being listed of a namespace is not taken in after the
// answer that nothing may be read.
func TestForbiddenEndsFills(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	s.put("shop", "cart", 1)
	s.put("a", "x", 1)
	l := followSpacesAfter(t, s, m, time.Hour)()
	l.want("shop")
	m.equals(s, l)
	reached, release := s.hold("list a", true)
	l.want("shop", "a")
	<-reached
	s.put("shop", "cart", 2) // so that the watch has come to something
	m.told("shop", "cart", "map[n:2]")
	s.script(func() { s.answer = func(string) int { return http.StatusForbidden } })
	s.hangUp(false)
	m.until(func() string {
		if m.state.Reason != Forbidden || len(m.objects) > 0 {
			return fmt.Sprintf("state %+v, there are %v", m.state, m.objects)
		}
		return ""
	})
	release()
	l.settled()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.objects) > 0 || m.filled[l.wanted[0]] && m.filled[l.wanted[1]] {
		t.Errorf("there are %v, filled %v, though nothing may be read", m.objects, m.filled)
	}
}

// TestFailingNamespaceDelaysNoOther: a namespace that cannot be listed waits, and one
// that comes to be wanted meanwhile does not.
func TestFailingNamespaceDelaysNoOther(t *testing.T) {
	s, m := newSpaces(t), newMirror(t)
	s.put("shop", "cart", 1)
	s.put("b", "y", 1)
	l := followSpacesAfter(t, s, m, time.Hour)()
	l.want("shop")
	m.equals(s, l)
	s.script(func() {
		s.answer = func(request string) int {
			if request == "list a" {
				return http.StatusTooManyRequests
			}
			return 0
		}
	})
	l.want("shop", "a")
	m.until(func() string {
		if len(m.failed) == 0 {
			return "no failure was told"
		}
		return ""
	})
	l.want("shop", "a", "b")
	m.told("b", "y", "map[n:1]")
	if n := s.requests("list a"); n != 1 {
		t.Errorf("what fails was listed %d times, want once", n)
	}
	l.want("shop", "b")
	m.equals(s, l)
}
